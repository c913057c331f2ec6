#include "smg/base/url.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace smg {
namespace {

struct Good {
  const char* input;
  const char* host;
  std::uint16_t port;
  const char* path;
  const char* text;
  const char* authority;
};

void PrintTo(const Good& good, std::ostream* out) { *out << good.input; }

class GoodUrl : public testing::TestWithParam<Good> {};

TEST_P(GoodUrl, IsParsedIntoItsParts) {
  const Good& want = GetParam();
  const auto url = parse_url(want.input);
  ASSERT_TRUE(url) << url.error().detail;
  EXPECT_EQ(url->host, want.host);
  EXPECT_EQ(url->port, want.port);
  EXPECT_EQ(url->path, want.path);
  EXPECT_EQ(url->text, want.text);
  EXPECT_EQ(url->authority, want.authority);
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodUrl,
    testing::Values(
        Good{"http://a:8000", "a", 8000, "", "http://a:8000", "a:8000"},
        Good{"http://a", "a", 80, "", "http://a", "a"},
        Good{"http://a:80", "a", 80, "", "http://a:80", "a"},
        Good{"https://a", "a", 443, "", "https://a", "a"},
        Good{"https://a:80", "a", 80, "", "https://a:80", "a:80"},
        Good{"https://a:443/", "a", 443, "", "https://a:443", "a"},
        Good{"http://a:1/", "a", 1, "", "http://a:1", "a:1"},
        Good{"http://a:65535//", "a", 65535, "", "http://a:65535", "a:65535"},
        Good{"http://a:8000/v1/pool%20b/", "a", 8000, "/v1/pool%20b", "http://a:8000/v1/pool%20b",
             "a:8000"},
        Good{"http://Worker-0.Pool_A.svc.:9", "worker-0.pool_a.svc.", 9, "",
             "http://worker-0.pool_a.svc.:9", "worker-0.pool_a.svc.:9"},
        Good{"http://10.0.0.1:30000", "10.0.0.1", 30000, "", "http://10.0.0.1:30000",
             "10.0.0.1:30000"},
        Good{"http://1a.2b:5", "1a.2b", 5, "", "http://1a.2b:5", "1a.2b:5"},
        Good{"http://[::1]:80", "::1", 80, "", "http://[::1]:80", "[::1]"},
        Good{"http://[::1]", "::1", 80, "", "http://[::1]", "[::1]"},
        Good{"http://[2001:DB8::0001]:8000/p", "2001:db8::1", 8000, "/p",
             "http://[2001:db8::1]:8000/p", "[2001:db8::1]:8000"},
        // Without brackets, where only one reading makes sense.
        Good{"http://::1", "::1", 80, "", "http://[::1]", "[::1]"},
        Good{"http://fe80::1", "fe80::1", 80, "", "http://[fe80::1]", "[fe80::1]"},
        Good{"http://fe80::a:b", "fe80::a:b", 80, "", "http://[fe80::a:b]", "[fe80::a:b]"},
        Good{"http://1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", 80, "", "http://[1:2:3:4:5:6:7:8]",
             "[1:2:3:4:5:6:7:8]"},
        Good{"http://1:2:3:4:5:6:7:8:8000", "1:2:3:4:5:6:7:8", 8000, "",
             "http://[1:2:3:4:5:6:7:8]:8000", "[1:2:3:4:5:6:7:8]:8000"},
        Good{"http://::1:30000", "::1", 30000, "", "http://[::1]:30000", "[::1]:30000"}));

struct Bad {
  std::string_view input;
  const char* sentence;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.input; }

class BadUrl : public testing::TestWithParam<Bad> {};

TEST_P(BadUrl, IsRefusedWithASentence) {
  const auto url = parse_url(GetParam().input);
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().code, Errc::invalid_argument);
  EXPECT_EQ(url.error().detail, GetParam().sentence);
}

constexpr auto kNoScheme = "the URL has no scheme: write http://HOST:PORT or https://HOST:PORT";
constexpr auto kBlank = "the URL contains white space or a control character";
constexpr auto kUserInfo = "the URL must not contain a user name or a password";
constexpr auto kQuery = "the URL must not contain a query or a fragment";
constexpr auto kDots = "the path must not contain the segments . and ..";

INSTANTIATE_TEST_SUITE_P(
    Table, BadUrl,
    testing::Values(
        Bad{"", "the URL is empty"},  //
        Bad{"a:8000", kNoScheme},     //
        Bad{"http:/a", kNoScheme},    //
        Bad{"HTTP://a:8000", "the scheme must be written in lower case: http://"},
        Bad{"Https://a", "the scheme must be written in lower case: https://"},
        Bad{"grpc://a:1",
            "the scheme \"grpc\" is not supported: only http and https are supported"},
        Bad{"file:///etc/passwd",
            "the scheme \"file\" is not supported: only http and https are supported"},
        Bad{"://a", "the scheme \"\" is not supported: only http and https are supported"},
        Bad{"http://", "the URL has no host"},       //
        Bad{"http:///p", "the URL has no host"},     //
        Bad{"http://:8000", "the URL has no host"},  //
        Bad{"http://u:p@127.0.0.1:1", kUserInfo}, Bad{"http://@a", kUserInfo},
        Bad{"http://a?x=1", kQuery}, Bad{"http://a/p#f", kQuery}, Bad{"http://a/p?", kQuery},
        Bad{"http://a b", kBlank}, Bad{" http://a", kBlank}, Bad{"http://a\n", kBlank},
        Bad{{"http://a\0b", 10}, kBlank}, Bad{"http://a\x7f", kBlank},
        Bad{"http://b\xC3\xBC", "the URL contains a character that is not ASCII"},
        Bad{"http://a:0", "the port \"0\" is not a number from 1 to 65535"},
        Bad{"http://a:65536", "the port \"65536\" is not a number from 1 to 65535"},
        Bad{"http://a:", "the port \"\" is not a number from 1 to 65535"},
        Bad{"http://a:+80", "the port \"+80\" is not a number from 1 to 65535"},
        Bad{"http://a:080", "the port \"080\" is not a number from 1 to 65535"},
        Bad{"http://a:99999999999", "the port \"99999999999\" is not a number from 1 to 65535"},
        Bad{"http://a:80x", "the port \"80x\" is not a number from 1 to 65535"},
        Bad{"http://[::1]:0", "the port \"0\" is not a number from 1 to 65535"},
        Bad{"http://::1:8000",
            "\"::1:8000\" may end in a port or in a part of the address: put the IPv6 address in "
            "brackets, as in [::1]:8000"},
        Bad{"http://::1:70000", "the port \"70000\" is not a number from 1 to 65535"},
        Bad{"http://a:b:c",
            "\"a:b:c\" is neither HOST:PORT nor an IPv6 address; IPv6 addresses with a port are "
            "written [ADDRESS]:PORT"},
        Bad{"http://[::1", "the IPv6 address has no closing bracket"},
        Bad{"http://[::g]", "\"::g\" is not an IPv6 address"},
        Bad{"http://[a]:1", "\"a\" is not an IPv6 address"},
        Bad{"http://[::1]8000", "after the bracketed IPv6 address only :PORT may follow"},
        Bad{"http://[fe80::1%25eth0]:1", "an IPv6 address with a zone is not supported"},
        Bad{"http://a..b", "\"a..b\" is not a host name or an IP address"},
        Bad{"http://-a", "\"-a\" is not a host name or an IP address"},
        Bad{"http://a%41", "\"a%41\" is not a host name or an IP address"},
        Bad{"http://a,b", "\"a,b\" is not a host name or an IP address"},
        Bad{"http://.", "\".\" is not a host name or an IP address"},
        Bad{"http://a/b\\c", "the path contains a character that must be percent-encoded"},
        Bad{"http://a/%zz", "the path contains a character that must be percent-encoded"},
        Bad{"http://a/x/../y", kDots}, Bad{"http://a/%2e%2E/y", kDots}));

// A resolver takes all of these for 169.254.169.254 or 127.0.0.1.
TEST(Url, NumbersThatOnlyAResolverReadsAsAnAddressAreRefused) {
  for (const char* text : {"http://2852039166", "http://0xa9fea9fe", "http://0251.0376.0251.0376",
                           "http://127.1", "http://0x7f.1", "http://256.1.1.1", "http://1.2.3.4.5",
                           "http://127.0.0.1.", "http://0X7f000001"}) {
    EXPECT_FALSE(parse_url(text)) << text;
  }
}

TEST(Url, LongerThanTwoKibibytesIsRefused) {
  const std::string base = "http://a/";
  EXPECT_TRUE(parse_url(base + std::string(2048 - base.size(), 'x')));
  EXPECT_FALSE(parse_url(base + std::string(2049 - base.size(), 'x')));
}

TEST(Url, AnErrorNeverRepeatsAPassword) {
  const auto url = parse_url("http://user:hunter2@a:0?x");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().detail.find("hunter2"), std::string::npos);
}

TEST(Url, TlsFollowsTheScheme) {
  EXPECT_TRUE(parse_url("https://a")->tls());
  EXPECT_FALSE(parse_url("http://a")->tls());
}

TEST(LinkLocal, CoversAddressesAndMetadataHosts) {
  for (const char* text :
       {"http://169.254.169.254", "http://169.254.0.1:8000", "http://[fe80::1]", "http://[febf::1]",
        "http://[::ffff:169.254.169.254]", "http://[64:ff9b::a9fe:a9fe]", "http://100.100.100.200",
        "http://[fd00:ec2::254]", "http://metadata.google.internal", "http://METADATA",
        "http://metadata.google.internal.", "http://instance-data:80"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().detail;
    EXPECT_TRUE(is_link_local(*url)) << text;
  }
}

TEST(LinkLocal, LeavesOtherHostsAlone) {
  for (const char* text :
       {"http://169.253.1.1", "http://127.0.0.1", "http://[fec0::1]", "http://[::1]",
        "http://[::ffff:10.0.0.1]", "http://metadata.example.com", "http://[fd00:ec2::253]"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text << ": " << url.error().detail;
    EXPECT_FALSE(is_link_local(*url)) << text;
  }
}

}  // namespace
}  // namespace smg
