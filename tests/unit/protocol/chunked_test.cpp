#include "smg/protocol/chunked.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace smg::protocol {
namespace {

using namespace std::string_literals;
using Status = ChunkedDecoder::Status;

struct Decoded {
  Status status = Status::need_more;
  std::size_t consumed = 0;
  std::string payload;
};

// Takes steps until the input is used up, the message ends or it is refused.
void feed(ChunkedDecoder& decoder, std::string_view input, Decoded& out) {
  for (;;) {
    const ChunkedDecoder::Step step = decoder.next(input);
    out.consumed += step.consumed;
    out.status = step.status;
    out.payload.append(step.data);
    if (step.status != Status::data) return;
    input.remove_prefix(step.consumed);
  }
}

Decoded decode(std::string_view input) {
  ChunkedDecoder decoder;
  Decoded out;
  feed(decoder, input, out);
  return out;
}

TEST(ChunkedDecoder, JoinsTheChunks) {
  const std::string body = "5\r\nhello\r\n00A\r\n, worlds!\n\r\n0\r\n\r\n";
  const Decoded out = decode(body + "GET / HTTP/1.1");
  EXPECT_EQ(out.status, Status::done);
  EXPECT_EQ(out.payload, "hello, worlds!\n");
  EXPECT_EQ(out.consumed, body.size());
}

TEST(ChunkedDecoder, ReturnsPayloadAsViewsIntoTheInput) {
  const std::string input = "3\r\nabc\r\n";
  ChunkedDecoder decoder;
  const ChunkedDecoder::Step step = decoder.next(input);
  EXPECT_EQ(step.status, Status::data);
  EXPECT_EQ(step.consumed, 6u);
  EXPECT_EQ(step.data.data(), input.data() + 3);
  EXPECT_EQ(step.data, "abc");
}

TEST(ChunkedDecoder, ReturnsPayloadBeforeItsChunkIsComplete) {
  ChunkedDecoder decoder;
  EXPECT_EQ(decoder.next("ffff\r\nab").data, "ab");
  EXPECT_EQ(decoder.next("cd").data, "cd");
  EXPECT_EQ(decoder.next("").status, Status::need_more);
}

TEST(ChunkedDecoder, GivesTheSameForEverySplit) {
  const std::string body =
      "4;a=\"b;c\";d\r\nWiki\r\n6\r\npedia \r\nD\r\nin \r\n\r\nchunks\r\n0;x\r\n"
      "Trailer-A: 1\r\nB:\t\xff\r\n\r\n";
  const std::string bytes = body + "rest";
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      ChunkedDecoder decoder;
      Decoded out;
      const std::string_view view = bytes;
      for (const std::string_view part :
           {view.substr(0, first), view.substr(first, second - first), view.substr(second)}) {
        feed(decoder, part, out);
      }
      ASSERT_TRUE(decoder.done());
      ASSERT_EQ(out.payload, "Wikipedia in \r\n\r\nchunks");
      ASSERT_EQ(out.consumed, body.size());
    }
  }
}

TEST(ChunkedDecoder, StaysDoneUntilReset) {
  ChunkedDecoder decoder;
  Decoded out;
  feed(decoder, "0\r\n\r\n", out);
  EXPECT_EQ(out.status, Status::done);
  EXPECT_EQ(decoder.next("5\r\n").status, Status::done);
  EXPECT_EQ(decoder.next("5\r\n").consumed, 0u);
  decoder.reset();
  EXPECT_FALSE(decoder.done());
  EXPECT_EQ(decoder.next("1\r\nx").data, "x");
}

TEST(ChunkedDecoder, StaysInErrorUntilReset) {
  ChunkedDecoder decoder;
  EXPECT_EQ(decoder.next("x").status, Status::error);
  EXPECT_EQ(decoder.next("1\r\nx").status, Status::error);
  EXPECT_EQ(decoder.next("").status, Status::error);
  decoder.reset();
  EXPECT_EQ(decoder.next("1\r\nx").status, Status::data);
}

TEST(ChunkedDecoder, RefusesWhatIsNotExactlyTheCoding) {
  struct {
    const char* what;
    std::string body;
  } const cases[] = {
      {"no size", "\r\nabc"},
      {"extension without size", ";a\r\n"},
      {"sign", "+1\r\nx\r\n"},
      {"negative", "-1\r\nx\r\n"},
      {"0x prefix", "0x1\r\nx\r\n"},
      {"leading space", " 1\r\nx\r\n"},
      {"space after the size", "1 \r\nx\r\n"},
      {"space before an extension", "1 ;a\r\nx\r\n"},
      {"underscore", "1_0\r\n"},
      {"not hexadecimal", "g\r\n"},
      {"17 digits", "00000000000000001\r\n"},
      {"over 63 bits", "8000000000000000\r\n"},
      {"all bits", "ffffffffffffffff\r\n"},
      {"bare LF after the size", "1\nx\r\n"},
      {"bare CR after the size", "1\rx\r\n"},
      {"CR CR LF after the size", "1\r\r\nx"},
      {"bare LF in an extension", "1;a\nx\r\n"},
      {"bare LF in a quoted extension", "1;a=\"\n\"\r\nx"},
      {"bare CR in an extension", "1;a\rb\r\nx"},
      {"NUL in an extension", "1;a\0\r\nx"s},
      {"bare LF after the payload", "1\r\nx\n0\r\n\r\n"},
      {"bare CR after the payload", "1\r\nx\r0\r\n\r\n"},
      {"payload longer than its size", "1\r\nxy\r\n0\r\n\r\n"},
      {"payload shorter than its size", "3\r\nx\r\n0\r\n\r\n"},
      {"bare LF after the last chunk", "0\n\r\n"},
      {"bare LF at the end", "0\r\n\n"},
      {"something for the last LF", "0\r\n\rX"},
      {"folded trailer", "0\r\nA: b\r\n c\r\n\r\n"},
      {"trailer without a colon", "0\r\nabc\r\n\r\n"},
      {"trailer without a name", "0\r\n: b\r\n\r\n"},
      {"space before a trailer's colon", "0\r\nA : b\r\n\r\n"},
      {"bare LF in a trailer", "0\r\nA: b\nC: d\r\n\r\n"},
      {"bare CR in a trailer", "0\r\nA: b\rc\r\n\r\n"},
      {"NUL in a trailer", "0\r\nA: \0\r\n\r\n"s},
      {"a request where the trailers are", "0\r\nGET / HTTP/1.1\r\n\r\n"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(decode(c.body).status, Status::error) << c.what;
  }
}

TEST(ChunkedDecoder, TakesTheLargestSize) {
  EXPECT_EQ(decode("7fffffffffffffff\r\nabc").payload, "abc");
  EXPECT_EQ(decode("0000000000000001\r\nx\r\n0\r\n\r\n").status, Status::done);
}

TEST(ChunkedDecoder, LimitsTheExtensionsOfAMessage) {
  const std::string half = "1;" + std::string(2047, 'a') + "\r\nx\r\n";
  EXPECT_EQ(decode(half + half + "0\r\n\r\n").status, Status::done);
  EXPECT_EQ(decode(half + half + "0;\r\n\r\n").status, Status::error);
}

TEST(ChunkedDecoder, LimitsTheTrailers) {
  const std::string line = "A:" + std::string(1022, 'b') + "\r\n";
  std::string trailers;
  for (int i = 0; i < 16; ++i) trailers += line;
  EXPECT_EQ(decode("0\r\n" + trailers + "\r\n").status, Status::done);
  EXPECT_EQ(decode("0\r\n" + trailers + "A:\r\n\r\n").status, Status::error);
}

TEST(ChunkedDecoder, WantsMoreForEveryProperPrefix) {
  const std::string body = "2;e\r\nab\r\n0\r\nA: b\r\n\r\n";
  for (std::size_t size = 0; size < body.size(); ++size) {
    EXPECT_EQ(decode(body.substr(0, size)).status, Status::need_more) << size;
  }
}

}  // namespace
}  // namespace smg::protocol
