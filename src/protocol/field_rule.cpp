#include "field_rule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "char_class.hpp"

namespace smg::protocol {
namespace {

using namespace std::string_view_literals;

struct Rule {
  std::string_view name;
  std::uint8_t rules;
};

// By size of the name, so that a name is compared only with those of its own size.
constexpr std::array kRules = {
    Rule{"te", kHopByHop},
    Rule{"host", kNotToWorker},
    Rule{"expect", kNotToWorker},
    Rule{"trailer", kHopByHop},
    Rule{"upgrade", kHopByHop},
    Rule{"x-api-key", kCredential},
    Rule{"connection", kHopByHop},
    Rule{"keep-alive", kHopByHop},
    Rule{"x-request-id", kNotToWorker | kNotToClient},
    Rule{"authorization", kCredential},
    Rule{"content-length", kNotToWorker | kNotToClient | kContentLength},
    Rule{"http2-settings", kHopByHop},
    Rule{"proxy-connection", kHopByHop},
    Rule{"x-smg-error-code", kNotToClient},
    Rule{"transfer-encoding", kHopByHop},
    Rule{"proxy-authenticate", kHopByHop},
    Rule{"proxy-authorization", kHopByHop},
    Rule{"x-smg-target-worker", kNotToWorker},
    Rule{"x-smg-routing-tokens", kNotToWorker},
    Rule{"x-smg-routed-worker-id", kNotToClient},
};
constexpr std::size_t kLongestName = kRules.back().name.size();
static_assert(std::is_sorted(kRules.begin(), kRules.end(), [](const Rule& a, const Rule& b) {
  return a.name.size() < b.name.size();
}));

// kFirst[n] is the first rule whose name has at least n bytes.
constexpr auto kFirst = [] {
  std::array<std::uint8_t, kLongestName + 2> first{};
  for (std::size_t size = 0; size < first.size(); ++size) {
    std::size_t at = 0;
    while (at < kRules.size() && kRules[at].name.size() < size) ++at;
    first[size] = static_cast<std::uint8_t>(at);
  }
  return first;
}();

constexpr std::array kAlwaysEndToEnd = {
    "authorization"sv, "x-api-key"sv, "cookie"sv,      "set-cookie"sv, "cache-control"sv,
    "forwarded"sv,     "x-real-ip"sv, "traceparent"sv, "tracestate"sv, "www-authenticate"sv,
    "retry-after"sv,   "location"sv,  "user-agent"sv,  "vary"sv,       "etag"sv};
constexpr std::array kAlwaysEndToEndPrefixes = {"content-"sv, "accept"sv, "x-forwarded-"sv,
                                                "x-smg-"sv};

}  // namespace

std::uint8_t rules_of(std::string_view name) {
  if (name.size() > kLongestName) return 0;
  for (std::size_t at = kFirst[name.size()]; at < kFirst[name.size() + 1]; ++at) {
    if (equals_folded(kRules[at].name, name)) return kRules[at].rules;
  }
  return 0;
}

bool is_always_end_to_end(std::string_view name) {
  return std::any_of(kAlwaysEndToEnd.begin(), kAlwaysEndToEnd.end(),
                     [name](std::string_view one) { return equals_folded(name, one); }) ||
         std::any_of(kAlwaysEndToEndPrefixes.begin(), kAlwaysEndToEndPrefixes.end(),
                     [name](std::string_view prefix) {
                       return equals_folded(name.substr(0, prefix.size()), prefix);
                     });
}

}  // namespace smg::protocol
