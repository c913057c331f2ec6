// Connections of one I/O thread to the workers: opened, kept alive, given back.
//
// Idle ones are kept per worker URL, last in first out, at most kMaxIdlePerWorker each and
// kIdleTimeout long; one that the worker ends while idle is dropped at once. Names are resolved for
// each new connection and all addresses are tried in order. One thread.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "smg/base/connection.hpp"
#include "smg/base/string_map.hpp"
#include "smg/base/url.hpp"

namespace smg::upstream {

// Lets the owner of a running connect() end it. Outlives the connect().
class ConnectHandle {
 public:
  void cancel();
  bool canceled() const { return canceled_; }

 private:
  friend class Connector;
  bool canceled_ = false;
  tcp::socket* socket_ = nullptr;      // the attempt under way
  tcp::resolver* resolver_ = nullptr;  // the look-up under way
};

class Connector {
 public:
  // Shorter than the 5 s after which common engines close an idle connection.
  static constexpr std::chrono::seconds kIdleTimeout{3};
  static constexpr std::size_t kMaxIdlePerWorker = 256;

  Connector(asio::io_context& context, Deadlines& deadlines,
            std::chrono::milliseconds connect_timeout);
  ~Connector();

  // An idle connection, or null. The caller must be ready for it to die before the answer.
  std::shared_ptr<Connection> take_idle(const Url& url);
  // A new one. Errc::connect_failed (Side::upstream, Retry::always); Side::gateway when this
  // process is out of descriptors or ports, which is not the worker's fault; Errc::canceled by
  // `handle`.
  awaitable<Result<std::shared_ptr<Connection>>> connect(const Url& url, ConnectHandle& handle);
  // Takes back a connection on which a message has ended cleanly and nothing is left over.
  void give_back(const Url& url, std::shared_ptr<Connection> connection);
  // Drops idle connections to that worker.
  void forget(const Url& url);

  Deadlines& deadlines() { return deadlines_; }

 private:
  class Idle;
  using IdleList = std::vector<std::unique_ptr<Idle>>;
  void drop(Idle& idle);
  awaitable<boost::system::error_code> open(tcp::socket& socket, tcp::endpoint endpoint);
  awaitable<std::vector<tcp::endpoint>> resolve(const Url& url, ConnectHandle& handle,
                                                boost::system::error_code& ec);

  asio::io_context& context_;
  Deadlines& deadlines_;
  std::chrono::milliseconds connect_timeout_;
  StringMap<IdleList> idle_;
};

}  // namespace smg::upstream
