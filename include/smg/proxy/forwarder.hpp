// Takes one inference request to a worker and its answer back: facts, choice, attempts, relay.
// One per I/O thread.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "smg/metrics/request_metrics.hpp"
#include "smg/protocol/request_facts.hpp"
#include "smg/proxy/call.hpp"
#include "smg/proxy/options.hpp"
#include "smg/proxy/selector.hpp"
#include "smg/upstream/connector.hpp"

namespace smg::proxy {

// How a route is forwarded: one row of the table of inference routes.
struct Endpoint {
  std::string_view path;
  protocol::BodyKind kind = protocol::BodyKind::opaque;
  metrics::Endpoint label = metrics::Endpoint::other;
};

class Forwarder {
 public:
  struct Parts {
    upstream::Connector& connector;
    Selector& selector;
    metrics::RequestMetrics& metrics;
    metrics::PolicyId policy_id;  // of the selector's policy
  };
  Forwarder(Parts parts, const Options& options);

  // A POST whose body says which model and prompt: routed by the policy.
  awaitable<void> forward(Call& call, const Endpoint& endpoint);
  // A GET that any worker can answer (/get_server_info and the like).
  awaitable<void> forward_any(Call& call, const Endpoint& endpoint);

 private:
  friend class Forwarding;  // one request's state

  Parts parts_;
  const Options& options_;
  protocol::FactsScratch scratch_;
  std::vector<std::uint32_t> hint_;  // token ids of x-smg-routing-tokens
  std::minstd_rand random_;          // back-off jitter
};

}  // namespace smg::proxy
