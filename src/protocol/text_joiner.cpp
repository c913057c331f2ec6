#include "text_joiner.hpp"

#include <algorithm>
#include <cstring>

namespace smg::protocol {

void TextJoiner::reserve(std::size_t more) {
  const std::size_t need = section_.end + more;
  if (need <= buffer_.size()) return;
  constexpr std::size_t smallest = 1024;
  buffer_.resize(std::max(need, std::min(std::max(2 * need, smallest), limit_)));
}

void TextJoiner::append(const JsonString& piece) {
  reserve(piece.raw.size());
  char* const out = buffer_.data() + section_.end;
  if (piece.escaped) {
    section_.end += static_cast<std::size_t>(unescape(piece.raw, out) - out);
  } else if (!piece.raw.empty()) {
    std::memcpy(out, piece.raw.data(), piece.raw.size());
    section_.end += piece.raw.size();
  }
}

void TextJoiner::open() {
  section_ = {.begin = used_, .end = used_, .pieces = 0, .lone = {}};
  if (used_ == 0) return;
  // The byte between two sections is the space that joins them.
  reserve(1);
  buffer_[used_] = ' ';
  section_.begin = section_.end = used_ + 1;
}

void TextJoiner::add(const JsonString& piece) {
  if (section_.pieces == 0 && !piece.escaped) {
    section_.lone = piece.raw;
    section_.pieces = 1;
    return;
  }
  if (section_.pieces == 1 && section_.end == section_.begin) append({section_.lone, false});
  if (section_.pieces > 0) {
    reserve(1);
    buffer_[section_.end++] = ' ';
  }
  append(piece);
  ++section_.pieces;
}

TextJoiner::Section TextJoiner::close() {
  if (section_.end != section_.begin) used_ = section_.end;
  if (section_.pieces == 0) section_.lone = {};
  return section_;
}

std::string_view TextJoiner::text(const Section& section) const {
  if (section.begin == section.end) return section.lone;
  return std::string_view(buffer_).substr(section.begin, section.end - section.begin);
}

TextJoiner::Section TextJoiner::copy(const Section& section) {
  const std::size_t size = text(section).size();
  open();
  reserve(size);  // may move the text that is to be copied
  std::memcpy(buffer_.data() + section_.end, text(section).data(), size);
  section_.end += size;
  section_.pieces = 1;
  return close();
}

std::string_view TextJoiner::joined(Section first, Section second) {
  if (text(first).empty()) return text(second);
  if (text(second).empty()) return text(first);
  const auto in_buffer = [](const Section& section) { return section.begin != section.end; };
  if (!in_buffer(first) || !in_buffer(second) || first.end + 1 != second.begin) {
    if (!in_buffer(first) || first.end != used_) first = copy(first);
    second = copy(second);
  }
  return std::string_view(buffer_).substr(first.begin, second.end - first.begin);
}

}  // namespace smg::protocol
