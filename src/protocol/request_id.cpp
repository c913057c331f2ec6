#include <array>
#include <cstdint>
#include <random>

#include "char_class.hpp"
#include "smg/protocol/header_rules.hpp"

namespace smg::protocol {
namespace {

constexpr std::size_t kMaxRequestId = 128;
constexpr int kGeneratedCharacters = 24;

bool is_request_id(std::string_view value) {
  if (value.empty() || value.size() > kMaxRequestId) return false;
  for (const char c : value) {
    if (c < 0x21 || c > 0x7e) return false;
  }
  return true;
}

std::string_view prefix_of(std::string_view path) {
  struct Prefix {
    std::string_view path_end;
    std::string_view prefix;
  };
  static constexpr std::array<Prefix, 5> prefixes = {{{"/chat/completions", "chatcmpl-"},
                                                      {"/completions", "cmpl-"},
                                                      {"/generate", "gnt-"},
                                                      {"/responses", "resp-"},
                                                      {"/messages", "msg_"}}};
  for (const Prefix& one : prefixes) {
    if (path.ends_with(one.path_end)) return one.prefix;
  }
  return "req-";
}

std::mt19937_64 make_generator() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

}  // namespace

std::optional<std::string_view> accepted_request_id(const RequestHead& request,
                                                    const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string_view value = request.field(name);
    if (is_request_id(value)) return value;
  }
  return std::nullopt;
}

void append_generated_request_id(std::string& out, std::string_view path) {
  static constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  thread_local std::mt19937_64 generator = make_generator();
  out.append(prefix_of(path));
  int missing = kGeneratedCharacters;
  while (missing > 0) {
    // Ten times six bits of a number; the two values without a character are skipped.
    std::uint64_t bits = generator();
    for (int i = 0; i < 10 && missing > 0; ++i, bits >>= 6) {
      const std::size_t at = bits & 63;
      if (at >= alphabet.size()) continue;
      out.push_back(alphabet[at]);
      --missing;
    }
  }
}

}  // namespace smg::protocol
