#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smg/app/cli.hpp"
#include "smg/app/gateway.hpp"
#include "smg/app/mock_options.hpp"
#include "smg/app/mock_worker.hpp"

namespace {

constexpr int kWrongUsage = 2;

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

int print_version() {
  std::cout << "smg " SMG_VERSION "\n";
  return 0;
}

// Serves a subcommand whose arguments have been read.
template <class Settings>
int run(const Settings& settings, std::string (*help)(),
        int (*serve)(const decltype(settings.options)&)) {
  if (settings.result.help) {
    std::cout << help();
    return 0;
  }
  if (settings.result.version) return print_version();
  for (const auto& error : settings.result.errors) std::cerr << "error: " << error << "\n";
  if (!settings.result.errors.empty()) return kWrongUsage;
  return serve(settings.options);
}

int dispatch(const std::vector<std::string>& args) {
  namespace app = smg::app;
  if (args.empty()) {
    std::cerr << app::general_help();
    return kWrongUsage;
  }
  const std::span<const std::string> rest(args.begin() + 1, args.end());
  const std::string& command = args.front();
  if (command == "launch") {
    return run(app::read_launch(rest, environment), app::launch_help, app::run_gateway);
  }
  if (command == "mock-worker") {
    return run(app::read_mock_worker(rest), app::mock_worker_help, app::run_mock_worker);
  }
  if (command == "--version" || command == "-V") return print_version();
  if (command == "--help" || command == "-h") {
    std::cout << app::general_help();
    return 0;
  }
  std::cerr << "error: " << app::quoted_value(command) << ": unknown command\n\n"
            << app::general_help();
  return kWrongUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // Writing to a peer that has left is an error of that write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << "\n";
    return kWrongUsage;
  }
}
