#include "smg/server/route_table.hpp"

#include <gtest/gtest.h>

namespace smg::server {
namespace {

RouteTable table() {
  return RouteTable({{"GET", "/workers", Access::keyed, {}},
                     {"POST", "/workers", Access::admin, {}},
                     {"GET", "/workers/{id}", Access::keyed, {}},
                     {"DELETE", "/workers/{id}", Access::admin, {}},
                     {"POST", "/v1/messages", Access::keyed, {}},
                     {"POST", "/v1/messages/count_tokens", Access::keyed, {}}});
}

TEST(RouteTable, FindsTheRouteOfMethodAndPath) {
  const RouteTable routes = table();
  const RouteTable::Match match = routes.find("POST", "/workers");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->access, Access::admin);
  EXPECT_EQ(routes.paths()[match.index], "/workers");
}

TEST(RouteTable, GetServesHead) {
  const RouteTable routes = table();
  const RouteTable::Match match = routes.find("HEAD", "/workers");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->method, "GET");
}

TEST(RouteTable, AParameterIsOneWholeSegment) {
  const RouteTable routes = table();
  const RouteTable::Match match = routes.find("DELETE", "/workers/abc");
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.param, "abc");
  EXPECT_EQ(routes.paths()[match.index], "/workers/{id}");
  EXPECT_EQ(routes.find("DELETE", "/workers/").route, nullptr);
  EXPECT_EQ(routes.find("DELETE", "/workers/a/b").route, nullptr);
  EXPECT_TRUE(routes.find("DELETE", "/workers/a/b").allow.empty());
}

TEST(RouteTable, AWrongMethodNamesTheAllowedOnes) {
  const RouteTable routes = table();
  const RouteTable::Match match = routes.find("PUT", "/workers/abc");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allow, "GET, HEAD, DELETE");
  EXPECT_EQ(routes.paths()[match.index], "/workers/{id}");
}

TEST(RouteTable, AnUnknownPathCountsAsOther) {
  const RouteTable routes = table();
  const RouteTable::Match match = routes.find("GET", "/nope");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_TRUE(match.allow.empty());
  EXPECT_EQ(routes.paths()[match.index], "other");
}

}  // namespace
}  // namespace smg::server
