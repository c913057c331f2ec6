// UTF-8, one scalar at a time. Pure; any bytes are allowed.
#pragma once

#include <cstdint>
#include <string_view>

namespace smg {

struct Utf8Scalar {
  char32_t value = 0;
  std::uint8_t size = 0;  // bytes; 0: the text does not begin with a well-formed scalar
};

// The scalar that `text` begins with. Overlong forms, surrogates and values above U+10FFFF are not
// well formed. An empty text gives size 0.
Utf8Scalar first_scalar(std::string_view text);

}  // namespace smg
