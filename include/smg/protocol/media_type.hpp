// Media types that carry JSON. Pure.
#pragma once

#include <string_view>

namespace smg::protocol {

// application/json or application/*+json, in any case, with any parameters.
bool is_json_media_type(std::string_view content_type);

}  // namespace smg::protocol
