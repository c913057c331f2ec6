// Accepts connections and serves requests on them over HTTP/1.1, on a set of I/O threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "smg/base/asio.hpp"
#include "smg/base/deadlines.hpp"
#include "smg/base/error.hpp"
#include "smg/protocol/http_head.hpp"
#include "smg/server/route_table.hpp"

namespace smg::server {

struct SessionOptions {
  protocol::HeadLimits head;
  std::size_t max_body = 536'870'912;      // --max-payload-size, bytes
  std::chrono::seconds idle_timeout{180};  // between requests
  std::chrono::seconds head_timeout{60};   // from the first byte of a head to its last
  std::chrono::seconds body_silence{60};   // between two pieces of a request body
  std::string api_key;                     // empty: none
  bool admin_open = false;                 // admin routes without a key for anybody
  std::vector<std::string> request_id_headers = {"x-request-id", "x-correlation-id", "x-trace-id",
                                                 "request-id"};
};

// Told of every request; called on I/O threads.
struct SessionObserver {
  virtual ~SessionObserver() = default;
  virtual void on_request(const proxy::Call&) noexcept = 0;   // head and body are there, or refused
  virtual void on_response(const proxy::Call&) noexcept = 0;  // the answer has ended or was cut
};

// One I/O thread's context and what lives on it.
struct IoThread {
  IoThread() : context(1), deadlines(context) {}
  asio::io_context context;
  Deadlines deadlines;
  std::atomic<std::size_t> connections{0};
};

// Destroyed after the threads have stopped and before their contexts are.
class Listener {
 public:
  // `routes` picks the table of a thread: handlers may hold per-thread state.
  using RoutesOf = std::function<const RouteTable&(std::size_t thread)>;
  Listener(std::vector<IoThread*> threads, SessionOptions options, RoutesOf routes,
           SessionObserver* observer);
  ~Listener();

  // Binds every address of `host` (a name, an IPv4 or IPv6 address, brackets allowed) and starts
  // accepting on the first thread. Port 0: any free one.
  Result<> open(const std::string& host, std::uint16_t port);
  std::uint16_t port() const;

  // Stops accepting and closes idle connections; running requests end with Connection: close.
  void drain();
  // Connections with a request on them.
  std::size_t active() const;
  // Ends every connection, also those with a request on them.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace smg::server
