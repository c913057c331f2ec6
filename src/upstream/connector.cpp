#include "smg/upstream/connector.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <string>
#include <utility>

namespace smg::upstream {
namespace {

// Closes the attempt's socket and cancels its look-up when the time is over.
class ConnectTimer final : public Deadline {
 public:
  explicit ConnectTimer(ConnectHandle& handle) : handle_(handle) {}
  void on_deadline() override {
    fired = true;
    handle_.cancel();
  }
  bool fired = false;

 private:
  ConnectHandle& handle_;
};

// Out of descriptors, ports or memory: says nothing about the worker.
bool is_local(const boost::system::error_code& ec) {
  return ec == asio::error::no_descriptors || ec == asio::error::no_buffer_space ||
         ec == asio::error::no_memory || ec == boost::system::errc::address_not_available ||
         ec == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

void ConnectHandle::cancel() {
  canceled_ = true;
  boost::system::error_code ignored;
  if (socket_ != nullptr) socket_->close(ignored);
  if (resolver_ != nullptr) resolver_->cancel();
}

class Connector::Idle final : public Deadline {
 public:
  Idle(Connector& owner, IdleList& list, std::shared_ptr<Connection> connection)
      : owner_(owner), list_(list), connection_(std::move(connection)) {
    owner_.deadlines_.arm(*this, kIdleTimeout);
  }
  ~Idle() override {
    if (connection_) connection_->close();
  }
  void watch() {
    connection_->watch([this] { owner_.drop(*this); });
  }
  void on_deadline() override { owner_.drop(*this); }
  std::shared_ptr<Connection> take() {
    connection_->unwatch();
    return std::exchange(connection_, nullptr);
  }
  IdleList& list() { return list_; }

 private:
  Connector& owner_;
  IdleList& list_;
  std::shared_ptr<Connection> connection_;
};

Connector::Connector(asio::io_context& context, Deadlines& deadlines,
                     std::chrono::milliseconds connect_timeout)
    : context_(context), deadlines_(deadlines), connect_timeout_(connect_timeout) {}

Connector::~Connector() = default;

void Connector::drop(Idle& idle) {
  IdleList& list = idle.list();
  const auto it = std::find_if(list.begin(), list.end(),
                               [&](const auto& candidate) { return candidate.get() == &idle; });
  if (it != list.end()) list.erase(it);  // destroys `idle`
}

std::shared_ptr<Connection> Connector::take_idle(const Url& url) {
  const auto it = idle_.find(std::string_view(url.text));
  if (it == idle_.end()) return nullptr;
  while (!it->second.empty()) {
    std::shared_ptr<Connection> connection = it->second.back()->take();
    it->second.pop_back();
    if (connection->quiet()) return connection;
    connection->close();
  }
  return nullptr;
}

void Connector::give_back(const Url& url, std::shared_ptr<Connection> connection) {
  auto it = idle_.find(std::string_view(url.text));
  if (it == idle_.end()) it = idle_.try_emplace(url.text).first;
  IdleList& list = it->second;
  if (list.size() >= kMaxIdlePerWorker) {
    connection->close();
    return;
  }
  list.push_back(std::make_unique<Idle>(*this, list, std::move(connection)));
  list.back()->watch();  // may drop it at once
}

void Connector::forget(const Url& url) { idle_.erase(url.text); }

awaitable<std::vector<tcp::endpoint>> Connector::resolve(const Url& url, ConnectHandle& handle,
                                                         boost::system::error_code& ec) {
  std::vector<tcp::endpoint> endpoints;
  const auto address = asio::ip::make_address(url.host, ec);
  if (!ec) {
    endpoints.emplace_back(address, url.port);
    co_return endpoints;
  }
  tcp::resolver resolver(context_);
  handle.resolver_ = &resolver;
  const std::string port = std::to_string(url.port);
  const tcp::resolver::results_type results = co_await resolver.async_resolve(
      url.host, port, tcp::resolver::numeric_service, asio::redirect_error(use_awaitable, ec));
  handle.resolver_ = nullptr;
  for (const auto& entry : results) endpoints.push_back(entry.endpoint());
  co_return endpoints;
}

awaitable<boost::system::error_code> Connector::open(tcp::socket& socket, tcp::endpoint endpoint) {
  boost::system::error_code ec;
  socket.close(ec);
  socket.open(endpoint.protocol(), ec);
  if (ec) co_return ec;
  co_await socket.async_connect(endpoint, asio::redirect_error(use_awaitable, ec));
  co_return ec;
}

awaitable<Result<std::shared_ptr<Connection>>> Connector::connect(const Url& url,
                                                                  ConnectHandle& handle) {
  ConnectTimer timer(handle);
  deadlines_.arm(timer, connect_timeout_);
  boost::system::error_code ec;
  const std::vector<tcp::endpoint> endpoints = co_await resolve(url, handle, ec);
  for (const tcp::endpoint& endpoint : endpoints) {
    if (handle.canceled()) break;
    tcp::socket socket(context_);
    handle.socket_ = &socket;
    ec = co_await open(socket, endpoint);
    handle.socket_ = nullptr;
    if (!ec && !handle.canceled()) {
      co_return std::make_shared<Connection>(std::move(socket), deadlines_);
    }
  }
  if (timer.fired) {
    co_return Error{Errc::connect_failed, Side::upstream, Retry::always,
                    "connecting to " + url.text + " took too long"};
  }
  if (handle.canceled()) {
    co_return Error{Errc::canceled, Side::downstream, Retry::never, "canceled"};
  }
  co_return Error{Errc::connect_failed, is_local(ec) ? Side::gateway : Side::upstream,
                  Retry::always, "cannot connect to " + url.text + ": " + ec.message()};
}

}  // namespace smg::upstream
