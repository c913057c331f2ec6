#include "smg/server/route_table.hpp"

#include <algorithm>
#include <utility>

namespace smg::server {
namespace {

constexpr std::string_view kParam = "{id}";

// Whether `path` fits `pattern`; `param` gets what stands for {id}.
bool fits(std::string_view pattern, std::string_view path, std::string_view& param) {
  const std::size_t at = pattern.find(kParam);
  if (at == std::string_view::npos) {
    param = {};
    return pattern == path;
  }
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kParam.size());
  if (path.size() <= before.size() + after.size()) return false;
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  param = path.substr(before.size(), path.size() - before.size() - after.size());
  return param.find('/') == std::string_view::npos;
}

bool serves(const Route& route, std::string_view method) {
  return route.method == method || (method == "HEAD" && route.method == "GET");
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) {
    const auto known = std::find(paths_.begin(), paths_.end(), route.path);
    route_path_.push_back(static_cast<std::size_t>(known - paths_.begin()));
    if (known == paths_.end()) paths_.push_back(route.path);
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    if (routes_[i].path.find(kParam) == std::string::npos) exact_[routes_[i].path].push_back(i);
  }
  paths_.emplace_back("other");
}

RouteTable::Match RouteTable::find(std::string_view method, std::string_view path) const {
  Match match;
  match.index = paths_.size() - 1;
  const auto consider = [&](std::size_t i, std::string_view param) {
    match.index = route_path_[i];
    if (serves(routes_[i], method)) {
      match.route = &routes_[i];
      match.param = param;
      return true;
    }
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += routes_[i].method;
    if (routes_[i].method == "GET") match.allow += ", HEAD";
    return false;
  };
  if (const auto exact = exact_.find(path); exact != exact_.end()) {
    for (const std::size_t i : exact->second) {
      if (consider(i, {})) break;
    }
    return match;
  }
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    std::string_view param;
    if (fits(routes_[i].path, path, param) && consider(i, param)) break;
  }
  return match;
}

}  // namespace smg::server
