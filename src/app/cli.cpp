#include "smg/app/cli.hpp"

#include <algorithm>

#include "smg/app/flag_text.hpp"

namespace smg::app {
namespace {

// Flags that users of such gateways know, of parts that this build does not have.
constexpr std::string_view kUnsupported[] = {"--config",
                                             "--cache-index=tree",
                                             "--cache-boundaries",
                                             "--cache-ttl-secs",
                                             "--balance-token-usage-threshold",
                                             "--overload-token-usage-threshold",
                                             "--overlap-decay",
                                             "--selection-temperature",
                                             "--prefix-*",
                                             "--max-idle-secs",
                                             "--sticky-*",
                                             "--assignment-mode",
                                             "--routing-key-*",
                                             "--dp-*",
                                             "--enable-*",
                                             "--model-alias",
                                             "--worker-overload-*",
                                             "--max-buffered-request-bytes",
                                             "--stream-*",
                                             "--worker-startup-*",
                                             "--job-queue-*",
                                             "--engine-metrics",
                                             "--kv-*",
                                             "--storage-*",
                                             "--cors-allowed-origins",
                                             "--max-concurrent-requests",
                                             "--queue-*",
                                             "--rate-limit-*",
                                             "--tenant-*",
                                             "--trust-tenant-header",
                                             "--priority-scheduler-*",
                                             "--control-plane-*",
                                             "--disable-audit-logging",
                                             "--jwt-*",
                                             "--tls-*",
                                             "--client-*",
                                             "--ca-cert-paths",
                                             "--health-check-port",
                                             "--upstream-*",
                                             "--prometheus-duration-buckets",
                                             "--model-path",
                                             "--tokenizer-*",
                                             "--disable-tokenizer-autoload",
                                             "--chat-template",
                                             "--backend",
                                             "--service-discovery*",
                                             "--selector",
                                             "--mesh-*",
                                             "--pd-*",
                                             "--epd-*",
                                             "--prefill*",
                                             "--decode*",
                                             "--encode*",
                                             "--mm-*",
                                             "--webrtc-*",
                                             "--history-backend",
                                             "--reasoning-parser",
                                             "--tool-call-parser",
                                             "--mcp-*",
                                             "--otlp-*",
                                             "--runtime-worker-threads",
                                             "--version-verbose"};

bool is_wildcard(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

void remove_brackets(std::string& host) {
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
}

// What only shows when several flags are seen together.
void check_together(LaunchSettings& settings) {
  Options& options = settings.options;
  auto& result = settings.result;
  if (result.was_given("--worker-api-key") && result.was_given("--worker-api-key-file")) {
    result.errors.emplace_back("--worker-api-key-file: cannot stand beside --worker-api-key");
  }
  const auto& retry = options.proxy.retry;
  if (retry.max_backoff < retry.initial_backoff) {
    result.errors.push_back("--retry-max-backoff-ms: " + std::to_string(retry.max_backoff.count()) +
                            " is below --retry-initial-backoff-ms (" +
                            std::to_string(retry.initial_backoff.count()) + ")");
  }
  const bool hosts_meet = options.host == options.prometheus_host || is_wildcard(options.host) ||
                          is_wildcard(options.prometheus_host);
  if (options.prometheus_port == options.port && hosts_meet) {
    result.errors.push_back("--prometheus-port: " + std::to_string(options.port) +
                            " is the port of --port too");
  }
  if (options.allow_link_local_workers) return;
  for (const auto& url : options.worker_urls) {
    if (is_link_local(url)) {
      result.errors.push_back("--worker-urls: " + quoted_value(url.text) +
                              " is a link-local address (--allow-link-local-workers accepts it)");
    }
  }
}

}  // namespace

LaunchSettings read_launch(std::span<const std::string> args, const Environment& environment) {
  LaunchSettings settings;
  Options& options = settings.options;
  settings.result = read_command_line(launch_flags(options), {args, environment, kUnsupported});
  remove_brackets(options.host);
  remove_brackets(options.prometheus_host);
  const bool has_worker_key = settings.result.was_given("--worker-api-key") ||
                              settings.result.was_given("--worker-api-key-file");
  if (!has_worker_key) options.worker_api_key = options.session.api_key;
  if (environment) options.log.filter = environment("RUST_LOG").value_or("");
  check_together(settings);
  return settings;
}

std::string general_help() {
  return "smg " SMG_VERSION
         ": a gateway in front of LLM inference workers that routes by cached prefix.\n\n"
         "Usage:\n"
         "  smg launch --worker-urls http://a:8000 http://b:8000   run the gateway\n"
         "  smg mock-worker --port 8000                            run a simulated engine to try "
         "it\n"
         "  smg launch --help, smg mock-worker --help              the flags of each\n"
         "  smg --version\n";
}

std::string launch_help() {
  Options defaults;
  return "smg launch: runs the gateway until SIGTERM or SIGINT.\n\n"
         "Usage: smg launch --worker-urls URL... [flags]\n\n"
         "Every flag is also read from the environment: --log-level from SMG_LOG_LEVEL. Lists "
         "take\n"
         "values separated by blanks or commas. --no-NAME turns a switch off.\n" +
         render_flags(launch_flags(defaults));
}

}  // namespace smg::app
