// Decoder of the chunked transfer coding (RFC 9112 section 7), strict and incremental. Pure.
//
// Chunk extensions are skipped (at most 4 KiB in a message; no white space before the ';'), trailer
// fields are checked like those of a head and dropped (at most 16 KiB), a chunk size has at most 16
// hex digits and fits 63 bits; every line ends in CRLF, and a CR is nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smg::protocol {

class ChunkedDecoder {
 public:
  enum class Status : std::uint8_t { need_more, data, done, error };
  struct Step {
    Status status;
    std::size_t consumed;   // bytes of the input that are done with, payload included
    std::string_view data;  // payload, a view into the input; with Status::data
  };

  // Takes one step: skips framing and returns the next run of payload. Call again with the rest of
  // the input until need_more (all was consumed), done (consumed ends the message) or error.
  Step next(std::string_view input);

  bool done() const { return state_ == State::done; }
  void reset() { *this = ChunkedDecoder{}; }

 private:
  enum class State : std::uint8_t {
    size_first,  // first digit of a chunk size
    size,        // its other digits
    extension,   // after ';'
    size_lf,     // LF of the size line
    data,        // payload
    data_cr,     // CRLF after it
    data_lf,
    trailer_start,  // first byte of a line after the last chunk
    trailer_name,
    trailer_value,
    trailer_lf,  // LF of a trailer field
    last_lf,     // LF of the empty line that ends the message
    done,
    error
  };
  State step_framing(char c);  // the state after a byte that is not payload
  State add_size_digit(char c);

  State state_ = State::size_first;
  std::uint8_t size_digits_ = 0;
  std::uint64_t remaining_ = 0;  // of the current chunk
  std::uint32_t extension_bytes_ = 0;
  std::uint32_t trailer_bytes_ = 0;
};

}  // namespace smg::protocol
