// A JSON string as it stands in a document: the bytes between its quotes, already validated (well
// formed UTF-8 and escapes). Pure functions; views live as long as the document.
#pragma once

#include <string>
#include <string_view>

namespace smg::protocol {

struct JsonString {
  std::string_view raw;  // between the quotes
  bool escaped = false;  // `raw` has at least one backslash
};

// Writes the string's UTF-8 to `out` and returns its end. It is never longer than `raw`, but bytes
// behind it, up to raw.size(), are scribbled on. Half of a surrogate pair without its other half
// becomes U+FFFD.
char* unescape(std::string_view raw, char* out);

// The string's text in `storage` if it has escapes, else in the document.
std::string_view unescaped(const JsonString& string, std::string& storage);

// Whether the unescaped string is `text`.
bool equals_unescaped(std::string_view raw, std::string_view text);
inline bool equals(const JsonString& string, std::string_view text) {
  return string.escaped ? equals_unescaped(string.raw, text) : string.raw == text;
}

}  // namespace smg::protocol
