// API keys in header fields. Private to the protocol layer.
#pragma once

#include <string_view>

#include "smg/protocol/http_head.hpp"

namespace smg::protocol {

// Equality in a time that depends on the lengths only.
bool equals_secret(std::string_view a, std::string_view b);

// Whether an Authorization (any scheme, or none) or x-api-key field holds `key`. False if it is
// empty.
bool holds_key(const HeaderField& field, std::string_view key);

}  // namespace smg::protocol
