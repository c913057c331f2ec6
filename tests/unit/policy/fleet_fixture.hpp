// A fleet of ready workers of one model, ids 0, 1, 2 ... in registration order.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "smg/policy/policy.hpp"
#include "smg/policy/random_engine.hpp"

namespace smg::policy {

class FleetFixture : public ::testing::Test {
 protected:
  FleetFixture() { thread_random() = RandomEngine(2024); }

  void add_workers(std::size_t count, const std::string& model = "m") {
    for (std::size_t i = 0; i < count; ++i) {
      worker::WorkerSpec spec;
      spec.url.text = "http://w" + std::to_string(eligible_.size());
      spec.models.push_back({model, {}, std::nullopt});
      const auto added = registry_.add(std::move(spec));
      ASSERT_TRUE(added.has_value());
      registry_.set_status((*added)->id, worker::WorkerStatus::ready);
      eligible_.push_back((*added)->id);
    }
    workers_ = registry_.workers().load();
  }

  // Candidates of the whole fleet, or of some of it. Valid until the next call.
  Candidates candidates() { return candidates(eligible_); }
  Candidates candidates(std::vector<WorkerId> ids) {
    some_ = std::move(ids);
    loads_ = table_.load();
    return {some_, *workers_, fleet_, *loads_};
  }

  void set_load(WorkerId id, std::uint32_t load) {
    while (fleet_.in_flight(id) < load) fleet_.begin_request(id);
    while (fleet_.in_flight(id) > load) fleet_.end_request(id);
  }

  void report(WorkerId id, const protocol::LoadRow& row) {
    history_.record(id, protocol::LoadReport{{}, {}, {row}}, fleet_, now_);
  }

  static protocol::LoadRow row(double throughput, double usage, std::int64_t waiting = 0,
                               std::int64_t waiting_tokens = 0) {
    protocol::LoadRow made;
    made.gen_throughput = throughput;
    made.token_usage = usage;
    made.num_waiting_reqs = waiting;
    made.num_waiting_uncached_tokens = waiting_tokens;
    return made;
  }

  RoutingRequest text_request(std::string_view text) const {
    RoutingRequest request;
    request.model = "m";
    request.text = text;
    request.estimated_tokens = text.size() / 4;
    request.now = now_;
    return request;
  }

  const TimePoint now_{std::chrono::hours(1)};
  worker::Fleet fleet_;
  worker::Registry registry_{fleet_, {}};
  Snapshot<worker::LoadTable> table_{std::make_shared<const worker::LoadTable>()};
  worker::LoadHistory history_{table_};
  std::vector<WorkerId> eligible_;

 private:
  std::vector<WorkerId> some_;
  std::shared_ptr<const worker::WorkerSet> workers_;
  std::shared_ptr<const worker::LoadTable> loads_;
};

}  // namespace smg::policy
