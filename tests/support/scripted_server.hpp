// An HTTP server for tests, on the test's own io_context and a free port of 127.0.0.1: answers by
// path what the script says, remembers what it was asked, can hang, refuse and come back. Paths
// that nobody scripted are 404. One request per connection. One thread.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/asio.hpp"

namespace smg::test {

struct SeenRequest {
  std::string method;
  std::string target;                          // with the query
  std::map<std::string, std::string> headers;  // names in lower case, the last of a name
  std::string body;

  std::string path() const { return target.substr(0, target.find('?')); }
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string{} : found->second;
  }
};

struct Answer {
  int status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool hang = false;   // take the request and never answer
  bool abort = false;  // take the request and close
};

class ScriptedServer {
 public:
  using Script = std::function<Answer(const SeenRequest&)>;

  explicit ScriptedServer(asio::io_context& context)
      : context_(context), state_(std::make_shared<State>(context)) {
    listen();
  }
  ~ScriptedServer() {
    refuse();
    drop_connections();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return state_->port; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }

  void on(const std::string& path, Script script) { state_->scripts[path] = std::move(script); }
  void answer(const std::string& path, int status, std::string body = {}) {
    Answer fixed;
    fixed.status = status;
    fixed.body = std::move(body);
    on(path, [fixed](const SeenRequest&) { return fixed; });
  }
  void hang(const std::string& path) {
    Answer silent;
    silent.hang = true;
    on(path, [silent](const SeenRequest&) { return silent; });
  }

  // Connections are refused from now on, until listen().
  void refuse() {
    boost::system::error_code ignored;
    state_->acceptor.close(ignored);
  }
  void listen() {
    const tcp::endpoint local(asio::ip::address_v4::loopback(), state_->port);
    state_->acceptor = tcp::acceptor(context_, local, true);
    state_->port = state_->acceptor.local_endpoint().port();
    asio::co_spawn(context_, accept(state_), asio::detached);
  }
  void drop_connections() {
    for (const auto& weak : state_->sockets) {
      boost::system::error_code ignored;
      if (const auto socket = weak.lock()) socket->close(ignored);
    }
    state_->sockets.clear();
  }

  const std::vector<SeenRequest>& requests() const { return state_->requests; }
  // How many requests there were for the path, whatever their query.
  std::size_t count(std::string_view path) const {
    std::size_t n = 0;
    for (const SeenRequest& request : requests()) n += request.path() == path ? 1 : 0;
    return n;
  }
  std::optional<SeenRequest> last(std::string_view path) const {
    for (auto it = requests().rbegin(); it != requests().rend(); ++it) {
      if (it->path() == path) return *it;
    }
    return {};
  }
  // Requests at one time that had no answer yet, at most.
  std::size_t most_at_once() const { return state_->most_at_once; }

 private:
  using Socket = std::shared_ptr<tcp::socket>;
  struct State {
    explicit State(asio::io_context& context) : acceptor(context) {}
    tcp::acceptor acceptor;
    std::uint16_t port = 0;
    std::map<std::string, Script> scripts;
    std::vector<SeenRequest> requests;
    std::vector<std::weak_ptr<tcp::socket>> sockets;
    std::size_t at_once = 0;
    std::size_t most_at_once = 0;
  };

  static awaitable<void> accept(std::shared_ptr<State> state) {
    for (;;) {
      auto socket = std::make_shared<tcp::socket>(state->acceptor.get_executor());
      const auto [ec] =
          co_await state->acceptor.async_accept(*socket, asio::as_tuple(use_awaitable));
      if (ec) co_return;
      state->sockets.push_back(socket);
      asio::co_spawn(state->acceptor.get_executor(), serve(state, socket), asio::detached);
    }
  }

  static SeenRequest parse_head(std::string_view head) {
    SeenRequest request;
    const auto line_end = head.find("\r\n");
    const std::string_view line = head.substr(0, line_end);
    request.method = line.substr(0, line.find(' '));
    const std::string_view rest = line.substr(line.find(' ') + 1);
    request.target = rest.substr(0, rest.find(' '));
    head.remove_prefix(line_end + 2);
    while (!head.empty() && !head.starts_with("\r\n")) {
      const auto end = head.find("\r\n");
      const std::string_view field = head.substr(0, end);
      std::string name(field.substr(0, field.find(':')));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      std::string_view value = field.substr(field.find(':') + 1);
      while (value.starts_with(' ')) value.remove_prefix(1);
      request.headers[name] = value;
      head.remove_prefix(end + 2);
    }
    return request;
  }

  static std::string render(const Answer& answer) {
    std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " Scripted\r\n";
    for (const auto& [name, value] : answer.headers) out += name + ": " + value + "\r\n";
    out += "Content-Length: " + std::to_string(answer.body.size()) +
           "\r\nConnection: close\r\n\r\n" + answer.body;
    return out;
  }

  static awaitable<void> serve(std::shared_ptr<State> state, Socket socket) {
    std::string buffer;
    const auto [ec, head_size] = co_await asio::async_read_until(
        *socket, asio::dynamic_buffer(buffer), "\r\n\r\n", asio::as_tuple(use_awaitable));
    if (ec) co_return;
    SeenRequest request = parse_head(std::string_view(buffer).substr(0, head_size));
    std::size_t length = 0;
    const std::string declared = request.header("content-length");
    std::from_chars(declared.data(), declared.data() + declared.size(), length);
    if (buffer.size() < head_size + length) {
      const std::size_t missing = head_size + length - buffer.size();
      const auto [body_ec, n] =
          co_await asio::async_read(*socket, asio::dynamic_buffer(buffer),
                                    asio::transfer_exactly(missing), asio::as_tuple(use_awaitable));
      if (body_ec) co_return;
    }
    request.body = buffer.substr(head_size, length);
    state->requests.push_back(request);
    ++state->at_once;
    state->most_at_once = std::max(state->most_at_once, state->at_once);
    co_await reply(state, socket, std::move(request));
    --state->at_once;
  }

  static awaitable<void> reply(std::shared_ptr<State> state, Socket socket, SeenRequest request) {
    const auto found = state->scripts.find(request.path());
    Answer answer;
    answer.status = 404;
    if (found != state->scripts.end()) answer = found->second(request);
    if (answer.abort) co_return;
    if (answer.hang) {
      // Until the client leaves or drop_connections().
      char byte = 0;
      co_await socket->async_read_some(asio::buffer(&byte, 1), asio::as_tuple(use_awaitable));
      co_return;
    }
    const std::string text = render(answer);
    co_await asio::async_write(*socket, asio::buffer(text), asio::as_tuple(use_awaitable));
    boost::system::error_code ignored;
    socket->shutdown(tcp::socket::shutdown_send, ignored);
  }

  asio::io_context& context_;
  std::shared_ptr<State> state_;
};

// Runs the context until `condition` holds, at most `limit`. The condition is looked at after every
// handler and at least every 10 ms.
template <class Condition>
bool run_until(asio::io_context& context, Condition condition,
               std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    context.restart();
    context.run_one_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace smg::test
