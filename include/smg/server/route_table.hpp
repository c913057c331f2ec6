// The route table of a listener: method and path to handler. Immutable after start; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "smg/base/string_map.hpp"
#include "smg/proxy/call.hpp"

namespace smg::server {

// Who may call a route when an API key is set; without a key everyone may, except that `admin`
// routes are then for loopback clients only.
enum class Access : std::uint8_t { open, keyed, admin };

using Handler = std::function<awaitable<void>(proxy::Call&)>;

struct Route {
  std::string method;  // GET also serves HEAD
  std::string path;    // "/workers/{id}": one whole segment may be a parameter
  Access access = Access::open;
  Handler handler;
};

class RouteTable {
 public:
  explicit RouteTable(std::vector<Route> routes);

  struct Match {
    const Route* route = nullptr;  // null: see `allow`
    std::size_t index = 0;         // of `path` among paths()
    std::string_view param;
    std::string allow;  // not empty: the path exists, these methods are allowed
  };
  Match find(std::string_view method, std::string_view path) const;

  // Distinct paths: the values of the `path` label. The last one is "other".
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::vector<Route> routes_;
  std::vector<std::string> paths_;
  std::vector<std::size_t> route_path_;        // index in paths_ of each route
  StringMap<std::vector<std::size_t>> exact_;  // routes without a parameter
};

}  // namespace smg::server
