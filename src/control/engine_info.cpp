#include "smg/control/engine_info.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace smg::control {

namespace {

using nlohmann::json;
using Labels = std::map<std::string, std::string>;

json parse_object(const EngineAnswer& answer) {
  if (!answer.ok()) return {};
  json document = json::parse(answer.body, nullptr, false);
  return document.is_object() ? document : json{};
}

const json* member(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool usable_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

std::string name_member(const json& object, std::string_view name) {
  const json* value = member(object, name);
  if (!value || !value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  return usable_name(text) ? text : std::string{};
}

std::optional<std::uint64_t> positive_member(const json& object, std::string_view name) {
  const json* value = member(object, name);
  if (!value || !value->is_number_integer() || value->get<std::int64_t>() <= 0) return {};
  return value->get<std::uint64_t>();
}

// The entries of /v1/models as cards.
std::vector<worker::ModelCard> read_cards(const json& models) {
  std::vector<worker::ModelCard> cards;
  const json* data = member(models, "data");
  if (!data || !data->is_array()) return cards;
  for (const json& entry : *data) {
    if (cards.size() == kMaxModels) break;
    worker::ModelCard card;
    card.id = name_member(entry, "id");
    const bool known = std::any_of(cards.begin(), cards.end(),
                                   [&](const auto& other) { return other.id == card.id; });
    if (card.id.empty() || known) continue;
    card.context_length = positive_member(entry, "max_model_len");
    if (const json* meta = member(entry, "meta"); meta && !card.context_length) {
      card.context_length = positive_member(*meta, "n_ctx");
    }
    const json* aliases = member(entry, "aliases");
    if (aliases && aliases->is_array()) {
      for (const json& alias : *aliases) {
        if (card.aliases.size() == kMaxModels) break;
        if (!alias.is_string() || !usable_name(alias.get_ref<const std::string&>())) continue;
        card.aliases.push_back(alias.get<std::string>());
      }
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

std::string read_runtime(const json& models, const json& version, const json& server_info) {
  const json* data = member(models, "data");
  if (data && data->is_array() && !data->empty()) {
    std::string owner = name_member(data->front(), "owned_by");
    if (owner == "sglang" || owner == "nvidia") return "sglang";
    if (owner == "vllm" || owner == "llamacpp") return owner;
  }
  if (version.is_object()) return "vllm";
  if (server_info.is_object()) return "sglang";
  return "generic";
}

// Empty: not worth a label.
std::string label_text(const json& value) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return text == "null" || text.size() > kMaxNameLength ? std::string{} : text;
  }
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) {
    return value == 0 ? std::string{} : value.dump();
  }
  if (value.is_array() && !value.empty() && value.size() <= 16 &&
      std::all_of(value.begin(), value.end(), [](const json& e) { return e.is_primitive(); })) {
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() > kMaxNameLength ? std::string{} : text;
  }
  return {};
}

void copy_label(Labels& labels, const json& object, std::string_view from, const char* to) {
  const json* value = member(object, from);
  if (!value) return;
  std::string text = label_text(*value);
  if (!text.empty()) labels.try_emplace(to, std::move(text));
}

constexpr std::array kServerInfoLabels = {"model_id",
                                          "model_path",
                                          "served_model_name",
                                          "tp_size",
                                          "dp_size",
                                          "pp_size",
                                          "load_balance_method",
                                          "disaggregation_mode",
                                          "version",
                                          "is_embedding",
                                          "context_length",
                                          "max_total_tokens",
                                          "max_running_requests",
                                          "weight_version"};
constexpr std::array kModelInfoLabels = {"model_path",
                                         "tokenizer_path",
                                         "is_generation",
                                         "has_image_understanding",
                                         "has_audio_understanding",
                                         "model_type",
                                         "architectures"};

Labels read_labels(const EngineAnswers& answers, std::string_view runtime, const json& models) {
  Labels labels;
  if (runtime == "vllm") {
    copy_label(labels, parse_object(answers.version), "version", "version");
  } else {
    const json server_info = parse_object(answers.server_info);
    for (const char* name : kServerInfoLabels) copy_label(labels, server_info, name, name);
    copy_label(labels, server_info, "model", "model_id");
    const json model_info = parse_object(answers.model_info);
    for (const char* name : kModelInfoLabels) copy_label(labels, model_info, name, name);
  }
  const json* data = member(models, "data");
  if (data && data->is_array() && !data->empty()) {
    for (const auto& [from, to] : {std::pair("id", "served_model_name"), {"root", "model_path"}}) {
      std::string name = name_member(data->front(), from);
      if (!name.empty()) labels.try_emplace(to, std::move(name));
    }
    copy_label(labels, data->front(), "max_model_len", "max_model_len");
  }
  return labels;
}

// The value of the first label of `names` that is there: the spec's own over the engine's.
std::string first_label(const Labels& spec, const Labels& engine,
                        std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const Labels* labels : {&spec, &engine}) {
      const auto found = labels->find(name);
      // An engine's list of names is no name.
      if (found != labels->end() && usable_name(found->second) && found->second[0] != '[') {
        return found->second;
      }
    }
  }
  return {};
}

std::optional<std::uint64_t> context_length(const Labels& spec, const Labels& engine) {
  const std::string text = first_label(
      spec, engine,
      {"context_length", "max_context_length", "max_model_len", "max_total_tokens", "max_seq_len"});
  if (text.empty() || text.size() > 18) return {};
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return {};
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool unanswered(const EngineAnswers& answers) {
  for (const EngineAnswer* answer :
       {&answers.models, &answers.version, &answers.server_info, &answers.model_info}) {
    if (answer->status == 0 || (answer->status >= 500 && answer->status != 501)) return true;
  }
  return false;
}

}  // namespace

worker::Discovered describe_engine(const EngineAnswers& answers, const worker::WorkerSpec& spec,
                                   const worker::Discovered& before) {
  const json models = parse_object(answers.models);
  worker::Discovered found;
  found.runtime = spec.runtime.empty() ? read_runtime(models, parse_object(answers.version),
                                                      parse_object(answers.server_info))
                                       : spec.runtime;
  if (found.runtime == "generic" && !before.runtime.empty()) found.runtime = before.runtime;
  found.labels = read_labels(answers, found.runtime, models);
  found.models = read_cards(models);
  if (!answers.models.ok() && found.models.empty()) found.models = before.models;
  if (unanswered(answers)) {
    for (const auto& [name, value] : before.labels) found.labels.try_emplace(name, value);
  }

  const std::string primary =
      first_label(spec.labels, found.labels, {"served_model_name", "model_id", "model_path"});
  if (primary.empty()) return found;
  auto& cards = found.models;
  auto place = std::find_if(cards.begin(), cards.end(),
                            [&](const auto& card) { return card.id == primary; });
  if (place == cards.end()) {
    worker::ModelCard card;
    card.id = primary;
    cards.insert(cards.begin(), std::move(card));
  } else {
    std::rotate(cards.begin(), place, place + 1);
  }
  if (const auto length = context_length(spec.labels, found.labels)) {
    cards.front().context_length = length;
  }
  return found;
}

bool questions_open(const EngineAnswers& answers, const worker::WorkerSpec& spec) {
  if (unanswered(answers)) return true;
  return spec.models.empty() && describe_engine(answers, spec, {}).models.empty();
}

}  // namespace smg::control
