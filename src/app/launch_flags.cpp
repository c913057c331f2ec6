#include <sched.h>

#include <algorithm>
#include <fstream>

#include "smg/app/cli.hpp"

namespace smg::app {
namespace {

using Values = std::span<const std::string>;
using Problems = std::vector<std::string>;

// One address may be written in several ways: http://a and http://a:80/.
bool same_worker(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port && a.path == b.path;
}

Problems set_worker_urls(Values values, std::vector<Url>& target) {
  Problems problems;
  std::vector<Url> urls;
  for (const auto& value : values) {
    auto url = parse_url(value);
    if (!url) {
      problems.push_back(quoted_value(value) + ": " + url.error().detail);
    } else if (url->tls()) {
      problems.push_back(quoted_value(value) + ": this build cannot reach workers over TLS");
    } else if (std::any_of(urls.begin(), urls.end(),
                           [&](const Url& other) { return same_worker(other, *url); })) {
      problems.push_back(quoted_value(value) + " is given twice");
    } else {
      urls.push_back(std::move(*url));
    }
  }
  if (problems.empty()) target = std::move(urls);
  return problems;
}

Flag worker_urls(Options& out) {
  return {.names = {"--worker-urls"},
          .help = "The workers, http://HOST[:PORT][/PATH]. More can be added while it runs",
          .takes = Flag::Takes::list,
          .value_name = "URL",
          .range = "http URLs, each once",
          .default_text = "",
          .set = [&out](Values values) { return set_worker_urls(values, out.worker_urls); }};
}

Flag api_key(Options& out) {
  Flag flag = text({{"--api-key"}, "Key that clients must send as Bearer token; none: open to all"},
                   kSecret, out.session.api_key);
  flag.set = [&out, set = std::move(flag.set)](Values values) {
    auto problems = set(values);
    out.proxy.api_key = out.session.api_key;
    return problems;
  };
  return flag;
}

Flag worker_api_key_file(Options& out) {
  Flag flag = text({{"--worker-api-key-file"}, "File whose first line is that key"}, kFilePath,
                   out.worker_api_key);
  flag.set = [&out](Values values) -> Problems {
    std::ifstream file(values.back());
    std::string line;
    if (!file || !std::getline(file, line)) {
      return {quoted_value(values.back()) + " cannot be read or is empty"};
    }
    if (line.ends_with('\r')) line.pop_back();
    const std::string problem = kSecret.check(line);
    if (!problem.empty()) return {quoted_value(values.back()) + ": " + problem};
    out.worker_api_key = std::move(line);
    return {};
  };
  return flag;
}

Flag log_level(Options& out) {
  Flag flag{.names = {"--log-level"},
            .help =
                "Least level that is logged; RUST_LOG (info,smg::policies::cache_aware=debug) "
                "takes its place",
            .takes = Flag::Takes::one,
            .value_name = "LEVEL",
            .range = "trace, debug, info, warn, error, off",
            .default_text = "info",
            .set = {}};
  flag.set = [&out, range = flag.range](Values values) -> Problems {
    const auto level = log::parse_level(values.back());
    if (!level) return {quoted_value(values.back()) + " is not one of " + range};
    out.log.level = *level;
    return {};
  };
  return flag;
}

Flag policy_name(Options& out) {
  Flag flag =
      choice({{"--policy"}, "How a worker is chosen"}, policy::policy_names(), out.policy.name);
  flag.set = [range = flag.range, set = std::move(flag.set)](Values values) -> Problems {
    for (const char* name :
         {"power_of_two", "manual", "consistent_hashing", "prefix_hash", "bucket"}) {
      if (values.back() == name && !set(values).empty()) {
        return {values.back() + " is not supported by this build (" + range + ")"};
      }
    }
    return set(values);
  };
  return flag;
}

// A switch of its own that puts one retry attempt in place of many.
Flag disable_retries(Options& out) {
  return {.names = {"--disable-retries"},
          .help = "One attempt only, whatever --retry-max-retries says",
          .takes = Flag::Takes::nothing,
          .value_name = "",
          .range = "",
          .default_text = "off",
          .set = [&out](Values values) {
            bool disabled = false;
            auto problems = toggle({}, disabled).set(values);
            if (disabled) out.proxy.retry.max_attempts = 1;
            return problems;
          }};
}

FlagGroup listening(Options& out) {
  Flag io_threads =
      integer({{"--io-threads"}, "Threads that serve requests"}, {1, 256}, out.io_threads);
  io_threads.default_text = "usable cores, at most 16";
  return {
      "Listening",
      {text({{"--host"}, "Address to listen on"}, kHost, out.host),
       integer({{"--port"}, "Port to listen on"}, kPorts, out.port), api_key(out),
       toggle(
           {{"--admin-open"},
            "Without --api-key: let other hosts than this one call routes that change something"},
           out.session.admin_open),
       integer({{"--max-payload-size"}, "Largest request body, bytes"}, {1, 1ULL << 40U},
               out.session.max_body),
       duration({{"--request-timeout-secs"},
                 "Longest wait for a worker's response head, and for each next piece of its body"},
                kDuration, out.proxy.request_timeout),
       duration({{"--connect-timeout-secs"}, "Longest wait for a connection to a worker"},
                kDuration, out.proxy.connect_timeout),
       duration({{"--shutdown-grace-period-secs"},
                 "After SIGTERM, how long running requests may take to end"},
                kDurationOrZero, out.shutdown_grace),
       text_list({{"--request-id-headers"}, "Request headers that may carry the request's id"},
                 kHeaderName, out.session.request_id_headers),
       std::move(io_threads)}};
}

FlagGroup workers(Options& out) {
  return {"Workers",
          {worker_urls(out),
           text({{"--worker-api-key"}, "Key sent to the workers of --worker-urls; else --api-key"},
                kSecret, out.worker_api_key),
           worker_api_key_file(out),
           toggle({{"--allow-link-local-workers"}, "Accept workers at link-local addresses"},
                  out.allow_link_local_workers),
           toggle({{"--hide-routed-worker"}, "Answer without the header x-smg-routed-worker-id"},
                  out.proxy.hide_routed_worker),
           duration({{"--drain-settle-secs"},
                     "How long a worker that is being removed may take to end its requests"},
                    kDurationOrZero, out.drain_settle)}};
}

FlagGroup routing(Options& out) {
  auto& cache_aware = out.policy.cache_aware;
  return {
      "Routing",
      {policy_name(out),
       real({{"--cache-threshold", "--cache-match-threshold"},
             "Share of a prompt that must be matched for the workers that hold it to be preferred"},
            {0, 1}, cache_aware.cache_threshold),
       integer({{"--balance-abs-threshold", "--spill-abs-threshold"},
                "A worker is hot when it has this many requests more than the mean..."},
               kAnyU32, cache_aware.balance_abs_threshold),
       real({{"--balance-rel-threshold", "--spill-rel-threshold"},
             "... and this many times the mean. A hot worker's requests spill to others"},
            {.min = 1}, cache_aware.balance_rel_threshold),
       integer({{"--eviction-interval", "--eviction-interval-secs"},
                "Seconds between two trimmings of the prefix trees to their budget"},
               kDuration, cache_aware.eviction_interval_s),
       integer({{"--max-tree-size"},
                "Budget of each model's prefix trees: characters of text, token ids"},
               {1, 1'000'000'000'000}, cache_aware.max_tree_size),
       integer({{"--block-size"}, "Token ids that count as one page of an engine's KV cache"},
               {1, 65536}, cache_aware.block_size)}};
}

FlagGroup load(Options& out) {
  auto& scorer = out.policy.least_load;
  return {
      "Load",
      {duration({{"--load-monitor-interval"}, "Seconds between two load reports of a worker"},
                kDuration, out.load_monitor_interval),
       toggle({{"--disable-load-monitoring"}, "Ask for load reports only if the policy reads them"},
              out.disable_load_monitoring),
       real({{"--least-load-kv-pressure-weight"},
             "least_load: seconds of penalty as a KV cache fills"},
            {}, scorer.kv_pressure_weight_s),
       real({{"--least-load-default-throughput"},
             "least_load: tokens/s of a worker that reports none"},
            {.min = 0, .above_min = true}, scorer.default_throughput),
       integer({{"--least-load-mean-prefill-tokens"},
                "least_load: tokens that a waiting request counts when the engine does not say"},
               kCount, scorer.mean_prefill_tokens),
       integer({{"--least-load-max-waiting-requests"},
                "least_load: skip workers with this many waiting requests; 0: no cap"},
               kAnyU32, scorer.max_waiting_requests)}};
}

FlagGroup health(Options& out) {
  auto& probes = out.health;
  return {"Health checks",
          {duration({{"--health-check-interval-secs"}, "Seconds between two probes of a worker"},
                    kDuration, probes.interval),
           duration({{"--health-check-timeout-secs"}, "Longest wait for a probe's answer"},
                    kDuration, probes.timeout),
           integer({{"--health-failure-threshold"}, "Failures in a row that take a worker out"},
                   kCount, probes.failure_threshold),
           integer({{"--health-success-threshold"}, "Good probes in a row that bring it back"},
                   kCount, probes.success_threshold),
           text({{"--health-check-endpoint"}, "Path of the probe"}, kUrlPath, probes.endpoint),
           toggle({{"--disable-health-check"}, "No probes: every worker counts as ready"},
                  probes.disabled),
           toggle({{"--remove-unhealthy-workers", "--worker-auto-recovery"},
                   "Remove a worker for good when it has failed"},
                  out.remove_unhealthy_workers)}};
}

FlagGroup breaker(Options& out) {
  auto& options = out.breaker;
  return {
      "Circuit breaker",
      {integer({{"--cb-failure-threshold"}, "Failures in a row that open a worker's breaker"},
               kCount, options.failure_threshold),
       integer({{"--cb-success-threshold"}, "Successes that close it; trial requests at a time"},
               kCount, options.success_threshold),
       duration({{"--cb-timeout-duration-secs"}, "How long it stays open before trial requests"},
                kDuration, options.timeout),
       duration({{"--cb-window-duration-secs"}, "The failures must fall within this time"},
                kDuration, options.window),
       toggle({{"--disable-circuit-breaker"}, "Never open a breaker"}, options.disabled)}};
}

FlagGroup retry(Options& out) {
  auto& options = out.proxy.retry;
  return {
      "Retry",
      {integer({{"--retry-max-retries"}, "Attempts in all; 1: no retry"}, kCount,
               options.max_attempts),
       duration({{"--retry-initial-backoff-ms"}, "First wait once every worker was tried"},
                kDuration, options.initial_backoff),
       duration({{"--retry-max-backoff-ms"}, "Longest such wait"}, kDuration, options.max_backoff),
       real({{"--retry-backoff-multiplier"}, "Growth of the wait from one to the next"}, {.min = 1},
            options.backoff_multiplier),
       real({{"--retry-jitter-factor"}, "Random part of the wait"}, {0, 1}, options.jitter_factor),
       disable_retries(out)}};
}

FlagGroup observing(Options& out) {
  return {"Metrics and logs",
          {text({{"--prometheus-host"}, "Address of the metrics page"}, kHost, out.prometheus_host),
           integer({{"--prometheus-port"}, "Port of the metrics page, /metrics"}, kPorts,
                   out.prometheus_port),
           log_level(out), toggle({{"--log-json"}, "Log JSON, one object a line"}, out.log.json),
           text({{"--log-dir"}, "Also log to files in this directory, one a day"}, kFilePath,
                out.log.directory)}};
}

}  // namespace

std::uint32_t default_io_threads() {
  // Not hardware_concurrency(): it also counts processors this process may not run on.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<std::uint32_t>(std::clamp(CPU_COUNT(&allowed), 1, 16));
}

FlagTable launch_flags(Options& out) {
  return {listening(out), workers(out), routing(out), load(out),
          health(out),    breaker(out), retry(out),   observing(out)};
}

}  // namespace smg::app
