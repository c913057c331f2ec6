#include "smg/protocol/request_facts.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "routing_text.hpp"
#include "smg/protocol/json_scanner.hpp"
#include "text_joiner.hpp"

namespace smg::protocol {
namespace {

struct TextField {
  BodyKind kind;
  std::string_view key;
  TextShape shape;
};

// The first of a kind's fields that has text wins; Anthropic's two are joined.
constexpr TextField text_fields[] = {
    {BodyKind::chat, "messages", TextShape::chat_messages},
    {BodyKind::completions, "prompt", TextShape::strings},
    {BodyKind::generate, "text", TextShape::strings},
    {BodyKind::messages, "system", TextShape::blocks},
    {BodyKind::messages, "messages", TextShape::anthropic_messages},
    {BodyKind::responses, "input", TextShape::response_items},
    {BodyKind::input, "input", TextShape::strings},
    {BodyKind::rerank, "query", TextShape::string},
    {BodyKind::score, "text_1", TextShape::strings},
    {BodyKind::score, "query", TextShape::strings},
    {BodyKind::score, "text", TextShape::strings},
    {BodyKind::tokenize, "messages", TextShape::chat_messages},
    {BodyKind::tokenize, "prompt", TextShape::strings},
    {BodyKind::tokenize, "text", TextShape::strings},
};
constexpr std::size_t max_fields = 3;  // of one kind

enum class ModelState : std::uint8_t { unset, name, wrong_type };

class FactsReader {
 public:
  FactsReader(std::string_view body, const FactsOptions& options, FactsScratch& scratch)
      : scanner_(body), joiner_(scratch.text, body.size()), options_(options), scratch_(scratch) {
    scratch.tokens.clear();
  }

  std::optional<FactsError> read(RequestFacts& out) {
    if (scanner_.kind() != JsonKind::object) return not_an_object();
    scanner_.enter();
    JsonString key;
    while (scanner_.next_key(key)) read_member(key);
    if (!scanner_.finish()) return not_json();
    if (model_state_ == ModelState::wrong_type) {
      return FactsError{.json = false, .field = "model", .message = "'model' must be a string"};
    }
    if (model_state_ == ModelState::name) out.model = unescaped(model_, scratch_.model);
    out.stream = stream_;
    if (!scratch_.tokens.empty()) {
      out.tokens = &scratch_.tokens;
    } else {
      out.text = text();
    }
    return std::nullopt;
  }

 private:
  FactsError not_json() const {
    return {.json = true,
            .field = {},
            .message = std::string("body is not valid JSON: ") + scanner_.reason() + " at byte " +
                       std::to_string(scanner_.error_offset())};
  }

  FactsError not_an_object() const {
    if (scanner_.failed()) return not_json();
    return {.json = true, .field = {}, .message = "body must be a JSON object"};
  }

  void read_member(const JsonString& key) {
    if (equals(key, "model")) {
      read_model();
    } else if (equals(key, "stream")) {
      stream_ = scanner_.kind() == JsonKind::true_literal;
      scanner_.skip_value();
    } else if (!options_.want_key || !read_key_member(key)) {
      scanner_.skip_value();
    }
  }

  void read_model() {
    const JsonKind kind = scanner_.kind();
    if (kind == JsonKind::string) {
      model_state_ = ModelState::name;
      scanner_.read_string(model_);
      return;
    }
    model_state_ = kind == JsonKind::null_literal ? ModelState::unset : ModelState::wrong_type;
    scanner_.skip_value();
  }

  // False if the member has no part in the routing key; it is not consumed then.
  bool read_key_member(const JsonString& key) {
    std::size_t slot = 0;
    for (const TextField& field : text_fields) {
      if (field.kind != options_.kind) continue;
      if (equals(key, field.key)) {
        joiner_.open();
        read_text(scanner_, field.shape, joiner_);
        sections_[slot] = joiner_.close();
        return true;
      }
      ++slot;
    }
    if (options_.kind != BodyKind::generate || !equals(key, "input_ids")) return false;
    read_input_ids();
    return true;
  }

  // A list of ids, or a list of lists of which the first counts.
  void read_input_ids() {
    scratch_.tokens.clear();
    if (scanner_.kind() != JsonKind::array) {
      scanner_.skip_value();
      return;
    }
    scanner_.enter();
    bool nested = false;
    bool valid = true;
    for (bool first = true; scanner_.next_element(); first = false) {
      if (first && scanner_.kind() == JsonKind::array) {
        nested = true;
        scanner_.enter();
        while (scanner_.next_element()) valid = read_id() && valid;
      } else if (nested) {
        scanner_.skip_value();
      } else {
        valid = read_id() && valid;
      }
    }
    if (!valid) scratch_.tokens.clear();
  }

  bool read_id() {
    JsonNumber number;
    if (scanner_.kind() != JsonKind::number) {
      scanner_.skip_value();
      return false;
    }
    if (!scanner_.read_number(number) || !number.integer ||
        number.value < std::numeric_limits<std::int32_t>::min() ||
        number.value > std::numeric_limits<std::uint32_t>::max()) {
      return false;
    }
    scratch_.tokens.push_back(static_cast<std::uint32_t>(number.value));
    return true;
  }

  std::string_view text() {
    if (options_.kind == BodyKind::messages) return joiner_.joined(sections_[0], sections_[1]);
    for (const auto& section : sections_) {
      const std::string_view text = joiner_.text(section);
      if (!text.empty()) return text;
    }
    return {};
  }

  JsonScanner scanner_;
  TextJoiner joiner_;
  const FactsOptions& options_;
  FactsScratch& scratch_;
  JsonString model_;
  ModelState model_state_ = ModelState::unset;
  bool stream_ = false;
  std::array<TextJoiner::Section, max_fields> sections_{};
};

}  // namespace

std::optional<FactsError> read_facts(std::string_view body, const FactsOptions& options,
                                     FactsScratch& scratch, RequestFacts& out) {
  out = {};
  return FactsReader(body, options, scratch).read(out);
}

bool parse_routing_tokens(std::string_view value, std::vector<std::uint32_t>& out) {
  constexpr std::size_t max_bytes = 4096;
  constexpr std::size_t max_tokens = 512;
  out.clear();
  if (value.empty() || value.size() > max_bytes) return false;
  const char* p = value.data();
  const char* const end = p + value.size();
  for (;;) {
    std::uint32_t token = 0;
    const auto [stop, error] = std::from_chars(p, end, token);  // digits only: no sign, no blank
    const bool last = stop == end;
    if (error != std::errc{} || (!last && *stop != ',') || out.size() == max_tokens) {
      out.clear();
      return false;
    }
    out.push_back(token);
    if (last) return true;
    p = stop + 1;
  }
}

}  // namespace smg::protocol
