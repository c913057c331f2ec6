// A routing policy: a pure decision, callable from any I/O thread at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "smg/base/clock.hpp"
#include "smg/worker/fleet.hpp"
#include "smg/worker/load_table.hpp"
#include "smg/worker/registry.hpp"

namespace smg::policy {

using worker::WorkerId;

// A view; lives in the session's frame. Policies never read a clock.
struct RoutingRequest {
  std::string_view model;                 // canonical id, "unknown" when any worker will do
  std::string_view text;                  // valid UTF-8
  std::span<const std::uint32_t> tokens;  // non-empty: they win over text
  std::uint64_t partition = 0;            // cache namespace, 0 = none
  std::uint64_t estimated_tokens = 0;     // of the prompt: ids, else text bytes / 4
  TimePoint now{};
};

// The eligible workers, in registration order, and what is known of them.
struct Candidates {
  std::span<const WorkerId> eligible;  // not empty
  const worker::WorkerSet& workers;
  worker::Fleet& fleet;
  const worker::LoadTable& loads;
};

struct Selection {
  WorkerId worker = worker::kNoWorker;
};

class Policy {
 public:
  virtual ~Policy() = default;

  // The command-line name.
  virtual std::string_view name() const noexcept = 0;
  // Whether select() looks at text and tokens.
  virtual bool wants_key() const noexcept { return false; }
  // Whether select() reads load reports.
  virtual bool wants_loads() const noexcept { return false; }

  // None: no worker may serve this request now (answered 503).
  virtual std::optional<Selection> select(const RoutingRequest& request,
                                          const Candidates& candidates) noexcept = 0;

  virtual void on_worker_removed(WorkerId) noexcept {}
};

}  // namespace smg::policy
