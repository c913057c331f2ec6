// Chunked bodies: however the bytes are split, the payload, the end and the verdict are the same.
#include <string>

#include "fuzz_input.hpp"
#include "smg/protocol/chunked.hpp"

namespace smg::protocol {
namespace {

using fuzz::require;

struct Outcome {
  ChunkedDecoder::Status status = ChunkedDecoder::Status::need_more;
  std::size_t consumed = 0;
  std::string payload;
};

// Decodes in pieces of the size that `next_size` gives.
template <class NextSize>
Outcome decode(std::string_view input, NextSize next_size) {
  ChunkedDecoder decoder;
  Outcome out;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, next_size());
    input.remove_prefix(piece.size());
    for (;;) {
      const ChunkedDecoder::Step step = decoder.next(piece);
      require(step.consumed <= piece.size(), "consumes what there is");
      require(fuzz::lies_in(step.data, piece), "payload lies in the input");
      out.status = step.status;
      out.consumed += step.consumed;
      out.payload.append(step.data);
      if (step.status == ChunkedDecoder::Status::done ||
          step.status == ChunkedDecoder::Status::error) {
        return out;
      }
      if (step.status == ChunkedDecoder::Status::need_more) {
        require(step.consumed == piece.size(), "need_more consumed all");
        break;
      }
      require(!step.data.empty(), "data is not empty");
      piece.remove_prefix(step.consumed);
    }
  }
  return out;
}

void require_same(const Outcome& a, const Outcome& b) {
  require(a.status == b.status, "same status");
  require(a.consumed == b.consumed, "same end");
  require(a.payload == b.payload, "same payload");
}

}  // namespace
}  // namespace smg::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smg::protocol;
  const std::string_view input = smg::fuzz::as_text(data, size);
  const Outcome whole = decode(input, [size] { return size; });
  require_same(whole, decode(input, [] { return std::size_t{1}; }));
  std::size_t turn = 0;
  require_same(whole, decode(input, [&] { return 1 + (data[turn++ % size] & 15u); }));
  return 0;
}
