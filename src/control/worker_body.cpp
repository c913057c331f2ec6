#include "smg/control/worker_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "field_reader.hpp"
#include "smg/control/engine_info.hpp"

namespace smg::control {

namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr std::uint64_t kDay = 86'400;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxLabels = 128;

constexpr std::array<std::string_view, 8> kRuntimes = {
    "unspecified", "sglang", "vllm", "trtllm", "llamacpp", "mlx", "tokenspeed", "generic"};

// What GET shows of a worker and nobody sets.
constexpr std::array<std::string_view, 7> kReadOnly = {"id",   "model_id", "is_healthy", "status",
                                                       "load", "http2",    "engine_load"};

Error fault_error(std::string sentence) {
  return {Errc::invalid_argument, Side::downstream, Retry::never, std::move(sentence)};
}

bool visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

bool usable_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameLength &&
         std::none_of(name.begin(), name.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

void read_api_key(FieldReader& reader, std::string& key) {
  const auto text = reader.text("api_key", kMaxText);
  if (!text) return;
  // It becomes a header field.
  if (!visible_ascii(*text)) {
    reader.fail("api_key", "must be visible ASCII characters without spaces");
    return;
  }
  key = *text;
}

void read_priority_and_cost(FieldReader& reader, worker::WorkerSpec& spec) {
  if (const auto priority =
          reader.integer("priority", 0, std::numeric_limits<std::uint32_t>::max())) {
    spec.priority = static_cast<std::uint32_t>(*priority);
  }
  if (const auto cost = reader.number("cost")) {
    if (std::isfinite(*cost) && *cost >= 0) {
      spec.cost = *cost;
    } else {
      reader.fail("cost", "must be a number of at least 0");
    }
  }
}

// Null values remove a label when `merge`, else they are faults.
void read_labels(FieldReader& reader, std::map<std::string, std::string>& labels, bool merge) {
  const json* object = reader.object("labels");
  if (!object) return;
  for (const auto& [name, value] : object->items()) {
    if (value.is_null() && merge) {
      labels.erase(name);
    } else if (value.is_string() && usable_name(name) &&
               value.get_ref<const std::string&>().size() <= kMaxText) {
      labels.insert_or_assign(name, value.get<std::string>());
    } else {
      reader.fail("labels",
                  "must map names to strings of at most " + std::to_string(kMaxText) + " bytes");
      return;
    }
  }
  if (labels.size() > kMaxLabels) {
    reader.fail("labels", "must have at most " + std::to_string(kMaxLabels) + " entries");
  }
}

void read_aliases(FieldReader& card_reader, worker::ModelCard& card) {
  const json* aliases = card_reader.find("aliases");
  if (!aliases) return;
  const bool usable =
      aliases->is_array() && aliases->size() <= kMaxModels &&
      std::all_of(aliases->begin(), aliases->end(), [](const json& alias) {
        return alias.is_string() && usable_name(alias.get_ref<const std::string&>());
      });
  if (!usable) {
    card_reader.fail("aliases", "must be a list of names");
    return;
  }
  for (const json& alias : *aliases) card.aliases.push_back(alias.get<std::string>());
}

void read_models(FieldReader& reader, worker::WorkerSpec& spec, std::string& fault) {
  const json* models = reader.find("models");
  if (!models) return;
  if (!models->is_array() || models->size() > kMaxModels) {
    reader.fail("models",
                "must be a list of at most " + std::to_string(kMaxModels) + " objects with an id");
    return;
  }
  for (const json& entry : *models) {
    if (!entry.is_object()) {
      reader.fail("models", "must be a list of objects with an id");
      return;
    }
    FieldReader card_reader(entry, "models[].", fault);
    worker::ModelCard card;
    card.id = card_reader.text("id", kMaxNameLength).value_or("");
    if (!usable_name(card.id)) {
      card_reader.fail("id", "must be a name of 1 to " + std::to_string(kMaxNameLength) +
                                 " bytes without control characters");
    }
    card.context_length =
        card_reader.integer("context_length", 1, std::numeric_limits<std::int64_t>::max());
    read_aliases(card_reader, card);
    spec.models.push_back(std::move(card));
  }
}

// The part of `health` that is not the worker's own setting of probes.
void read_health(FieldReader& reader, WorkerRequest& request, const Options& defaults,
                 std::string& fault) {
  const json* object = reader.object("health");
  if (!object) return;
  FieldReader health(*object, "health.", fault);
  worker::HealthOptions options = request.spec.health.value_or(defaults.health);
  if (const auto v = health.integer("timeout_secs", 1, 3600)) {
    options.timeout = seconds(*v);
  }
  if (const auto v = health.integer("check_interval_secs", 1, kDay)) {
    options.interval = seconds(*v);
  }
  if (const auto v = health.integer("success_threshold", 1, 1000)) {
    options.success_threshold = static_cast<std::uint32_t>(*v);
  }
  if (const auto v = health.integer("failure_threshold", 1, 1000)) {
    options.failure_threshold = static_cast<std::uint32_t>(*v);
  }
  if (const auto v = health.boolean("disable_health_check")) options.disabled = *v;
  if (const auto v = health.integer("drain_settle_secs", 0, kDay)) {
    request.drain_settle = seconds(*v);
  }
  health.list_unknown(request.ignored);
  request.spec.health = options;
}

void read_resilience(FieldReader& reader, WorkerRequest& request, const Options& defaults,
                     std::string& fault) {
  const json* object = reader.object("resilience");
  if (!object) return;
  FieldReader resilience(*object, "resilience.", fault);
  worker::BreakerOptions options = defaults.breaker;
  if (const auto v = resilience.integer("cb_failure_threshold", 1, 1'000'000)) {
    options.failure_threshold = static_cast<std::uint32_t>(*v);
  }
  if (const auto v = resilience.integer("cb_success_threshold", 1, 1'000'000)) {
    options.success_threshold = static_cast<std::uint32_t>(*v);
  }
  if (const auto v = resilience.integer("cb_timeout_secs", 1, kDay)) options.timeout = seconds(*v);
  if (const auto v = resilience.integer("cb_window_secs", 1, kDay)) options.window = seconds(*v);
  if (const auto v = resilience.boolean("disable_circuit_breaker")) options.disabled = *v;
  resilience.list_unknown(request.ignored);
  request.spec.breaker = options;
}

void read_overload(FieldReader& reader, WorkerRequest& request, std::string& fault) {
  const json* object = reader.object("overload");
  if (!object) return;
  FieldReader overload(*object, "overload.", fault);
  request.overload.waiting_requests =
      overload.integer("waiting_requests", 1, std::numeric_limits<std::uint32_t>::max());
  const auto usage = overload.number("token_usage");
  if (usage && (!(*usage > 0) || *usage > 1)) {
    overload.fail("token_usage", "must be a number above 0 and at most 1");
  }
  request.overload.token_usage = usage;
  overload.list_unknown(request.ignored);
}

void read_url(FieldReader& reader, worker::WorkerSpec& spec, const Options& defaults) {
  const auto text = reader.text("url", kMaxText);
  if (!text) {
    reader.fail("url", "is required: the worker's address, http://host:port or https://host:port");
    return;
  }
  Result<Url> url = parse_url(*text);
  if (!url) {
    reader.fail("url", "is not a worker's address: " + url.error().detail);
  } else if (is_link_local(*url) && !defaults.allow_link_local) {
    reader.fail("url", "is a link-local address; --allow-link-local-workers permits those");
  } else {
    spec.url = std::move(*url);
  }
}

// Fields with one value that we serve.
void read_kind(FieldReader& reader, worker::WorkerSpec& spec) {
  const auto type = reader.text("worker_type", kMaxText);
  if (type && *type != "regular") reader.fail("worker_type", "must be \"regular\"");
  const auto mode = reader.text("connection_mode", kMaxText);
  if (mode && *mode != "http") reader.fail("connection_mode", "must be \"http\"");
  for (const char* name : {"runtime_type", "runtime"}) {
    const auto runtime = reader.text(name, kMaxText);
    if (!runtime) continue;
    if (std::find(kRuntimes.begin(), kRuntimes.end(), *runtime) == kRuntimes.end()) {
      reader.fail(name,
                  "must be one of unspecified, sglang, vllm, trtllm, llamacpp, mlx, tokenspeed, "
                  "generic");
    } else if (*runtime != "unspecified") {
      spec.runtime = *runtime;
    }
  }
}

json parse_object(std::string_view body, std::string& fault) {
  json document = json::parse(body, nullptr, false);
  if (document.is_discarded()) {
    fault = "the body is not valid JSON";
  } else if (!document.is_object()) {
    fault = "the body must be a JSON object";
  }
  return document;
}

}  // namespace

Result<WorkerRequest> parse_worker_request(std::string_view body, const Options& defaults) {
  std::string fault;
  const json document = parse_object(body, fault);
  if (!fault.empty()) return fault_error(std::move(fault));
  WorkerRequest request;
  FieldReader reader(document, "", fault);
  for (const std::string_view name : kReadOnly) reader.find(name);
  read_url(reader, request.spec, defaults);
  read_kind(reader, request.spec);
  read_models(reader, request.spec, fault);
  read_labels(reader, request.spec.labels, false);
  read_priority_and_cost(reader, request.spec);
  read_api_key(reader, request.spec.api_key);
  read_health(reader, request, defaults, fault);
  read_resilience(reader, request, defaults, fault);
  read_overload(reader, request, fault);
  if (const auto interval = reader.integer("load_monitor_interval_secs", 1, kDay)) {
    request.spec.load_monitor_interval = seconds(*interval);
  }
  if (!fault.empty()) return fault_error(std::move(fault));
  reader.list_unknown(request.ignored);
  return request;
}

Result<WorkerRequest> patch_worker_request(std::string_view body, WorkerRequest current,
                                           const Options& defaults) {
  std::string fault;
  const json document = parse_object(body, fault);
  if (!fault.empty()) return fault_error(std::move(fault));
  current.ignored.clear();
  FieldReader reader(document, "", fault);
  for (const char* name : {"url", "worker_type", "connection_mode", "runtime_type", "runtime",
                           "models", "resilience", "overload", "load_monitor_interval_secs"}) {
    if (reader.find(name)) {
      reader.fail(name,
                  "cannot be patched; priority, cost, labels, api_key and health can, PUT replaces "
                  "the rest");
    }
  }
  for (const std::string_view name : kReadOnly) reader.find(name);
  read_priority_and_cost(reader, current.spec);
  read_labels(reader, current.spec.labels, true);
  read_api_key(reader, current.spec.api_key);
  read_health(reader, current, defaults, fault);
  if (!fault.empty()) return fault_error(std::move(fault));
  reader.list_unknown(current.ignored);
  return current;
}

}  // namespace smg::control
