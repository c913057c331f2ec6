// What the gateway does with a field of that name. Private to the protocol layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace smg::protocol {

enum FieldRule : std::uint8_t {
  kHopByHop = 1,  // ends here, in both directions
  kNotToWorker = 2,
  kNotToClient = 4,
  kContentLength = 8,  // written anew, in both directions
  kCredential = 16,    // Authorization, x-api-key
};

// The rules (bits of FieldRule) of a field, 0 for most.
std::uint8_t rules_of(std::string_view name);

// Fields that a Connection field cannot take away.
bool is_always_end_to_end(std::string_view name);

}  // namespace smg::protocol
