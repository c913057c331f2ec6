// The first byte chooses the kind of body, the rest is the body. Besides memory safety: what is
// accepted is JSON to a reference parser too, and all text that comes out is valid UTF-8.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "smg/protocol/request_facts.hpp"

namespace {

using smg::protocol::BodyKind;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_utf8(std::string_view text) {
  const nlohmann::json value = std::string(text);
  const std::string replaced = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const nlohmann::json again = nlohmann::json::parse(replaced, nullptr, false);
  return again.is_string() && again.get_ref<const std::string&>() == text;
}

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// Documents that the reference parser refuses, or takes, on other grounds than the grammar.
bool comparable(std::string_view body) {
  return body.find('\0') == std::string_view::npos && body.find("\\u") == std::string_view::npos &&
         body.find_first_of("eE") == std::string_view::npos && body.size() < 300 &&
         !body.starts_with("\xEF\xBB\xBF");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr unsigned kinds = static_cast<unsigned>(BodyKind::opaque) + 1;
  const auto kind = static_cast<BodyKind>(data[0] % kinds);
  // Of its exact size on the heap, so that a read past the end is seen.
  const std::string copy(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto exact = std::make_unique<char[]>(copy.size());
  std::copy(copy.begin(), copy.end(), exact.get());
  const std::string_view body(exact.get(), copy.size());

  smg::protocol::FactsScratch scratch;
  smg::protocol::RequestFacts facts;
  const auto error = read_facts(body, {.kind = kind, .want_key = true}, scratch, facts);
  if (comparable(body)) {
    const auto document = nlohmann::json::parse(body, nullptr, false);
    require(document.is_object() == (!error || !error->json));
    if (!error && document.contains("model") && document["model"].is_string()) {
      require(document["model"].get_ref<const std::string&>() == facts.model);
    }
  }
  if (error) {
    require(!error->message.empty());
    return 0;
  }
  require(is_utf8(facts.text));
  require(is_utf8(facts.model));
  require(facts.text.size() <= 2 * body.size());
  require(is_inside(facts.text, body) || is_inside(facts.text, scratch.text));
  require(facts.tokens == nullptr || (!facts.tokens->empty() && facts.text.empty()));

  smg::protocol::RequestFacts brief;
  smg::protocol::FactsScratch other;
  require(!read_facts(body, {.kind = kind, .want_key = false}, other, brief));
  require(brief.model == facts.model && brief.stream == facts.stream);
  return 0;
}
