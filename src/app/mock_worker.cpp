#include "smg/app/mock_worker.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <ctime>
#include <iostream>
#include <random>
#include <stdexcept>
#include <unordered_map>

#include "mock_shapes.hpp"
#include "smg/app/mock_answer.hpp"
#include "smg/app/mock_engine.hpp"
#include "smg/app/mock_instant.hpp"
#include "smg/app/mock_status.hpp"
#include "smg/server/listener.hpp"

namespace smg::app {
namespace {

using proxy::Call;
using server::Access;
using server::Route;

class MockServer {
 public:
  explicit MockServer(const MockOptions& options)
      : options_(options),
        engine_(options),
        random_(options.seed),
        pump_timer_(io_.context),
        signals_(io_.context, SIGINT, SIGTERM),
        routes_(make_routes()),
        listener_(
            {&io_}, session_options(options),
            [this](std::size_t) -> const server::RouteTable& { return routes_; }, nullptr) {}
  ~MockServer() { ending_ = true; }

  MockServer(const MockServer&) = delete;
  MockServer& operator=(const MockServer&) = delete;

  void run() {
    const Result<> opened = listener_.open(options_.host, options_.port);
    if (!opened) throw std::runtime_error(opened.error().detail);
    signals_.async_wait([this](const boost::system::error_code&, int) { io_.context.stop(); });
    std::cout << "smg mock-worker: a simulated engine for trying out, tests and benchmarks; its "
                 "answers are made up\nmodel "
              << options_.model << " as " << options_.runtime << " on " << options_.host << ":"
              << options_.port << std::endl;
    io_.context.run();
  }

 private:
  // A request's stay in the engine, from its submission to the end of its handler.
  struct Visit {
    Visit(MockServer& owner, Call& of) : server(owner), call(of), timer(owner.io_.context) {}
    ~Visit() {
      call.client->unwatch();
      server.leave(*this);
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

    void on_gone() {
      gone = true;
      timer.cancel();
    }
    // Until `when`, or a cancel of the timer.
    awaitable<void> wait_until(TimePoint when) {
      boost::system::error_code ignored;
      timer.expires_at(when);
      co_await timer.async_wait(asio::redirect_error(use_awaitable, ignored));
    }

    MockServer& server;
    Call& call;
    asio::steady_timer timer;
    MockEngine::Id id = 0;
    std::optional<MockEngine::Start> start;
    bool gone = false;                // the client has left
    std::uint64_t tokens_said = 0;    // of the answer
    std::optional<MockPrompt> whole;  // what the cache holds once the answer is complete
  };

  static server::SessionOptions session_options(const MockOptions& options) {
    server::SessionOptions session;
    session.api_key = options.api_key;
    return session;
  }

  // Lets the engine begin what it can and sleeps until it can begin more.
  void pump() {
    if (ending_) return;
    for (const auto& start : engine_.advance(Clock::now())) {
      Visit& visit = *visits_.at(start.id);
      visit.start = start;
      visit.timer.cancel();
    }
    const auto next = engine_.next_event();
    if (!next) return;
    pump_timer_.expires_at(*next);
    pump_timer_.async_wait([this](const boost::system::error_code& ec) {
      if (!ec) pump();
    });
  }

  void enter(Visit& visit, MockPrompt prompt) {
    visit.id = engine_.submit(std::move(prompt));
    visits_.emplace(visit.id, &visit);
    visit.call.client->watch([&visit] { visit.on_gone(); });
    pump();
  }

  void leave(Visit& visit) {
    visits_.erase(visit.id);
    engine_.release(visit.id, visit.tokens_said, visit.whole ? &*visit.whole : nullptr,
                    Clock::now());
    pump();
  }

  bool draws_failure() {
    return options_.fail_rate > 0 &&
           std::uniform_real_distribution<double>(0, 1)(random_) < options_.fail_rate;
  }

  static awaitable<void> refuse(Call& call, MockError error) {
    proxy::Response response;
    response.status = protocol::status_of(error.code);
    response.body = protocol::error_body(error.code, error.message,
                                         protocol::shape_of_path(call.head.path), error.param);
    co_await proxy::respond(call, std::move(response));
  }

  awaitable<void> fail(Call& call) {
    const bool anthropic =
        protocol::shape_of_path(call.head.path) == protocol::ErrorShape::anthropic;
    Json error = {{"type", anthropic ? "api_error" : "server_error"},
                  {"message", "a simulated failure (--fail-rate)"}};
    proxy::Response response;
    response.status = static_cast<int>(options_.fail_status);
    response.body =
        anthropic ? dump({{"type", "error"}, {"error", error}}) : dump({{"error", error}});
    co_await proxy::respond(call, std::move(response));
  }

  awaitable<void> instant(Call& call, MockInstant api) {
    if (draws_failure()) {
      co_await fail(call);
      co_return;
    }
    proxy::Response response;
    if (auto error = answer_instant(api, call.body, options_, response.body)) {
      co_await refuse(call, std::move(*error));
      co_return;
    }
    co_await proxy::respond(call, std::move(response));
  }

  awaitable<void> generate(Call& call, MockApi api) {
    if (draws_failure()) {
      co_await fail(call);
      co_return;
    }
    MockRequest request;
    if (auto error = read_mock_request(api, call.body, options_, request)) {
      co_await refuse(call, std::move(*error));
      co_return;
    }
    Visit visit(*this, call);
    const std::uint64_t prompt_tokens = request.prompt.tokens;
    enter(visit, std::move(request.prompt));
    while (!visit.start && !visit.gone) co_await visit.wait_until(TimePoint::max());
    if (visit.gone) co_return;

    MockAnswer answer = answer_to(request, *visit.start);
    answer.prompt_tokens = prompt_tokens;
    if (request.stream) {
      co_await say_by_pieces(visit, answer);
    } else {
      co_await say_at_once(visit, answer);
    }
    if (!visit.gone && !call.broken) visit.whole = whole_prompt(request, answer);
  }

  MockAnswer answer_to(const MockRequest& request, const MockEngine::Start& start) const {
    MockAnswer answer;
    answer.api = request.api;
    answer.model = options_.model;
    answer.number = start.id;
    answer.created = std::time(nullptr);
    answer.cached_tokens = start.cached_tokens;
    answer.tool_name = request.tool_name;
    answer.text = request.tool_name.empty()
                      ? made_up_text(options_.seed + start.id, request.output_tokens)
                      : request.tool_arguments;
    answer.length_limited = request.length_limited && request.tool_name.empty();
    answer.include_usage = request.include_usage;
    return answer;
  }

  // As the next turn's prompt will repeat it. Of a prompt of ids only the prompt is known.
  std::optional<MockPrompt> whole_prompt(const MockRequest& request,
                                         const MockAnswer& answer) const {
    std::string text = request.text;
    if (!text.empty() && request.tool_name.empty()) text += answer.text;
    return prompt_of_text(text, options_.block_size, request.salt);
  }

  TimePoint time_of_token(const Visit& visit, std::uint64_t index) const {
    const double seconds = static_cast<double>(index) / options_.tokens_per_s;
    return visit.start->first_token +
           std::chrono::duration_cast<Clock::duration>(
               std::chrono::duration<double>(std::min(seconds, 86'400.0)));
  }

  awaitable<void> say_at_once(Visit& visit, const MockAnswer& answer) {
    const std::uint64_t tokens = answer.completion_tokens();
    const TimePoint done = time_of_token(visit, tokens - 1);
    while (!visit.gone && Clock::now() < done) co_await visit.wait_until(done);
    if (visit.gone) co_return;
    visit.tokens_said = tokens;
    proxy::Response response;
    response.body = whole_answer(answer);
    co_await proxy::respond(visit.call, std::move(response));
  }

  awaitable<void> say_by_pieces(Visit& visit, const MockAnswer& answer) {
    MockStream stream(answer);
    const std::uint64_t tokens = answer.completion_tokens();
    if (!co_await proxy::begin_stream(visit.call, 200, "text/event-stream")) co_return;
    std::string bytes = stream.begin();
    while (visit.tokens_said < tokens) {
      const TimePoint due = time_of_token(visit, visit.tokens_said);
      while (!visit.gone && Clock::now() < due) {
        // What is there already goes out before the wait.
        if (!bytes.empty() && !co_await proxy::write_stream(visit.call, bytes)) co_return;
        bytes.clear();
        co_await visit.wait_until(due);
      }
      if (visit.gone) {
        visit.call.broken = true;
        co_return;
      }
      bytes += stream.piece(
          std::string_view(answer.text).substr(visit.tokens_said * kBytesPerToken, kBytesPerToken));
      ++visit.tokens_said;
      if (bytes.size() >= kWriteSize) {
        if (!co_await proxy::write_stream(visit.call, bytes)) co_return;
        bytes.clear();
      }
    }
    bytes += stream.end();
    if (!co_await proxy::write_stream(visit.call, bytes)) co_return;
    co_await proxy::end_stream(visit.call);
  }

  static awaitable<void> reply(Call& call, std::string body, std::string_view type) {
    proxy::Response response;
    response.body = std::move(body);
    response.content_type = type;
    co_await proxy::respond(call, std::move(response));
  }

  void add_generating(std::vector<Route>& routes) {
    const std::pair<const char*, MockApi> apis[] = {{"/v1/chat/completions", MockApi::chat},
                                                    {"/v1/completions", MockApi::completions},
                                                    {"/generate", MockApi::generate},
                                                    {"/v1/messages", MockApi::messages},
                                                    {"/v1/responses", MockApi::responses}};
    for (const auto& [path, api] : apis) {
      routes.push_back({"POST", path, Access::keyed,
                        [this, kind = api](Call& call) { return generate(call, kind); }});
    }
  }

  void add_instant(std::vector<Route>& routes) {
    const std::pair<const char*, MockInstant> apis[] = {
        {"/v1/embeddings", MockInstant::embeddings},
        {"/v1/rerank", MockInstant::rerank},
        {"/rerank", MockInstant::rerank},
        {"/v1/classify", MockInstant::classify},
        {"/classify", MockInstant::classify},
        {"/v1/score", MockInstant::score},
        {"/score", MockInstant::score},
        {"/tokenize", MockInstant::tokenize},
        {"/detokenize", MockInstant::detokenize},
        {"/v1/messages/count_tokens", MockInstant::count_tokens}};
    for (const auto& [path, api] : apis) {
      routes.push_back({"POST", path, Access::keyed,
                        [this, kind = api](Call& call) { return instant(call, kind); }});
    }
  }

  // A page that is made when it is asked for.
  template <class Make>
  static Route page(const char* path, Access access, std::string_view type, Make make) {
    return {"GET", path, access, [type, make](Call& call) { return reply(call, make(), type); }};
  }

  std::vector<Route> make_routes() {
    constexpr std::string_view kJson = "application/json";
    constexpr std::string_view kText = "text/plain; charset=utf-8";
    const auto empty = [] { return std::string(); };
    std::vector<Route> routes = {page("/health", Access::open, kText, empty),
                                 page("/health_generate", Access::open, kText, empty),
                                 page("/v1/models", Access::keyed, kJson,
                                      [this] { return mock_models(options_, std::time(nullptr)); }),
                                 page("/version", Access::keyed, kJson, mock_version),
                                 page("/v1/loads", Access::keyed, kJson,
                                      [this] { return mock_loads(options_, engine_.load()); }),
                                 page("/metrics", Access::open, kText,
                                      [this] { return mock_metrics(options_, engine_.load()); }),
                                 page("/get_server_info", Access::keyed, kJson,
                                      [this] { return mock_server_info(options_); }),
                                 page("/get_model_info", Access::keyed, kJson,
                                      [this] { return mock_model_info(options_); })};
    routes.push_back({"POST", "/flush_cache", Access::keyed, [this](Call& call) {
                        engine_.flush_cache();
                        return reply(call, "the simulated cache is empty\n", "text/plain");
                      }});
    add_generating(routes);
    add_instant(routes);
    return routes;
  }

  static constexpr std::size_t kWriteSize = 16 * 1024;

  // In this order: what the coroutines that die with `io_` touch outlives it.
  const MockOptions options_;
  MockEngine engine_;
  std::unordered_map<MockEngine::Id, Visit*> visits_;
  std::mt19937_64 random_;
  bool ending_ = false;
  server::IoThread io_;
  asio::steady_timer pump_timer_;
  asio::signal_set signals_;
  server::RouteTable routes_;
  server::Listener listener_;
};

}  // namespace

int run_mock_worker(const MockOptions& options) {
  MockServer server(options);
  server.run();
  return 0;
}

}  // namespace smg::app
