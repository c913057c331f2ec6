#include "credential.hpp"

#include <algorithm>

#include "char_class.hpp"
#include "smg/protocol/header_rules.hpp"

namespace smg::protocol {
namespace {

// "Bearer abc" is scheme and credentials; a value without a blank is all credentials.
struct Authorization {
  std::string_view scheme;
  std::string_view credentials;
};

Authorization split_authorization(std::string_view value) {
  const std::size_t blank = std::min(value.find_first_of(" \t"), value.size());
  if (blank == value.size()) return {{}, value};
  return {value.substr(0, blank), trim_blanks(value.substr(blank))};
}

}  // namespace

bool equals_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  }
  return difference == 0;
}

bool holds_key(const HeaderField& field, std::string_view key) {
  if (key.empty()) return false;
  if (iequals(field.name, "x-api-key")) return equals_secret(field.value, key);
  if (!iequals(field.name, "authorization")) return false;
  // A key may have a blank in it, so the value as a whole counts too.
  return equals_secret(split_authorization(field.value).credentials, key) ||
         equals_secret(field.value, key);
}

bool presents_key(const RequestHead& request, std::string_view key) {
  if (key.empty()) return false;
  bool presented = false;
  for (const HeaderField& field : request.fields) {
    if (iequals(field.name, "x-api-key")) {
      presented |= equals_secret(field.value, key);
    } else if (iequals(field.name, "authorization")) {
      const Authorization given = split_authorization(field.value);
      presented |= iequals(given.scheme, "bearer") && equals_secret(given.credentials, key);
    }
  }
  return presented;
}

}  // namespace smg::protocol
