#include "smg/protocol/http_head.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace smg::protocol {
namespace {

using namespace std::string_literals;

const HeadLimits kLimits;

struct Case {
  const char* what;
  std::string head;
  HeadError expected;
};

HeadError request_error(const std::string& head, const HeadLimits& limits = kLimits) {
  RequestHead out;
  return parse_request_head(head, limits, out);
}

HeadError response_error(const std::string& head) {
  ResponseHead out;
  return parse_response_head(head, kLimits, false, out);
}

// A sound request with those lines after Host.
std::string post(const std::string& fields) {
  return "POST /v1/x HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n";
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

TEST(ParseRequestHead, FillsEveryMember) {
  RequestHead out;
  const std::string head =
      "POST /v1/chat/completions?a=1&b=?2 HTTP/1.1\r\nHost: example:8000\r\nX-Empty:\r\n"
      "Accept: \t text/event-stream \t\r\naccept: second\r\nContent-Length: 12\r\n\r\n";
  ASSERT_EQ(parse_request_head(head, kLimits, out), HeadError::none);
  EXPECT_EQ(out.method, "POST");
  EXPECT_EQ(out.target, "/v1/chat/completions?a=1&b=?2");
  EXPECT_EQ(out.path, "/v1/chat/completions");
  EXPECT_EQ(out.query, "a=1&b=?2");
  EXPECT_EQ(out.minor_version, 1);
  ASSERT_EQ(out.fields.size(), 5u);
  EXPECT_EQ(out.fields[1].name, "X-Empty");
  EXPECT_EQ(out.fields[1].value, "");
  EXPECT_EQ(out.fields[2].name, "Accept");
  EXPECT_EQ(out.fields[2].value, "text/event-stream");
  EXPECT_EQ(out.fields[3].value, "second");
  EXPECT_EQ(out.framing, Framing::length);
  EXPECT_EQ(out.content_length, 12u);
  EXPECT_TRUE(out.keep_alive);
  EXPECT_FALSE(out.expect_continue);
  EXPECT_EQ(out.field("ACCEPT"), "text/event-stream");
  EXPECT_NE(out.field("x-empty").data(), nullptr);
  EXPECT_EQ(out.field("absent").data(), nullptr);
}

TEST(ParseRequestHead, LeavesNothingOfTheMessageBefore) {
  RequestHead out;
  const std::string first =
      "POST /a?q HTTP/1.0\r\nHost: h\r\nContent-Length: 7\r\nConnection: close\r\n\r\n";
  const std::string second = "GET /b HTTP/1.1\r\nHost: i\r\n\r\n";
  ASSERT_EQ(parse_request_head(first, kLimits, out), HeadError::none);
  ASSERT_EQ(parse_request_head(second, kLimits, out), HeadError::none);
  EXPECT_EQ(out.query, "");
  EXPECT_EQ(out.minor_version, 1);
  EXPECT_EQ(out.fields.size(), 1u);
  EXPECT_EQ(out.framing, Framing::none);
  EXPECT_EQ(out.content_length, 0u);
  EXPECT_TRUE(out.keep_alive);
}

TEST(ParseRequestHead, ReadsTheFraming) {
  RequestHead out;
  const std::string chunked = post("Transfer-Encoding: CHUNKED\r\n");
  ASSERT_EQ(parse_request_head(chunked, kLimits, out), HeadError::none);
  EXPECT_EQ(out.framing, Framing::chunked);
  const std::string zero = post("content-length: 0\r\n");
  ASSERT_EQ(parse_request_head(zero, kLimits, out), HeadError::none);
  EXPECT_EQ(out.framing, Framing::length);
  const std::string largest = post("Content-Length: 9223372036854775807\r\n");
  ASSERT_EQ(parse_request_head(largest, kLimits, out), HeadError::none);
  EXPECT_EQ(out.content_length, 9223372036854775807u);
  const std::string nothing = post("");
  ASSERT_EQ(parse_request_head(nothing, kLimits, out), HeadError::none);
  EXPECT_EQ(out.framing, Framing::none);
}

TEST(ParseRequestHead, RefusesWhatCouldSmuggleABody) {
  const Case cases[] = {
      {"length and coding", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
       HeadError::bad_message},
      {"coding and length", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
       HeadError::bad_message},
      {"two lengths that differ", post("Content-Length: 3\r\nContent-Length: 4\r\n"),
       HeadError::bad_message},
      {"two equal lengths", post("Content-Length: 3\r\nContent-Length: 3\r\n"),
       HeadError::bad_message},
      {"length list", post("Content-Length: 3, 3\r\n"), HeadError::bad_message},
      {"empty length", post("Content-Length:\r\n"), HeadError::bad_message},
      {"blank length", post("Content-Length:  \t\r\n"), HeadError::bad_message},
      {"plus", post("Content-Length: +3\r\n"), HeadError::bad_message},
      {"minus", post("Content-Length: -3\r\n"), HeadError::bad_message},
      {"hexadecimal", post("Content-Length: 0x3\r\n"), HeadError::bad_message},
      {"fraction", post("Content-Length: 3.0\r\n"), HeadError::bad_message},
      {"space in the number", post("Content-Length: 1 2\r\n"), HeadError::bad_message},
      {"over 63 bits", post("Content-Length: 9223372036854775808\r\n"), HeadError::bad_message},
      {"wraps at 64 bits", post("Content-Length: 18446744073709551619\r\n"),
       HeadError::bad_message},
      {"quoted length", post("Content-Length: \"3\"\r\n"), HeadError::bad_message},
      {"non-ASCII digit", post("Content-Length: \xd9\xa3\r\n"), HeadError::bad_message},
      {"two codings fields", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       HeadError::bad_message},
      {"second field hides", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
       HeadError::bad_message},
      {"chunked twice", post("Transfer-Encoding: chunked, chunked\r\n"), HeadError::bad_message},
      {"chunked not last", post("Transfer-Encoding: chunked, gzip\r\n"), HeadError::bad_message},
      {"chunked not there", post("Transfer-Encoding: gzip\r\n"), HeadError::bad_message},
      {"identity", post("Transfer-Encoding: identity\r\n"), HeadError::bad_message},
      {"misspelt", post("Transfer-Encoding: xchunked\r\n"), HeadError::bad_message},
      {"quoted", post("Transfer-Encoding: \"chunked\"\r\n"), HeadError::bad_message},
      {"parameter", post("Transfer-Encoding: chunked;q=1\r\n"), HeadError::bad_message},
      {"empty element", post("Transfer-Encoding: chunked,\r\n"), HeadError::bad_message},
      {"empty first element", post("Transfer-Encoding: , chunked\r\n"), HeadError::bad_message},
      {"empty coding", post("Transfer-Encoding:\r\n"), HeadError::bad_message},
      {"vertical tab",
       post("Transfer-Encoding: \x0b"
            "chunked\r\n"),
       HeadError::bad_message},
      {"trailing NUL", post("Transfer-Encoding: chunked\0\r\n"s), HeadError::bad_message},
      {"gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n"),
       HeadError::bad_transfer_coding},
      {"coding in 1.0", "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
       HeadError::bad_message},
      {"space before the colon", post("Content-Length : 3\r\n"), HeadError::bad_message},
      {"tab before the colon", post("Transfer-Encoding\t: chunked\r\n"), HeadError::bad_message},
      {"folded coding", post("Transfer-Encoding:\r\n chunked\r\n"), HeadError::bad_message},
      {"folded value", post("X: a\r\n\tb\r\n"), HeadError::bad_message},
      {"bare LF ends a field", post("X: a\nContent-Length: 3\r\n"), HeadError::bad_message},
      {"bare CR ends a field", post("X: a\rContent-Length: 3\r\n"), HeadError::bad_message},
      {"CR CR LF", post("X: a\r\r\n"), HeadError::bad_message},
      {"LF CR", post("X: a\n\rContent-Length: 3\r\n"), HeadError::bad_message},
      {"a second head", post("") + "GET / HTTP/1.1\r\nHost: h\r\n\r\n", HeadError::bad_message},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(to_string(request_error(c.head)), to_string(c.expected)) << c.what;
  }
}

TEST(ParseRequestHead, RefusesUnsoundFields) {
  const Case cases[] = {
      {"no colon", post("Xabc\r\n"), HeadError::bad_message},
      {"no name", post(": a\r\n"), HeadError::bad_message},
      {"space in the name", post("X y: a\r\n"), HeadError::bad_message},
      {"leading space", post(" X: a\r\n"), HeadError::bad_message},
      {"parenthesis in the name", post("X(: a\r\n"), HeadError::bad_message},
      {"non-ASCII name", post("X\xc3\xa9: a\r\n"), HeadError::bad_message},
      {"NUL in the name", post("X\0: a\r\n"s), HeadError::bad_message},
      {"NUL in the value", post("X: a\0b\r\n"s), HeadError::bad_message},
      {"ESC in the value", post("X: 12345678\x1b[0m\r\n"), HeadError::bad_message},
      {"DEL in the value", post("X: 1234567\x7f\r\n"), HeadError::bad_message},
      {"first field is folded", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", HeadError::bad_message},
      {"Host missing", "GET / HTTP/1.1\r\n\r\n", HeadError::bad_message},
      {"Host twice", post("host: h\r\n"), HeadError::bad_message},
      {"Host twice in 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", HeadError::bad_message},
      {"Host list", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", HeadError::bad_message},
      {"Host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", HeadError::bad_message},
      {"Host with a user", "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", HeadError::bad_message},
      {"Host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HeadError::bad_message},
      {"Connection without end", post("Connection: " + std::string(1100, 'a') + "\r\n"),
       HeadError::headers_too_large},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(to_string(request_error(c.head)), to_string(c.expected)) << c.what;
  }
}

TEST(ParseRequestHead, RefusesUnsoundRequestLines) {
  const std::string rest = "\r\nHost: h\r\n\r\n";
  const Case cases[] = {
      {"empty", "", HeadError::bad_message},
      {"only an empty line", "\r\n\r\n", HeadError::bad_message},
      {"two empty lines", "\r\n\r\nGET / HTTP/1.1" + rest, HeadError::bad_message},
      {"no version", "GET /" + rest, HeadError::bad_message},
      {"no target", "GET HTTP/1.1" + rest, HeadError::bad_message},
      {"empty target", "GET  HTTP/1.1" + rest, HeadError::bad_message},
      {"no method", " / HTTP/1.1" + rest, HeadError::bad_message},
      {"method no token", "G@T / HTTP/1.1" + rest, HeadError::bad_message},
      {"tab as separator", "GET\t/ HTTP/1.1" + rest, HeadError::bad_message},
      {"two spaces", "GET /  HTTP/1.1" + rest, HeadError::bad_message},
      {"space at the end", "GET / HTTP/1.1 " + rest, HeadError::bad_message},
      {"space in the target", "GET /a b HTTP/1.1" + rest, HeadError::bad_message},
      {"bare CR in the line", "GET /\rHTTP/1.1" + rest, HeadError::bad_message},
      {"bare LF in the line", "GET / HTTP/1.1\nHost: h\r\n\r\n", HeadError::bad_message},
      {"lower-case version", "GET / http/1.1" + rest, HeadError::bad_message},
      {"version with two digits", "GET / HTTP/1.10" + rest, HeadError::bad_message},
      {"other protocol", "GET / ICY/1.1" + rest, HeadError::bad_message},
      {"1.2", "GET / HTTP/1.2" + rest, HeadError::unsupported_version},
      {"0.9", "GET / HTTP/0.9" + rest, HeadError::unsupported_version},
      {"2.0", "GET / HTTP/2.0" + rest, HeadError::unsupported_version},
      {"h2 preface", "PRI * HTTP/2.0\r\n\r\n", HeadError::unsupported_version},
      {"CONNECT", "CONNECT h:443 HTTP/1.1" + rest, HeadError::bad_message},
      {"CONNECT with a path", "CONNECT / HTTP/1.1" + rest, HeadError::bad_message},
      {"fragment", get("/a#b"), HeadError::bad_message},
      {"control character", get("/a\x01"), HeadError::bad_message},
      {"NUL", get("/a\0b"s), HeadError::bad_message},
      {"DEL", get("/a\x7f"), HeadError::bad_message},
      {"raw UTF-8", get("/\xc3\xa9"), HeadError::bad_message},
      {"asterisk without OPTIONS", get("*"), HeadError::bad_message},
      {"asterisk and more", "OPTIONS *a HTTP/1.1" + rest, HeadError::bad_message},
      {"no leading slash", get("v1/models"), HeadError::bad_message},
      {"authority-form", get("h:80"), HeadError::bad_message},
      {"other scheme", get("ftp://h/"), HeadError::bad_message},
      {"no authority", get("http:///p"), HeadError::bad_message},
      {"user info", get("http://u@h/p"), HeadError::bad_message},
      {"query on an empty path", get("http://h?q"), HeadError::bad_message},
      {"long target", get("/" + std::string(16 * 1024, 'a')), HeadError::target_too_long},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(to_string(request_error(c.head)), to_string(c.expected)) << c.what;
  }
}

TEST(ParseRequestHead, AcceptsWhatIsOddButSound) {
  const Case cases[] = {
      {"one empty line before", "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", HeadError::none},
      {"1.0 without Host", "GET / HTTP/1.0\r\n\r\n", HeadError::none},
      {"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", HeadError::none},
      {"IPv6 Host", "GET / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n", HeadError::none},
      {"no space after the colon", "GET / HTTP/1.1\r\nHost:h\r\n\r\n", HeadError::none},
      {"unknown method", "BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n", HeadError::none},
      {"value in UTF-8 and tabs", post("X: caf\xc3\xa9\t\xe4\xb8\x96\t1\r\n"), HeadError::none},
      {"target that starts with two slashes", get("//a/b"), HeadError::none},
      {"marks in a target", get("/a?{\"x\":[1|2]}\\^`"), HeadError::none},
      {"longest target", get("/" + std::string(16 * 1024 - 1, 'a')), HeadError::none},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(to_string(request_error(c.head)), to_string(c.expected)) << c.what;
  }
}

TEST(ParseRequestHead, ReducesAbsoluteFormToOriginForm) {
  struct {
    const char* method;
    const char* given;
    const char* target;
    const char* path;
    const char* query;
  } const cases[] = {
      {"GET", "http://h/p?q", "/p?q", "/p", "q"},
      {"GET", "HTTPS://h:8443/p", "/p", "/p", ""},
      {"GET", "http://[::1]:80/p?http://x/", "/p?http://x/", "/p", "http://x/"},
      {"GET", "http://h", "/", "/", ""},
      {"GET", "http://h/", "/", "/", ""},
      {"OPTIONS", "http://h", "*", "*", ""},
      {"OPTIONS", "*", "*", "*", ""},
  };
  for (const auto& c : cases) {
    RequestHead out;
    const std::string head = std::string(c.method) + " " + c.given + " HTTP/1.1\r\nHost: h\r\n\r\n";
    ASSERT_EQ(parse_request_head(head, kLimits, out), HeadError::none) << c.given;
    EXPECT_EQ(out.target, c.target);
    EXPECT_EQ(out.path, c.path);
    EXPECT_EQ(out.query, c.query);
  }
  EXPECT_EQ(request_error("GET http://h/p HTTP/1.1\r\n\r\n"), HeadError::bad_message);
}

TEST(ParseRequestHead, ReadsKeepAliveByVersion) {
  struct {
    const char* version;
    const char* fields;
    bool keep_alive;
  } const cases[] = {
      {"1.1", "", true},
      {"1.1", "Connection: Close\r\n", false},
      {"1.1", "Connection: keep-alive\r\n", true},
      {"1.1", "Connection: keep-alive, close\r\n", false},
      {"1.1", "Connection: x-a\r\nConnection:\ty ,close\r\n", false},
      {"1.1", "Connection: closed\r\n", true},
      {"1.0", "", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
      {"1.0", "Connection: close, keep-alive\r\n", false},
      {"1.0", "Proxy-Connection: keep-alive\r\n", false},
  };
  for (const auto& c : cases) {
    RequestHead out;
    const std::string head = "GET / HTTP/"s + c.version + "\r\nHost: h\r\n" + c.fields + "\r\n";
    ASSERT_EQ(parse_request_head(head, kLimits, out), HeadError::none);
    EXPECT_EQ(out.keep_alive, c.keep_alive) << c.version << " " << c.fields;
  }
}

TEST(ParseRequestHead, ExpectsContinueOnlyWithABodyToCome) {
  const std::string expect = "Expect: 100-Continue\r\n";
  struct {
    std::string head;
    bool expected;
  } const cases[] = {
      {post(expect + "Content-Length: 1\r\n"), true},
      {post(expect + "Transfer-Encoding: chunked\r\n"), true},
      {post(expect + "Content-Length: 0\r\n"), false},
      {post(expect), false},
      {post("Expect: something\r\nContent-Length: 1\r\n"), false},
      {"POST / HTTP/1.0\r\nContent-Length: 1\r\n" + expect + "\r\n", false},
  };
  for (const auto& c : cases) {
    RequestHead out;
    ASSERT_EQ(parse_request_head(c.head, kLimits, out), HeadError::none);
    EXPECT_EQ(out.expect_continue, c.expected) << c.head;
  }
}

TEST(ParseRequestHead, HoldsTheLimits) {
  HeadLimits limits;
  limits.max_fields = 3;
  EXPECT_EQ(request_error(post("A: 1\r\nB: 2\r\n"), limits), HeadError::none);
  EXPECT_EQ(request_error(post("A: 1\r\nB: 2\r\nC: 3\r\n"), limits), HeadError::headers_too_large);
  limits.max_bytes = post("A: 1\r\n").size();
  EXPECT_EQ(request_error(post("A: 1\r\n"), limits), HeadError::none);
  EXPECT_EQ(request_error(post("A: 12\r\n"), limits), HeadError::headers_too_large);
}

TEST(ParseRequestHead, RefusesEveryProperPrefix) {
  const std::string head = post("Content-Length: 3\r\n");
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(request_error(head.substr(0, size)), HeadError::bad_message) << size;
  }
}

TEST(ParseRequestHead, FindsAControlCharacterAtEveryPlaceInAValue) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string value(size, '\xff');
      value[at] = '\x02';
      EXPECT_EQ(request_error(post("X: a" + value + "b\r\n")), HeadError::bad_message);
      value[at] = '\t';
      EXPECT_EQ(request_error(post("X: a" + value + "b\r\n")), HeadError::none);
    }
  }
}

TEST(ParseResponseHead, FillsEveryMember) {
  ResponseHead out;
  const std::string head =
      "HTTP/1.1 503 Service  Unavailable\r\nContent-Length: 5\r\nSet-Cookie: a\r\n"
      "Set-Cookie: b\r\n\r\n";
  ASSERT_EQ(parse_response_head(head, kLimits, false, out), HeadError::none);
  EXPECT_EQ(out.status, 503);
  EXPECT_EQ(out.reason, "Service  Unavailable");
  EXPECT_EQ(out.minor_version, 1);
  ASSERT_EQ(out.fields.size(), 3u);
  EXPECT_EQ(out.fields[2].value, "b");
  EXPECT_EQ(out.framing, Framing::length);
  EXPECT_EQ(out.content_length, 5u);
  EXPECT_TRUE(out.keep_alive);
  EXPECT_EQ(out.field("set-cookie"), "a");
}

TEST(ParseResponseHead, ReadsTheFraming) {
  struct {
    const char* what;
    const char* head;
    bool head_request;
    Framing framing;
    bool keep_alive;
  } const cases[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", false, Framing::length, true},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", false, Framing::chunked,
       true},
      {"neither", "HTTP/1.1 200 OK\r\n", false, Framing::until_close, false},
      {"neither, whatever it says", "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n", false,
       Framing::until_close, false},
      {"closing", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n", false,
       Framing::length, false},
      {"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n", false, Framing::length, false},
      {"1.0 kept", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n", false,
       Framing::length, true},
      {"to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n", true, Framing::none, true},
      {"to HEAD, chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", true, Framing::none,
       true},
      {"to HEAD, neither", "HTTP/1.1 200 OK\r\n", true, Framing::none, true},
      {"100", "HTTP/1.1 100 Continue\r\n", false, Framing::none, true},
      {"103", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n", false, Framing::none, true},
      {"204", "HTTP/1.1 204 No Content\r\n", false, Framing::none, true},
      {"204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n", false,
       Framing::none, false},
      {"204 with chunks", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n", false,
       Framing::none, false},
      {"304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n", false,
       Framing::none, true},
  };
  for (const auto& c : cases) {
    ResponseHead out;
    const std::string head = c.head + "\r\n"s;
    ASSERT_EQ(parse_response_head(head, kLimits, c.head_request, out), HeadError::none) << c.what;
    EXPECT_EQ(out.framing, c.framing) << c.what;
    EXPECT_EQ(out.keep_alive, c.keep_alive) << c.what;
  }
}

TEST(ParseResponseHead, KeepsTheLengthDeclaredToHead) {
  ResponseHead out;
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
  ASSERT_EQ(parse_response_head(head, kLimits, true, out), HeadError::none);
  EXPECT_EQ(out.content_length, 9u);
}

TEST(ParseResponseHead, AcceptsAStatusLineWithoutReason) {
  for (const char* line : {"HTTP/1.1 200 \r\n", "HTTP/1.1 200\r\n"}) {
    ResponseHead out;
    const std::string head = line + "Content-Length: 0\r\n\r\n"s;
    ASSERT_EQ(parse_response_head(head, kLimits, false, out), HeadError::none) << line;
    EXPECT_EQ(out.status, 200);
    EXPECT_EQ(out.reason, "");
  }
}

TEST(ParseResponseHead, RefusesWhatIsAmbiguous) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const Case cases[] = {
      {"empty", "", HeadError::bad_message},
      {"leading empty line", "\r\nHTTP/1.1 200 OK\r\n\r\n", HeadError::bad_message},
      {"length and coding", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       HeadError::bad_message},
      {"lengths that differ", ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
       HeadError::bad_message},
      {"equal lengths", ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
       HeadError::bad_message},
      {"length and coding to 204",
       "HTTP/1.1 204 No\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       HeadError::bad_message},
      {"signed length", ok + "Content-Length: +1\r\n\r\n", HeadError::bad_message},
      {"gzip, chunked", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n",
       HeadError::bad_transfer_coding},
      {"gzip", ok + "Transfer-Encoding: gzip\r\n\r\n", HeadError::bad_message},
      {"chunked in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       HeadError::bad_message},
      {"bare LF", "HTTP/1.1 200 OK\nA: b\r\n\r\n", HeadError::bad_message},
      {"bare LF in the fields", ok + "A: b\nC: d\r\n\r\n", HeadError::bad_message},
      {"bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", HeadError::bad_message},
      {"folded field", ok + "A: b\r\n c\r\n\r\n", HeadError::bad_message},
      {"space before the colon", ok + "Content-Length : 1\r\n\r\n", HeadError::bad_message},
      {"two digits", "HTTP/1.1 20 OK\r\n\r\n", HeadError::bad_message},
      {"four digits", "HTTP/1.1 2000 OK\r\n\r\n", HeadError::bad_message},
      {"status below 100", "HTTP/1.1 099 OK\r\n\r\n", HeadError::bad_message},
      {"two spaces", "HTTP/1.1  200 OK\r\n\r\n", HeadError::bad_message},
      {"no status", "HTTP/1.1\r\n\r\n", HeadError::bad_message},
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n", HeadError::bad_message},
      {"ICY", "ICY 200 OK\r\n\r\n", HeadError::bad_message},
      {"2.0", "HTTP/2.0 200 OK\r\n\r\n", HeadError::unsupported_version},
      {"switching", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
       HeadError::bad_message},
      {"NUL in a value", ok + "A: \0\r\n\r\n"s, HeadError::bad_message},
      {"body in the head", ok + "\r\nbody\r\n\r\n", HeadError::bad_message},
  };
  for (const Case& c : cases) {
    EXPECT_STREQ(to_string(response_error(c.head)), to_string(c.expected)) << c.what;
  }
}

// Feeds the scanner one byte more each time; the size found, or 0.
std::size_t scan_by_byte(HeadScanner& scanner, std::string_view bytes, const HeadLimits& limits) {
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const std::size_t end = scanner.scan(bytes.substr(0, size), limits);
    if (end != 0 || scanner.error() != HeadError::none) return end;
  }
  return 0;
}

TEST(HeadScanner, FindsTheSameEndByteByByteAndAtOnce) {
  const std::string heads[] = {
      post(""), post("Content-Length: 3\r\n"), get("/"), "\r\n" + get("/"), "A\r\n\r\n",
  };
  for (const std::string& head : heads) {
    const std::string bytes = head + "\r\nbody\r\n\r\n\n";
    HeadScanner whole;
    EXPECT_EQ(whole.scan(bytes, kLimits), head.size()) << head;
    HeadScanner slow;
    EXPECT_EQ(scan_by_byte(slow, bytes, kLimits), head.size()) << head;
    EXPECT_EQ(slow.error(), HeadError::none);
  }
}

TEST(HeadScanner, RefusesAsSoonAsTheByteIsThere) {
  struct {
    const char* what;
    std::string bytes;
  } const cases[] = {
      {"bare LF in the start line", "GET / HTTP/1.1\n"},
      {"bare LF in a field", "GET / HTTP/1.1\r\nA: b\n"},
      {"bare LF as empty line", "GET / HTTP/1.1\r\nA: b\r\n\n"},
      {"bare LF first", "\n"},
      {"second empty line", "\r\n\r\n"},
      {"a TLS handshake", "\x16"},
      {"NUL", "\0"s},
      {"blank", " "},
  };
  for (const auto& c : cases) {
    HeadScanner whole;
    EXPECT_EQ(whole.scan(c.bytes, kLimits), 0u);
    EXPECT_EQ(whole.error(), HeadError::bad_message) << c.what;
    HeadScanner slow;
    const std::string_view before = std::string_view(c.bytes).substr(0, c.bytes.size() - 1);
    EXPECT_EQ(scan_by_byte(slow, before, kLimits), 0u);
    EXPECT_EQ(slow.error(), HeadError::none) << c.what;
    EXPECT_EQ(slow.scan(c.bytes, kLimits), 0u);
    EXPECT_EQ(slow.error(), HeadError::bad_message) << c.what;
  }
}

TEST(HeadScanner, HoldsTheSizeLimit) {
  HeadLimits limits;
  const std::string head = post("");
  limits.max_bytes = head.size();
  HeadScanner fits;
  EXPECT_EQ(fits.scan(head + std::string(100, 'b'), limits), head.size());
  limits.max_bytes = head.size() - 1;
  HeadScanner over;
  EXPECT_EQ(over.scan(head.substr(0, head.size() - 2), limits), 0u);
  EXPECT_EQ(over.error(), HeadError::none);
  EXPECT_EQ(over.scan(head, limits), 0u);
  EXPECT_EQ(over.error(), HeadError::headers_too_large);
  HeadScanner line;
  EXPECT_EQ(line.scan("GET /" + std::string(100, 'a'), limits), 0u);
  EXPECT_EQ(line.error(), HeadError::target_too_long);
}

TEST(HeadScanner, StartsAgainAfterReset) {
  HeadScanner scanner;
  EXPECT_EQ(scanner.scan("GET / HTTP/1.1\n", kLimits), 0u);
  scanner.reset();
  EXPECT_EQ(scanner.error(), HeadError::none);
  EXPECT_EQ(scanner.scan(post(""), kLimits), post("").size());
}

TEST(Tokens, AreComparedWithoutCaseAndByElement) {
  EXPECT_TRUE(iequals("Content-LENGTH", "content-length"));
  EXPECT_FALSE(iequals("content-length", "content-lengt"));
  EXPECT_FALSE(iequals("[", "{"));
  EXPECT_TRUE(has_token("a, B ,c", "b"));
  EXPECT_TRUE(has_token("a", "A"));
  EXPECT_FALSE(has_token("ab, c", "b"));
  EXPECT_FALSE(has_token("", "b"));
  EXPECT_TRUE(is_token("X-a_1!"));
  EXPECT_FALSE(is_token(""));
  EXPECT_FALSE(is_token("a b"));
  EXPECT_FALSE(is_token("a:"));
}

}  // namespace
}  // namespace smg::protocol
