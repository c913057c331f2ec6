#include "smg/server/listener.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <utility>

#include "session.hpp"
#include "smg/base/log.hpp"

namespace smg::server {
namespace {

constexpr int kBacklog = 4096;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when out of descriptors

}  // namespace

struct Listener::Impl : std::enable_shared_from_this<Impl> {
  std::vector<IoThread*> threads;
  RoutesOf routes;
  std::shared_ptr<SessionShared> shared = std::make_shared<SessionShared>();
  std::vector<tcp::acceptor> acceptors;
  std::vector<std::list<Session*>> sessions;  // per thread, touched only there
  TimePoint last_complaint{};

  void accept(std::size_t index);
  void on_accept_error(std::size_t index, const boost::system::error_code& ec);
  void start_session(std::size_t thread, tcp::socket socket);
  std::size_t least_busy() const;
  Result<> bind(const tcp::endpoint& endpoint);
  template <class F>
  void on_each_session(F f);
};

std::size_t Listener::Impl::least_busy() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    if (threads[i]->connections.load() < threads[best]->connections.load()) best = i;
  }
  return best;
}

void Listener::Impl::accept(std::size_t index) {
  const std::size_t thread = least_busy();
  // The socket is made in the context of the thread that will serve it.
  acceptors[index].async_accept(threads[thread]->context,
                                [self = shared_from_this(), index, thread](
                                    const boost::system::error_code& ec, tcp::socket socket) {
                                  if (!self->acceptors[index].is_open()) return;
                                  if (ec) {
                                    self->on_accept_error(index, ec);
                                    return;
                                  }
                                  self->threads[thread]->connections.fetch_add(1);
                                  if (thread == 0) {
                                    self->start_session(thread, std::move(socket));
                                  } else {
                                    asio::post(self->threads[thread]->context,
                                               [self, thread, moved = std::move(socket)]() mutable {
                                                 self->start_session(thread, std::move(moved));
                                               });
                                  }
                                  self->accept(index);
                                });
}

void Listener::Impl::on_accept_error(std::size_t index, const boost::system::error_code& ec) {
  if (ec == asio::error::operation_aborted) return;
  if (ec == asio::error::connection_aborted) {
    accept(index);
    return;
  }
  if (Clock::now() - last_complaint >= std::chrono::seconds(1)) {
    last_complaint = Clock::now();
    log::write(log::target("smg::server"), log::Level::error, "cannot accept connections",
               {{"error", std::string_view(ec.message())}});
  }
  auto timer = std::make_shared<asio::steady_timer>(threads[0]->context, kAcceptPause);
  timer->async_wait([self = shared_from_this(), index, timer](const boost::system::error_code&) {
    if (self->acceptors[index].is_open()) self->accept(index);
  });
}

void Listener::Impl::start_session(std::size_t thread, tcp::socket socket) {
  IoThread& io = *threads[thread];
  auto connection = std::make_shared<Connection>(std::move(socket), io.deadlines);
  auto session = std::make_unique<Session>(std::move(connection), shared, routes(thread));
  std::list<Session*>& list = sessions[thread];
  const auto place = list.insert(list.end(), session.get());
  Session& serving = *session;
  asio::co_spawn(io.context, serving.run(),
                 [self = shared_from_this(), kept = std::move(session), thread,
                  place](std::exception_ptr) mutable {
                   self->sessions[thread].erase(place);
                   self->threads[thread]->connections.fetch_sub(1);
                   kept.reset();
                 });
}

template <class F>
void Listener::Impl::on_each_session(F f) {
  for (std::size_t i = 0; i < threads.size(); ++i) {
    asio::post(threads[i]->context, [self = shared_from_this(), i, f] {
      for (Session* session : self->sessions[i]) f(*session);
    });
  }
}

Result<> Listener::Impl::bind(const tcp::endpoint& endpoint) {
  boost::system::error_code ec;
  tcp::acceptor acceptor(threads[0]->context);
  acceptor.open(endpoint.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec && endpoint.address().is_v6() && !endpoint.address().is_unspecified()) {
    acceptor.set_option(asio::ip::v6_only(true), ec);
  }
  if (!ec) acceptor.bind(endpoint, ec);
  if (!ec) acceptor.listen(kBacklog, ec);
  if (ec) {
    return Error{Errc::unavailable, Side::gateway, Retry::never, ec.message()};
  }
  acceptors.push_back(std::move(acceptor));
  return {};
}

Listener::Listener(std::vector<IoThread*> threads, SessionOptions options, RoutesOf routes,
                   SessionObserver* observer)
    : impl_(std::make_shared<Impl>()) {
  impl_->threads = std::move(threads);
  impl_->routes = std::move(routes);
  impl_->shared->options = std::move(options);
  impl_->shared->observer = observer;
  impl_->sessions.resize(impl_->threads.size());
}

Listener::~Listener() {
  // Handlers that were never called keep the Impl until their contexts are destroyed, in any order.
  impl_->acceptors.clear();
}

Result<> Listener::open(const std::string& host, std::uint16_t port) {
  boost::system::error_code ec;
  std::string name = host;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  tcp::resolver resolver(impl_->threads[0]->context);
  const auto found = resolver.resolve(name, std::to_string(port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec) {
    return Error{Errc::unavailable, Side::gateway, Retry::never,
                 "cannot resolve " + host + ": " + ec.message()};
  }
  for (const auto& entry : found) {
    const Result<> bound = impl_->bind(entry.endpoint());
    if (!bound) {
      return Error{
          Errc::unavailable, Side::gateway, Retry::never,
          "cannot listen on " + host + ":" + std::to_string(port) + ": " + bound.error().detail};
    }
  }
  for (std::size_t i = 0; i < impl_->acceptors.size(); ++i) impl_->accept(i);
  return {};
}

std::uint16_t Listener::port() const {
  boost::system::error_code ec;
  return impl_->acceptors.empty() ? std::uint16_t{0}
                                  : impl_->acceptors.front().local_endpoint(ec).port();
}

void Listener::drain() {
  impl_->shared->draining = true;
  asio::post(impl_->threads[0]->context, [impl = impl_] {
    boost::system::error_code ignored;
    for (tcp::acceptor& acceptor : impl->acceptors) acceptor.close(ignored);
  });
  impl_->on_each_session([](Session& session) { session.close_if_idle(); });
}

std::size_t Listener::active() const { return impl_->shared->active.load(); }

void Listener::stop() {
  drain();
  impl_->on_each_session([](Session& session) { session.cut(); });
}

}  // namespace smg::server
