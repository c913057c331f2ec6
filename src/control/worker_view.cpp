#include "smg/control/worker_view.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace smg::control {

namespace {

using json = nlohmann::ordered_json;

// Foreign text may be no UTF-8: replaced, never thrown at.
std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

double rounded(double value) { return std::round(value * 10'000) / 10'000; }

json row_json(const protocol::LoadRow& row) {
  json out;
  out["dp_rank"] = row.dp_rank;
  out["num_running_reqs"] = row.num_running_reqs;
  out["num_waiting_reqs"] = row.num_waiting_reqs;
  out["num_waiting_uncached_tokens"] = row.num_waiting_uncached_tokens;
  out["num_total_reqs"] = row.num_total_reqs;
  out["num_used_tokens"] = row.num_used_tokens;
  out["max_total_num_tokens"] = row.max_total_num_tokens;
  out["token_usage"] = row.token_usage;
  out["gen_throughput"] = row.gen_throughput;
  out["cache_hit_rate"] = row.cache_hit_rate;
  out["utilization"] = row.utilization;
  out["max_running_requests"] = row.max_running_requests;
  return out;
}

json engine_load_json(const protocol::LoadReport& report) {
  json out;
  if (!report.timestamp.empty()) out["timestamp"] = report.timestamp;
  if (!report.version.empty()) out["version"] = report.version;
  out["dp_rank_count"] = report.rows.size();
  json& rows = out["loads"] = json::array();
  for (const protocol::LoadRow& row : report.rows) rows.push_back(row_json(row));
  return out;
}

json cards_json(const worker::Worker& worker) {
  json out = json::array();
  for (const worker::ModelCard& card : worker.models()) {
    json entry;
    entry["id"] = card.id;
    if (!card.aliases.empty()) entry["aliases"] = card.aliases;
    if (card.context_length) entry["context_length"] = *card.context_length;
    out.push_back(std::move(entry));
  }
  return out;
}

json worker_document(const FleetView& view, const worker::Worker& worker) {
  json out;
  out["id"] = worker.uuid;
  out["model_id"] = worker.model_id();
  out["url"] = worker.url();
  out["models"] = cards_json(worker);
  out["worker_type"] = "regular";
  out["connection_mode"] = "http";
  out["runtime_type"] = worker.runtime();
  std::map<std::string, std::string> labels = worker.discovered.labels;
  for (const auto& [name, value] : worker.spec.labels) labels.insert_or_assign(name, value);
  out["labels"] = labels.empty() ? json::object() : json(labels);
  out["priority"] = worker.spec.priority;
  out["cost"] = worker.spec.cost;
  if (worker.spec.load_monitor_interval) {
    out["load_monitor_interval_secs"] = worker.spec.load_monitor_interval->count();
  }
  const worker::WorkerStatus status = worker.status();
  out["is_healthy"] = status == worker::WorkerStatus::ready;
  out["status"] = worker::to_string(status);
  out["load"] = view.fleet.in_flight(worker.id);
  out["http2"] = false;
  if (const worker::WorkerLoad* load = view.loads.find(worker.id)) {
    out["engine_load"] = engine_load_json(load->report);
  }
  return out;
}

struct Totals {
  std::size_t rows = 0;
  double running = 0;
  double waiting = 0;
  double token_usage = 0;
  double throughput = 0;
  double utilization = 0;

  void add(const protocol::LoadRow& row) {
    ++rows;
    running += static_cast<double>(row.num_running_reqs);
    waiting += static_cast<double>(row.num_waiting_reqs);
    token_usage += row.token_usage;
    throughput += row.gen_throughput;
    utilization += row.utilization;
  }

  json aggregate() const {
    const auto count = static_cast<double>(rows);
    json out;
    out["total_running_reqs"] = static_cast<std::int64_t>(running);
    out["total_waiting_reqs"] = static_cast<std::int64_t>(waiting);
    out["total_reqs"] = static_cast<std::int64_t>(running + waiting);
    out["avg_token_usage"] = rounded(token_usage / count);
    out["avg_throughput"] = rounded(throughput / count);
    out["avg_utilization"] = rounded(utilization / count);
    return out;
  }
};

}  // namespace

bool serves(const worker::Worker& worker, std::string_view model) {
  if (worker.models().empty()) return worker.model_id() == model;
  for (const worker::ModelCard& card : worker.models()) {
    if (card.id == model) return true;
    for (const std::string& alias : card.aliases) {
      if (alias == model) return true;
    }
  }
  return false;
}

std::string worker_json(const FleetView& view, const worker::Worker& worker) {
  return dump(worker_document(view, worker));
}

std::string workers_json(const FleetView& view, std::string_view model) {
  json list = json::array();
  for (const worker::WorkerId id : view.workers.any().workers) {
    const worker::Worker& worker = *view.workers.at(id);
    if (model.empty() || serves(worker, model)) list.push_back(worker_document(view, worker));
  }
  const std::size_t total = list.size();
  json out;
  out["workers"] = std::move(list);
  out["total"] = total;
  json& stats = out["stats"];
  stats["prefill_count"] = 0;
  stats["decode_count"] = 0;
  stats["regular_count"] = total;
  return dump(out);
}

std::string loads_json(const FleetView& view, std::string_view model, std::string_view timestamp) {
  json rows = json::array();
  Totals totals;
  for (const worker::WorkerId id : view.workers.any().workers) {
    const worker::Worker& worker = *view.workers.at(id);
    const worker::WorkerLoad* load = view.loads.find(id);
    if (!load || (!model.empty() && !serves(worker, model))) continue;
    for (const protocol::LoadRow& row : load->report.rows) {
      json entry;
      entry["worker"] = worker.url();
      entry["worker_type"] = "regular";
      entry.update(row_json(row));
      rows.push_back(std::move(entry));
      totals.add(row);
    }
  }
  json out;
  out["timestamp"] = timestamp;
  out["version"] = "smg-" SMG_VERSION;
  out["dp_rank_count"] = totals.rows;
  out["loads"] = std::move(rows);
  if (totals.rows > 0) out["aggregate"] = totals.aggregate();
  return dump(out);
}

std::string models_json(const worker::WorkerSet& workers) {
  std::set<std::string_view> ids;
  for (const worker::WorkerId id : workers.any().workers) {
    for (const worker::ModelCard& card : workers.at(id)->models()) ids.insert(card.id);
  }
  json data = json::array();
  for (const std::string_view id : ids) {
    json entry;
    entry["id"] = id;
    entry["object"] = "model";
    entry["created"] = 0;
    entry["owned_by"] = "self_hosted";
    data.push_back(std::move(entry));
  }
  json out;
  out["object"] = "list";
  out["data"] = std::move(data);
  return dump(out);
}

std::string rfc3339_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();  // wall clock: a date
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(now - whole).count();
  const std::time_t stamp = whole.count();
  std::tm parts{};
  gmtime_r(&stamp, &parts);
  std::array<char, 64> text{};
  const std::size_t date = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + date, text.size() - date, ".%09lld+00:00",
                static_cast<long long>(rest));
  return text.data();
}

}  // namespace smg::control
