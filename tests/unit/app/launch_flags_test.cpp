#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>

#include "smg/app/cli.hpp"

namespace smg::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using Args = std::vector<std::string>;

LaunchSettings read(const Args& args, std::map<std::string, std::string> variables = {}) {
  return read_launch(
      args,
      [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
      });
}

Options good(const Args& args) {
  const auto settings = read(args);
  EXPECT_THAT(settings.result.errors, IsEmpty());
  return settings.options;
}

std::vector<std::string> errors(const Args& args) { return read(args).result.errors; }

TEST(LaunchDefaults, ListeningAndWorkers) {
  const Options options = good({});
  EXPECT_EQ(options.host, "0.0.0.0");
  EXPECT_EQ(options.port, 30000);
  EXPECT_THAT(options.worker_urls, IsEmpty());
  EXPECT_EQ(options.session.api_key, "");
  EXPECT_EQ(options.proxy.api_key, "");
  EXPECT_EQ(options.worker_api_key, "");
  EXPECT_FALSE(options.session.admin_open);
  EXPECT_FALSE(options.allow_link_local_workers);
  EXPECT_FALSE(options.proxy.hide_routed_worker);
  EXPECT_EQ(options.session.max_body, 536870912U);
  EXPECT_EQ(options.proxy.request_timeout, 1800s);
  EXPECT_EQ(options.proxy.connect_timeout, 10s);
  EXPECT_EQ(options.shutdown_grace, 180s);
  EXPECT_EQ(options.drain_settle, 5s);
  EXPECT_THAT(options.session.request_id_headers,
              ElementsAre("x-request-id", "x-correlation-id", "x-trace-id", "request-id"));
  EXPECT_GE(options.io_threads, 1U);
  EXPECT_LE(options.io_threads, 16U);
}

TEST(LaunchDefaults, RoutingAndLoad) {
  const Options options = good({});
  EXPECT_EQ(options.policy.name, "cache_aware");
  EXPECT_FLOAT_EQ(options.policy.cache_aware.cache_threshold, 0.3F);
  EXPECT_EQ(options.policy.cache_aware.balance_abs_threshold, 64U);
  EXPECT_DOUBLE_EQ(options.policy.cache_aware.balance_rel_threshold, 1.5);
  EXPECT_EQ(options.policy.cache_aware.eviction_interval_s, 120U);
  EXPECT_EQ(options.policy.cache_aware.max_tree_size, 67108864U);
  EXPECT_EQ(options.policy.cache_aware.block_size, 16U);
  EXPECT_EQ(options.load_monitor_interval, 10s);
  EXPECT_FALSE(options.disable_load_monitoring);
  EXPECT_DOUBLE_EQ(options.policy.least_load.kv_pressure_weight_s, 0.15);
  EXPECT_DOUBLE_EQ(options.policy.least_load.default_throughput, 2000);
  EXPECT_EQ(options.policy.least_load.mean_prefill_tokens, 1024U);
  EXPECT_EQ(options.policy.least_load.max_waiting_requests, 0U);
}

TEST(LaunchDefaults, ResilienceAndObserving) {
  const Options options = good({});
  EXPECT_EQ(options.health.interval, 60s);
  EXPECT_EQ(options.health.timeout, 5s);
  EXPECT_EQ(options.health.failure_threshold, 3U);
  EXPECT_EQ(options.health.success_threshold, 2U);
  EXPECT_EQ(options.health.endpoint, "/health");
  EXPECT_FALSE(options.health.disabled);
  EXPECT_FALSE(options.remove_unhealthy_workers);
  EXPECT_EQ(options.breaker.failure_threshold, 10U);
  EXPECT_EQ(options.breaker.success_threshold, 3U);
  EXPECT_EQ(options.breaker.timeout, 60s);
  EXPECT_EQ(options.breaker.window, 120s);
  EXPECT_FALSE(options.breaker.disabled);
  EXPECT_EQ(options.proxy.retry.max_attempts, 5U);
  EXPECT_EQ(options.proxy.retry.initial_backoff, 50ms);
  EXPECT_EQ(options.proxy.retry.max_backoff, 30000ms);
  EXPECT_DOUBLE_EQ(options.proxy.retry.backoff_multiplier, 1.5);
  EXPECT_DOUBLE_EQ(options.proxy.retry.jitter_factor, 0.2);
  EXPECT_EQ(options.prometheus_host, "0.0.0.0");
  EXPECT_EQ(options.prometheus_port, 29000);
  EXPECT_EQ(options.log.level, log::Level::info);
  EXPECT_FALSE(options.log.json);
  EXPECT_EQ(options.log.directory, "");
  EXPECT_EQ(options.log.filter, "");
}

TEST(LaunchFlags, EachAliasSetsWhatItsFlagSets) {
  EXPECT_FLOAT_EQ(good({"--cache-match-threshold", "0.7"}).policy.cache_aware.cache_threshold,
                  0.7F);
  EXPECT_EQ(good({"--spill-abs-threshold", "7"}).policy.cache_aware.balance_abs_threshold, 7U);
  EXPECT_DOUBLE_EQ(good({"--spill-rel-threshold", "2"}).policy.cache_aware.balance_rel_threshold,
                   2);
  EXPECT_EQ(good({"--eviction-interval-secs", "9"}).policy.cache_aware.eviction_interval_s, 9U);
  EXPECT_EQ(good({"--eviction-interval", "8"}).policy.cache_aware.eviction_interval_s, 8U);
  EXPECT_TRUE(good({"--worker-auto-recovery"}).remove_unhealthy_workers);
  EXPECT_TRUE(good({"--remove-unhealthy-workers"}).remove_unhealthy_workers);
}

TEST(LaunchFlags, EachValueGoesToItsSetting) {
  const Options options = good({"--host",
                                "::1",
                                "--port",
                                "1",
                                "--max-payload-size",
                                "2",
                                "--request-timeout-secs",
                                "3",
                                "--connect-timeout-secs",
                                "4",
                                "--shutdown-grace-period-secs",
                                "0",
                                "--io-threads",
                                "6",
                                "--policy",
                                "least_load",
                                "--max-tree-size",
                                "7",
                                "--block-size",
                                "8",
                                "--load-monitor-interval",
                                "9",
                                "--disable-load-monitoring",
                                "--least-load-kv-pressure-weight",
                                "0.5",
                                "--least-load-default-throughput",
                                "11",
                                "--least-load-mean-prefill-tokens",
                                "12",
                                "--least-load-max-waiting-requests",
                                "13",
                                "--drain-settle-secs",
                                "14",
                                "--admin-open",
                                "--allow-link-local-workers",
                                "--hide-routed-worker",
                                "--request-id-headers",
                                "x-a,x-b",
                                "x-c"});
  EXPECT_EQ(options.host, "::1");
  EXPECT_EQ(options.port, 1);
  EXPECT_EQ(options.session.max_body, 2U);
  EXPECT_EQ(options.proxy.request_timeout, 3s);
  EXPECT_EQ(options.proxy.connect_timeout, 4s);
  EXPECT_EQ(options.shutdown_grace, 0s);
  EXPECT_EQ(options.io_threads, 6U);
  EXPECT_EQ(options.policy.name, "least_load");
  EXPECT_EQ(options.policy.cache_aware.max_tree_size, 7U);
  EXPECT_EQ(options.policy.cache_aware.block_size, 8U);
  EXPECT_EQ(options.load_monitor_interval, 9s);
  EXPECT_TRUE(options.disable_load_monitoring);
  EXPECT_DOUBLE_EQ(options.policy.least_load.kv_pressure_weight_s, 0.5);
  EXPECT_DOUBLE_EQ(options.policy.least_load.default_throughput, 11);
  EXPECT_EQ(options.policy.least_load.mean_prefill_tokens, 12U);
  EXPECT_EQ(options.policy.least_load.max_waiting_requests, 13U);
  EXPECT_EQ(options.drain_settle, 14s);
  EXPECT_TRUE(options.session.admin_open);
  EXPECT_TRUE(options.allow_link_local_workers);
  EXPECT_TRUE(options.proxy.hide_routed_worker);
  EXPECT_THAT(options.session.request_id_headers, ElementsAre("x-a", "x-b", "x-c"));
}

TEST(LaunchFlags, EachResilienceValueGoesToItsSetting) {
  const Options options = good({"--health-check-interval-secs",
                                "1",
                                "--health-check-timeout-secs",
                                "2",
                                "--health-failure-threshold",
                                "3",
                                "--health-success-threshold",
                                "4",
                                "--health-check-endpoint",
                                "/up?deep=1",
                                "--disable-health-check",
                                "--cb-failure-threshold",
                                "5",
                                "--cb-success-threshold",
                                "6",
                                "--cb-timeout-duration-secs",
                                "7",
                                "--cb-window-duration-secs",
                                "8",
                                "--disable-circuit-breaker",
                                "--retry-max-retries",
                                "9",
                                "--retry-initial-backoff-ms",
                                "10",
                                "--retry-max-backoff-ms",
                                "11",
                                "--retry-backoff-multiplier",
                                "1",
                                "--retry-jitter-factor",
                                "0",
                                "--prometheus-host",
                                "localhost",
                                "--prometheus-port",
                                "12",
                                "--log-level",
                                "debug",
                                "--log-json",
                                "--log-dir",
                                "/var/log/smg"});
  EXPECT_EQ(options.health.interval, 1s);
  EXPECT_EQ(options.health.timeout, 2s);
  EXPECT_EQ(options.health.failure_threshold, 3U);
  EXPECT_EQ(options.health.success_threshold, 4U);
  EXPECT_EQ(options.health.endpoint, "/up?deep=1");
  EXPECT_TRUE(options.health.disabled);
  EXPECT_EQ(options.breaker.failure_threshold, 5U);
  EXPECT_EQ(options.breaker.success_threshold, 6U);
  EXPECT_EQ(options.breaker.timeout, 7s);
  EXPECT_EQ(options.breaker.window, 8s);
  EXPECT_TRUE(options.breaker.disabled);
  EXPECT_EQ(options.proxy.retry.max_attempts, 9U);
  EXPECT_EQ(options.proxy.retry.initial_backoff, 10ms);
  EXPECT_EQ(options.proxy.retry.max_backoff, 11ms);
  EXPECT_DOUBLE_EQ(options.proxy.retry.backoff_multiplier, 1);
  EXPECT_DOUBLE_EQ(options.proxy.retry.jitter_factor, 0);
  EXPECT_EQ(options.prometheus_host, "localhost");
  EXPECT_EQ(options.prometheus_port, 12);
  EXPECT_EQ(options.log.level, log::Level::debug);
  EXPECT_TRUE(options.log.json);
  EXPECT_EQ(options.log.directory, "/var/log/smg");
}

TEST(LaunchFlags, DisableRetriesIsOneAttemptWhateverTheOrder) {
  EXPECT_EQ(good({"--disable-retries"}).proxy.retry.max_attempts, 1U);
  EXPECT_EQ(good({"--disable-retries", "--retry-max-retries", "7"}).proxy.retry.max_attempts, 1U);
  EXPECT_EQ(good({"--disable-retries=false"}).proxy.retry.max_attempts, 5U);
}

TEST(LaunchFlags, HostTakesNamesAndAddresses) {
  for (const char* host :
       {"localhost", "a-b.example.com", "10.0.0.1", "::", "fe80::1%eth0", "my_host"}) {
    EXPECT_EQ(good({"--host", host}).host, host);
  }
  EXPECT_EQ(good({"--host", "[::1]"}).host, "::1");
  EXPECT_EQ(good({"--prometheus-host", "[::1]"}).prometheus_host, "::1");
}

TEST(LaunchFlags, ApiKeyReachesSessionProxyAndStartUpWorkers) {
  const Options options = good({"--api-key", "sk-1"});
  EXPECT_EQ(options.session.api_key, "sk-1");
  EXPECT_EQ(options.proxy.api_key, "sk-1");
  EXPECT_EQ(options.worker_api_key, "sk-1");
}

TEST(LaunchFlags, WorkersHaveTheirOwnKeyWhenToldSo) {
  EXPECT_EQ(good({"--api-key", "sk-1", "--worker-api-key", "sk-2"}).worker_api_key, "sk-2");
  EXPECT_EQ(good({"--api-key", "sk-1", "--worker-api-key", "sk-2"}).session.api_key, "sk-1");

  const std::string path = testing::TempDir() + "smg_worker_key";
  std::ofstream(path) << "sk-3\r\nnot this\n";
  EXPECT_EQ(good({"--api-key", "sk-1", "--worker-api-key-file", path}).worker_api_key, "sk-3");
  EXPECT_THAT(errors({"--worker-api-key", "sk-2", "--worker-api-key-file", path}),
              ElementsAre("--worker-api-key-file: cannot stand beside --worker-api-key"));
  EXPECT_THAT(errors({"--worker-api-key-file", path + ".absent"}),
              ElementsAre("--worker-api-key-file: " + path + ".absent cannot be read or is empty"));
}

TEST(LaunchFlags, WorkerUrlsAreSeparatedByBlanksCommasOrRepeated) {
  const auto urls_of = [](const Args& args) {
    std::vector<std::string> texts;
    for (const auto& url : good(args).worker_urls) texts.push_back(url.text);
    return texts;
  };
  const auto abc = ElementsAre("http://a:1", "http://b:2", "http://c:3");
  EXPECT_THAT(urls_of({"--worker-urls", "http://a:1", "http://b:2/", "http://c:3"}), abc);
  EXPECT_THAT(urls_of({"--worker-urls", "http://a:1,http://b:2,", "http://c:3"}), abc);
  EXPECT_THAT(urls_of({"--worker-urls=http://a:1, http://b:2 http://c:3"}), abc);
  EXPECT_THAT(urls_of({"--worker-urls", "http://a:1", "--port", "5", "--worker-urls", "http://b:2",
                       "http://c:3"}),
              abc);
  EXPECT_THAT(urls_of({"--worker-urls", ""}), IsEmpty());
}

TEST(LaunchErrors, WorkerUrlsAreRefusedOneByOne) {
  EXPECT_THAT(errors({"--worker-urls", "http://a", "http://a:80/", "https://b", "http://user@c"}),
              ElementsAre("--worker-urls: http://a:80/ is given twice",
                          "--worker-urls: https://b: this build cannot reach workers over TLS",
                          testing::StartsWith("--worker-urls: http://user@c: ")));
  EXPECT_THAT(errors({"--worker-urls", "http://169.254.169.254"}),
              ElementsAre("--worker-urls: http://169.254.169.254 is a link-local address "
                          "(--allow-link-local-workers accepts it)"));
  EXPECT_EQ(good({"--worker-urls", "http://169.254.169.254", "--allow-link-local-workers"})
                .worker_urls.size(),
            1U);
}

struct IntegerCase {
  const char* flag;
  std::uint64_t min;
  std::uint64_t max;
};
class IntegerRanges : public testing::TestWithParam<IntegerCase> {};

TEST_P(IntegerRanges, BothEndsAreInAndWhatLiesBeyondIsNot) {
  const auto& [flag, min, max] = GetParam();
  const std::string range = " (" + std::to_string(min) + ".." + std::to_string(max) + ")";
  // Alone, either end may collide with another setting; those checks have tests of their own.
  const auto own_errors = [&, name = std::string(flag)](const std::string& value) {
    auto lines = errors({name, value});
    std::erase_if(lines, [&](const std::string& line) {
      return line.find("out of range") == std::string::npos;
    });
    return lines;
  };
  EXPECT_THAT(own_errors(std::to_string(min)), IsEmpty());
  EXPECT_THAT(own_errors(std::to_string(max)), IsEmpty());
  const std::string below = min == 0 ? "-1" : std::to_string(min - 1);
  const std::string above = std::to_string(max + 1);
  for (const auto& value : {below, above, std::string("99999999999999999999999")}) {
    EXPECT_THAT(own_errors(value),
                ElementsAre(std::string(flag) + ": " + value + " is out of range" + range));
  }
  for (const char* value : {"abc", "1.5", "+1", " 1", "1 ", "0x10", "1e3"}) {
    EXPECT_THAT(errors({flag, value}),
                ElementsAre(std::string(flag) + ": " + value + " is not a whole number" + range));
  }
}

constexpr std::uint64_t kU32 = 4294967295;
constexpr std::uint64_t kLong = 1'000'000'000;
INSTANTIATE_TEST_SUITE_P(All, IntegerRanges,
                         testing::Values(IntegerCase{"--port", 1, 65535},
                                         IntegerCase{"--prometheus-port", 1, 65535},
                                         IntegerCase{"--max-payload-size", 1, 1099511627776},
                                         IntegerCase{"--request-timeout-secs", 1, kLong},
                                         IntegerCase{"--connect-timeout-secs", 1, kLong},
                                         IntegerCase{"--shutdown-grace-period-secs", 0, kLong},
                                         IntegerCase{"--io-threads", 1, 256},
                                         IntegerCase{"--drain-settle-secs", 0, kLong},
                                         IntegerCase{"--balance-abs-threshold", 0, kU32},
                                         IntegerCase{"--eviction-interval", 1, kLong},
                                         IntegerCase{"--max-tree-size", 1, 1'000'000'000'000},
                                         IntegerCase{"--block-size", 1, 65536},
                                         IntegerCase{"--load-monitor-interval", 1, kLong},
                                         IntegerCase{"--least-load-mean-prefill-tokens", 1, kU32},
                                         IntegerCase{"--least-load-max-waiting-requests", 0, kU32},
                                         IntegerCase{"--health-check-interval-secs", 1, kLong},
                                         IntegerCase{"--health-check-timeout-secs", 1, kLong},
                                         IntegerCase{"--health-failure-threshold", 1, kU32},
                                         IntegerCase{"--health-success-threshold", 1, kU32},
                                         IntegerCase{"--cb-failure-threshold", 1, kU32},
                                         IntegerCase{"--cb-success-threshold", 1, kU32},
                                         IntegerCase{"--cb-timeout-duration-secs", 1, kLong},
                                         IntegerCase{"--cb-window-duration-secs", 1, kLong},
                                         IntegerCase{"--retry-max-retries", 1, kU32},
                                         IntegerCase{"--retry-initial-backoff-ms", 1, kLong},
                                         IntegerCase{"--retry-max-backoff-ms", 1, kLong}),
                         [](const auto& tested) {
                           std::string name(tested.param.flag + 2);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

struct RealCase {
  const char* flag;
  std::vector<std::string> good;
  std::vector<std::string> bad;
  const char* range;
};
class RealRanges : public testing::TestWithParam<RealCase> {};

TEST_P(RealRanges, EndsAreInAndWhatLiesBeyondIsNot) {
  const auto& param = GetParam();
  const std::string flag(param.flag);
  const std::string range = std::string(" (") + param.range + ")";
  for (const auto& value : param.good) EXPECT_THAT(errors({flag, value}), IsEmpty()) << value;
  for (const auto& value : param.bad) {
    EXPECT_THAT(errors({flag, value}),
                ElementsAre(flag + ": " + value + " is out of range" + range));
  }
  for (const char* value : {"nan", "inf", "-inf", "1e999"}) {
    EXPECT_THAT(errors({flag, value}),
                ElementsAre(flag + ": " + value + " is not a finite number" + range));
  }
  for (const char* value : {"x", "1,5", "1x", "+1"}) {
    EXPECT_THAT(errors({flag, value}),
                ElementsAre(flag + ": " + value + " is not a number" + range));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RealRanges,
    testing::Values(
        RealCase{"--cache-threshold", {"0", "1", "0.0", "1.0"}, {"-0.001", "1.001"}, "0..1"},
        RealCase{"--retry-jitter-factor", {"0", "1"}, {"-0.1", "1.1"}, "0..1"},
        RealCase{
            "--balance-rel-threshold", {"1", "1.0", "1e9"}, {"0.999", "0", "-1"}, "at least 1"},
        RealCase{"--retry-backoff-multiplier", {"1", "10"}, {"0.999", "-1"}, "at least 1"},
        RealCase{"--least-load-kv-pressure-weight", {"0", "3.5"}, {"-0.1"}, "at least 0"},
        RealCase{"--least-load-default-throughput", {"0.001", "1e6"}, {"0", "-1"}, "more than 0"}),
    [](const auto& tested) {
      std::string name(tested.param.flag + 2);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(LaunchErrors, AllAreReportedTogether) {
  EXPECT_THAT(errors({"--port", "70000", "--policy", "fastest", "--cache-threshold", "2",
                      "--log-level", "loud", "--frobnicate", "--health-check-endpoint", "health",
                      "--request-id-headers", "a b:", "--retry-max-retries"}),
              ElementsAre("--frobnicate: unknown flag",
                          "--retry-max-retries: needs a value (1..4294967295)",
                          "--port: 70000 is out of range (1..65535)",
                          "--request-id-headers: b: is not a header name",
                          "--policy: fastest is not one of cache_aware, round_robin, random, "
                          "least_load, passthrough",
                          "--cache-threshold: 2 is out of range (0..1)",
                          "--health-check-endpoint: health does not begin with /",
                          "--log-level: loud is not one of trace, debug, info, warn, error, off"));
}

TEST(LaunchErrors, SettingsThatContradictEachOther) {
  EXPECT_THAT(errors({"--retry-initial-backoff-ms", "100", "--retry-max-backoff-ms", "99"}),
              ElementsAre("--retry-max-backoff-ms: 99 is below --retry-initial-backoff-ms (100)"));
  EXPECT_THAT(errors({"--port", "29000"}),
              ElementsAre("--prometheus-port: 29000 is the port of --port too"));
  EXPECT_THAT(errors({"--host", "127.0.0.1", "--prometheus-host", "127.0.0.2", "--port", "29000"}),
              IsEmpty());
}

TEST(LaunchErrors, SecretsAreNeverRepeated) {
  for (const char* key : {"two words", "k\xC3\xA9y", "tab\tbed"}) {
    EXPECT_THAT(errors({"--api-key", key}),
                ElementsAre("--api-key: the key must be printable ASCII without blanks"));
  }
}

TEST(LaunchErrors, HostsThatAreNone) {
  for (const char* host : {"", "[::1", "::1]", "[a.b]", "http://a", "a b", "a/b", "[]"}) {
    EXPECT_EQ(errors({"--host", host}).size(), 1U) << host;
  }
}

TEST(LaunchErrors, PartsThatThisBuildDoesNotHave) {
  EXPECT_THAT(errors({"--enable-igw", "--service-discovery", "--selector", "app=a", "role=b",
                      "--tls-cert-path=/x", "--cache-index", "hash", "--pd-disaggregation"}),
              ElementsAre("--enable-igw: not supported by this build",
                          "--service-discovery: not supported by this build",
                          "--selector: not supported by this build",
                          "--tls-cert-path: not supported by this build",
                          "--cache-index: not supported by this build",
                          "--pd-disaggregation: not supported by this build"));
  EXPECT_THAT(errors({"--policy", "bucket"}),
              ElementsAre("--policy: bucket is not supported by this build (cache_aware, "
                          "round_robin, random, least_load, passthrough)"));
  EXPECT_THAT(errors({"--cache-index", "tree"}), IsEmpty());
}

TEST(LaunchEnvironment, EveryFlagIsReadFromIt) {
  const auto settings = read({}, {{"SMG_PORT", "31000"},
                                  {"SMG_WORKER_URLS", "http://a:1 http://b:2,http://c:3"},
                                  {"SMG_LOG_JSON", "true"},
                                  {"SMG_API_KEY", "sk-1"},
                                  {"SMG_SPILL_ABS_THRESHOLD", "5"},
                                  {"RUST_LOG", "info,smg::policies::cache_aware=debug"}});
  EXPECT_THAT(settings.result.errors, IsEmpty());
  EXPECT_EQ(settings.options.port, 31000);
  EXPECT_EQ(settings.options.worker_urls.size(), 3U);
  EXPECT_TRUE(settings.options.log.json);
  EXPECT_EQ(settings.options.worker_api_key, "sk-1");
  EXPECT_EQ(settings.options.policy.cache_aware.balance_abs_threshold, 5U);
  EXPECT_EQ(settings.options.log.filter, "info,smg::policies::cache_aware=debug");
}

TEST(LaunchEnvironment, AFlagWins) {
  const auto settings = read({"--port", "32000", "--worker-urls", "http://x", "--no-log-json",
                              "--spill-abs-threshold", "6"},
                             {{"SMG_PORT", "abc"},
                              {"SMG_WORKER_URLS", "http://a:1"},
                              {"SMG_LOG_JSON", "1"},
                              {"SMG_BALANCE_ABS_THRESHOLD", "5"}});
  EXPECT_THAT(settings.result.errors, IsEmpty());
  EXPECT_EQ(settings.options.port, 32000);
  ASSERT_EQ(settings.options.worker_urls.size(), 1U);
  EXPECT_EQ(settings.options.worker_urls[0].text, "http://x");
  EXPECT_FALSE(settings.options.log.json);
  EXPECT_EQ(settings.options.policy.cache_aware.balance_abs_threshold, 6U);
}

TEST(LaunchEnvironment, ErrorsNameTheVariable) {
  EXPECT_THAT(read({}, {{"SMG_PORT", "0"}, {"SMG_LOG_JSON", "maybe"}}).result.errors,
              ElementsAre("--port (SMG_PORT): 0 is out of range (1..65535)",
                          "--log-json (SMG_LOG_JSON): maybe is not one of true, false"));
}

TEST(LaunchEnvironment, EmptyVariablesAndServiceLinksAreUnset) {
  const auto settings = read({}, {{"SMG_PORT", "tcp://10.0.0.7:30000"}, {"SMG_HOST", ""}});
  EXPECT_THAT(settings.result.errors, IsEmpty());
  EXPECT_EQ(settings.options.port, 30000);
  EXPECT_EQ(settings.options.host, "0.0.0.0");
}

TEST(LaunchHelp, NamesEveryFlagWithItsDefault) {
  const std::string help = launch_help();
  Options options;
  for (const auto& group : launch_flags(options)) {
    EXPECT_NE(help.find("\n" + std::string(group.title) + ":\n"), std::string::npos);
    for (const auto& flag : group.flags) {
      for (const auto name : flag.names) EXPECT_NE(help.find(name), std::string::npos) << name;
    }
  }
  EXPECT_NE(help.find("[default: 30000; 1..65535]"), std::string::npos);
}

}  // namespace
}  // namespace smg::app
