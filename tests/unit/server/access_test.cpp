#include "../../../src/server/access.hpp"

#include <gtest/gtest.h>

namespace smg::server {
namespace {

using boost::asio::ip::make_address;

Verdict judge(Access access, const SessionOptions& options, const char* peer,
              std::vector<protocol::HeaderField> fields = {}) {
  protocol::RequestHead head;
  head.fields = std::move(fields);
  return judge_access(access, head, is_loopback(make_address(peer)), options);
}

TEST(Access, OpenRoutesNeedNoKey) {
  SessionOptions options;
  options.api_key = "k";
  EXPECT_EQ(judge(Access::open, options, "10.0.0.1"), Verdict::allowed);
}

TEST(Access, KeyedRoutesTakeABearerOrAnXApiKey) {
  SessionOptions options;
  options.api_key = "secret";
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1"), Verdict::bad_key);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1", {{"Authorization", "Bearer secret"}}),
            Verdict::allowed);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1", {{"authorization", "bearer secret"}}),
            Verdict::allowed);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1", {{"X-Api-Key", "secret"}}), Verdict::allowed);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1", {{"X-Api-Key", "secret2"}}),
            Verdict::bad_key);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1", {{"Authorization", "Bearer secre"}}),
            Verdict::bad_key);
}

TEST(Access, WithoutAKeyAdminRoutesAreForLoopbackClients) {
  SessionOptions options;
  EXPECT_EQ(judge(Access::admin, options, "127.0.0.1"), Verdict::allowed);
  EXPECT_EQ(judge(Access::admin, options, "::1"), Verdict::allowed);
  EXPECT_EQ(judge(Access::admin, options, "::ffff:127.0.0.1"), Verdict::allowed);
  EXPECT_EQ(judge(Access::admin, options, "10.0.0.1"), Verdict::not_local);
  EXPECT_EQ(judge(Access::admin, options, "::ffff:10.0.0.1"), Verdict::not_local);
  EXPECT_EQ(judge(Access::keyed, options, "10.0.0.1"), Verdict::allowed);
  options.admin_open = true;
  EXPECT_EQ(judge(Access::admin, options, "10.0.0.1"), Verdict::allowed);
}

TEST(Access, AKeyIsAskedOfLoopbackClientsToo) {
  SessionOptions options;
  options.api_key = "secret";
  EXPECT_EQ(judge(Access::admin, options, "127.0.0.1"), Verdict::bad_key);
}

}  // namespace
}  // namespace smg::server
