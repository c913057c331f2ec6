#include "smg/protocol/media_type.hpp"

#include "smg/protocol/http_head.hpp"

namespace smg::protocol {

bool is_json_media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  constexpr std::string_view kPrefix = "application/";
  if (type.size() < kPrefix.size() || !iequals(type.substr(0, kPrefix.size()), kPrefix)) {
    return false;
  }
  type.remove_prefix(kPrefix.size());
  constexpr std::string_view kSuffix = "+json";
  return iequals(type, "json") || (type.size() > kSuffix.size() &&
                                   iequals(type.substr(type.size() - kSuffix.size()), kSuffix));
}

}  // namespace smg::protocol
