#include "smg/server/admin_routes.hpp"

#include <optional>
#include <utility>

#include "smg/control/admin.hpp"
#include "smg/proxy/call.hpp"

namespace smg::server {

namespace {

using control::Admin;
using control::Plane;
using control::Reply;

awaitable<void> send(proxy::Call& call, Reply reply) {
  if (reply.error) {
    proxy::ErrorReply error;
    error.code = *reply.error;
    error.message = std::move(reply.body);
    co_await proxy::respond_error(call, std::move(error));
    co_return;
  }
  proxy::Response response;
  response.status = reply.status;
  response.content_type = reply.content_type;
  response.body = std::move(reply.body);
  response.headers = std::move(reply.headers);
  if (!reply.error_code.empty()) {
    response.headers.emplace_back("x-smg-error-code", reply.error_code);
  }
  co_await proxy::respond(call, std::move(response));
}

awaitable<void> send_when_done(proxy::Call& call, awaitable<Reply> operation) {
  Reply reply = co_await std::move(operation);
  co_await send(call, std::move(reply));
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return {};
}

// A `%` that is no escape stays as it is.
std::string decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
      continue;
    }
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high && low) {
        out += static_cast<char>(*high * 16 + *low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

void add_worker_routes(std::vector<Route>& routes, Admin& admin) {
  routes.push_back({"POST", "/workers", Access::admin, [&admin](proxy::Call& call) {
                      return send_when_done(call, admin.create_worker(std::string(call.body)));
                    }});
  routes.push_back({"GET", "/workers", Access::keyed, [&admin](proxy::Call& call) {
                      return send(call, admin.list_workers(query_value(call.head.query, "model")));
                    }});
  routes.push_back({"GET", "/workers/{id}", Access::keyed, [&admin](proxy::Call& call) {
                      return send(call, admin.get_worker(call.path_param));
                    }});
  routes.push_back({"PUT", "/workers/{id}", Access::admin, [&admin](proxy::Call& call) {
                      return send_when_done(call, admin.replace_worker(std::string(call.path_param),
                                                                       std::string(call.body)));
                    }});
  routes.push_back({"PATCH", "/workers/{id}", Access::admin, [&admin](proxy::Call& call) {
                      return send_when_done(call, admin.patch_worker(std::string(call.path_param),
                                                                     std::string(call.body)));
                    }});
  routes.push_back({"DELETE", "/workers/{id}", Access::admin, [&admin](proxy::Call& call) {
                      return send_when_done(call,
                                            admin.remove_worker(std::string(call.path_param)));
                    }});
}

}  // namespace

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (decode(pair.substr(0, equals)) != name) continue;
    return equals == std::string_view::npos ? std::string{} : decode(pair.substr(equals + 1));
  }
  return {};
}

std::vector<Route> probe_routes(Plane& plane) {
  Admin& admin = plane.admin();
  std::vector<Route> routes;
  for (const char* path : {"/liveness", "/health"}) {
    routes.push_back({"GET", path, Access::open,
                      [&admin](proxy::Call& call) { return send(call, admin.liveness()); }});
  }
  routes.push_back({"GET", "/readiness", Access::open,
                    [&admin](proxy::Call& call) { return send(call, admin.readiness()); }});
  return routes;
}

std::vector<Route> admin_routes(Plane& plane) {
  Admin& admin = plane.admin();
  std::vector<Route> routes = probe_routes(plane);
  add_worker_routes(routes, admin);
  routes.push_back({"GET", "/v1/models", Access::open,
                    [&admin](proxy::Call& call) { return send(call, admin.models()); }});
  routes.push_back({"GET", "/get_loads", Access::keyed, [&admin](proxy::Call& call) {
                      return send(call, admin.loads(query_value(call.head.query, "model")));
                    }});
  routes.push_back({"GET", "/loads", Access::open, [&admin](proxy::Call& call) {
                      return send(call, admin.loads(query_value(call.head.query, "model")));
                    }});
  routes.push_back({"POST", "/flush_cache", Access::admin, [&admin](proxy::Call& call) {
                      return send_when_done(call, admin.flush_cache());
                    }});
  return routes;
}

}  // namespace smg::server
