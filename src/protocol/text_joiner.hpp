// Joins pieces of a body to routing text in a reused buffer, unescaping on the way.
//
// Text is written in sections, one per place of the body that it comes from. A section of one piece
// without escapes stays a view into the body and is not copied. Not thread safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "smg/protocol/json_string.hpp"

namespace smg::protocol {

class TextJoiner {
 public:
  struct Section {
    std::size_t begin = 0;  // in the buffer
    std::size_t end = 0;
    std::size_t pieces = 0;
    std::string_view lone;  // the only piece, if it is not in the buffer
  };
  // A point in the open section to go back to.
  struct Mark {
    std::size_t end;
    std::size_t pieces;
  };

  // The pieces come from `body_size` bytes: the buffer needs not grow beyond them.
  TextJoiner(std::string& buffer, std::size_t body_size) : buffer_(buffer), limit_(body_size) {}

  void open();
  // Puts a space before each piece but the first.
  void add(const JsonString& piece);
  void add_unless_empty(const JsonString& piece) {
    if (!piece.raw.empty()) add(piece);
  }
  Mark mark() const { return {section_.end, section_.pieces}; }
  void rewind(Mark mark) {
    section_.end = mark.end;
    section_.pieces = mark.pieces;
  }
  Section close();

  // A closed section's text, and that of two joined by a space; valid until the next change.
  std::string_view text(const Section& section) const;
  std::string_view joined(Section first, Section second);

 private:
  void reserve(std::size_t more);
  void append(const JsonString& piece);
  Section copy(const Section& section);

  std::string& buffer_;
  std::size_t limit_;
  std::size_t used_ = 0;  // by closed sections
  Section section_;
};

}  // namespace smg::protocol
