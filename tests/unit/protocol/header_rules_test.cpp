#include "smg/protocol/header_rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

namespace smg::protocol {
namespace {

using namespace std::string_literals;

// The worker's head for a POST with those fields after Host.
std::string forward(const std::string& fields, const UpstreamHead& options) {
  const std::string head = "POST /v1/x?q=1 HTTP/1.1\r\nHost: gateway\r\n" + fields + "\r\n";
  RequestHead request;
  EXPECT_EQ(parse_request_head(head, HeadLimits{}, request), HeadError::none) << fields;
  std::string out;
  write_request_head(out, request, options);
  return out;
}

UpstreamHead upstream() {
  UpstreamHead options;
  options.authority = "worker:8000";
  options.request_id = "req-1";
  options.content_length = 5;
  return options;
}

// What a worker's head looks like around the fields that pass.
std::string worker_head(const std::string& fields) {
  return "POST /v1/x?q=1 HTTP/1.1\r\nHost: worker:8000\r\n" + fields +
         "x-request-id: req-1\r\nContent-Length: 5\r\n\r\n";
}

// The client's head for an answer with this status line and these fields.
std::string answer(const std::string& start_and_fields, const DownstreamHead& options,
                   bool head_request = false) {
  ResponseHead response;
  const std::string head = start_and_fields + "\r\n";
  EXPECT_EQ(parse_response_head(head, HeadLimits{}, head_request, response), HeadError::none);
  std::string out;
  write_response_head(out, response, options);
  return out;
}

TEST(WriteRequestHead, PassesEndToEndFieldsInOrder) {
  const std::string fields =
      "User-Agent: curl/8\r\nCookie: a=1\r\ntraceparent: 00-1\r\nX-A: 1\r\nx-a: 2\r\n"
      "x-smg-routing-key: k\r\nx-correlation-id: c\r\nContent-Type: application/json\r\nX-Empty: "
      "\r\n";
  EXPECT_EQ(forward(fields, upstream()), worker_head(fields));
}

TEST(WriteRequestHead, DropsWhatIsForThisConnectionOrForTheGateway) {
  const char* const dropped[] = {
      "Connection: keep-alive\r\n",
      "Keep-Alive: timeout=5\r\n",
      "Proxy-Connection: keep-alive\r\n",
      "Proxy-Authenticate: Basic\r\n",
      "Proxy-Authorization: Basic abc\r\n",
      "TE: trailers\r\n",
      "Trailer: X-A\r\n",
      "Transfer-Encoding: chunked\r\n",
      "Upgrade: h2c\r\n",
      "HTTP2-Settings: AAMAAABk\r\n",
      "EXPECT: 100-continue\r\n",
      "Content-Length: 77\r\n",
      "X-Request-ID: theirs\r\n",
      "x-request-id: a\r\nx-request-id: b\r\n",
      "X-SMG-Routing-Tokens: 1,2\r\n",
      "x-smg-target-worker: 1\r\n",
  };
  for (const std::string field : dropped) {
    EXPECT_EQ(forward("A: 1\r\n" + field + "B: 2\r\n", upstream()), worker_head("A: 1\r\nB: 2\r\n"))
        << field;
  }
}

TEST(WriteRequestHead, DropsWhatConnectionNames) {
  EXPECT_EQ(
      forward("Connection: close, X-Hop\r\nx-hop: 1\r\nX-Hop: 2\r\nX-Hop2: 3\r\n", upstream()),
      worker_head("X-Hop2: 3\r\n"));
  EXPECT_EQ(forward("a: 1\r\nb: 2\r\nConnection: A\r\nc: 3\r\nConnection: B\r\n", upstream()),
            worker_head("c: 3\r\n"));
}

TEST(WriteRequestHead, KeepsEndToEndFieldsThatConnectionNames) {
  const std::string fields =
      "Authorization: Bearer k\r\nx-api-key: k\r\nCookie: c\r\nContent-Type: application/json\r\n"
      "Content-Encoding: x\r\nAccept: a\r\nForwarded: for=1\r\nX-Forwarded-For: 1\r\n"
      "X-Real-IP: 1\r\nx-smg-routing-key: k\r\ntraceparent: t\r\n";
  EXPECT_EQ(forward("Connection: authorization, x-api-key, cookie, content-type, content-encoding,"
                    "accept, forwarded, x-forwarded-for, x-real-ip, x-smg-routing-key,"
                    "traceparent, host, content-length, x-request-id\r\n" +
                        fields,
                    upstream()),
            worker_head(fields));
}

TEST(WriteRequestHead, GivesAWorkerItsOwnKey) {
  UpstreamHead options = upstream();
  options.worker_key = "wk";
  options.gateway_key = "gk";
  EXPECT_EQ(
      forward("A: 1\r\nAuthorization: Bearer mine\r\nauthorization: Basic b\r\nB: 2\r\n", options),
      worker_head("A: 1\r\nB: 2\r\nAuthorization: Bearer wk\r\n"));
  EXPECT_EQ(forward("", options), worker_head("Authorization: Bearer wk\r\n"));
  EXPECT_EQ(forward("x-api-key: gk\r\n", options), worker_head("Authorization: Bearer wk\r\n"));
  EXPECT_EQ(forward("x-api-key: mine\r\n", options),
            worker_head("x-api-key: mine\r\nAuthorization: Bearer wk\r\n"));
}

TEST(WriteRequestHead, NeverPassesTheGatewaysKey) {
  UpstreamHead options = upstream();
  options.gateway_key = "s3cret";
  for (const std::string field :
       {"Authorization: Bearer s3cret\r\n", "authorization: BEARER  s3cret\r\n",
        "Authorization: Bearer\ts3cret \r\n", "Authorization: s3cret\r\n",
        "Authorization: Token s3cret\r\n", "X-API-Key: s3cret\r\n", "x-api-key:s3cret\r\n"}) {
    EXPECT_EQ(forward(field, options), worker_head("")) << field;
  }
  for (const std::string field :
       {"Authorization: Bearer other1\r\n", "Authorization: Bearer s3cret2\r\n",
        "x-api-key: S3CRET\r\n", "Authorization:\r\n", "x-api-key:\r\n"}) {
    std::string expected = field;
    if (field.ends_with(":\r\n")) expected.insert(expected.size() - 2, " ");
    EXPECT_EQ(forward(field, options), worker_head(expected)) << field;
  }
}

TEST(WriteRequestHead, PassesEveryCredentialWithoutAGatewayKey) {
  EXPECT_EQ(forward("Authorization: Bearer k\r\nx-api-key: \r\n", upstream()),
            worker_head("Authorization: Bearer k\r\nx-api-key: \r\n"));
}

TEST(WriteRequestHead, WritesTheTargetBehindThePrefixAndALengthOnlyForABody) {
  RequestHead request;
  const std::string head = "GET http://gateway/models?a HTTP/1.0\r\nConnection: close\r\n\r\n";
  ASSERT_EQ(parse_request_head(head, HeadLimits{}, request), HeadError::none);
  UpstreamHead options;
  options.path_prefix = "/base";
  options.authority = "w";
  options.has_body = false;
  std::string out = "before";
  write_request_head(out, request, options);
  EXPECT_EQ(out, "beforeGET /base/models?a HTTP/1.1\r\nHost: w\r\n\r\n");
}

TEST(WriteRequestHead, LetsNoOptionAddALine) {
  UpstreamHead options = upstream();
  options.authority = "w\r\nA: 1";
  options.request_id = "r\nB: 2";
  options.worker_key = "k\r\n\r\nGET /";
  options.path_prefix = "/p\r\n";
  const std::string out = forward("", options);
  EXPECT_EQ(out,
            "POST /p  /v1/x?q=1 HTTP/1.1\r\nHost: w  A: 1\r\nAuthorization: Bearer k    GET /\r\n"
            "x-request-id: r B: 2\r\nContent-Length: 5\r\n\r\n");
}

TEST(WriteResponseHead, PassesEndToEndFieldsInOrder) {
  DownstreamHead options;
  options.request_id = "req-1";
  options.routed_worker = "http://w:1";
  EXPECT_EQ(answer("HTTP/1.1 200 Fine\r\nServer: uvicorn\r\nSet-Cookie: a\r\nContent-Length: 3\r\n"
                   "Set-Cookie: b\r\nContent-Encoding: gzip\r\nRetry-After: 3\r\n",
                   options),
            "HTTP/1.1 200 Fine\r\nServer: uvicorn\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n"
            "Content-Encoding: gzip\r\nRetry-After: 3\r\nx-request-id: req-1\r\n"
            "x-smg-routed-worker-id: http://w:1\r\nContent-Length: 3\r\n\r\n");
}

TEST(WriteResponseHead, DropsWhatIsForThisConnectionOrFromAnotherGateway) {
  EXPECT_EQ(answer("HTTP/1.0 200\r\nConnection: keep-alive, X-Hop, Content-Type\r\nX-Hop: 1\r\n"
                   "Keep-Alive: timeout=5\r\nContent-Type: a/b\r\nTrailer: x\r\nUpgrade: h2c\r\n"
                   "X-Request-Id: theirs\r\nx-smg-routed-worker-id: theirs\r\n"
                   "X-SMG-Error-Code: theirs\r\nProxy-Authenticate: Basic\r\n"
                   "Content-Length: 3\r\n",
                   DownstreamHead{}),
            "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\n");
}

TEST(WriteResponseHead, WritesTheFramingItIsTold) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
  DownstreamHead options;
  options.framing = Framing::chunked;
  EXPECT_EQ(answer(chunked, options), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  options.framing = Framing::until_close;
  options.client_minor_version = 0;
  EXPECT_EQ(answer(chunked, options), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
}

TEST(WriteResponseHead, KeepsADeclaredLengthWhereThereIsNoBody) {
  const std::string length = "Content-Length: 9\r\n";
  DownstreamHead options;
  options.framing = Framing::none;
  EXPECT_EQ(answer("HTTP/1.1 200 OK\r\n" + length, options, true),
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(answer("HTTP/1.1 304 Not Modified\r\n" + length, options),
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(answer("HTTP/1.1 200 OK\r\n", options, true), "HTTP/1.1 200 OK\r\n\r\n");
  EXPECT_EQ(answer("HTTP/1.1 204 No Content\r\n" + length, options),
            "HTTP/1.1 204 No Content\r\n\r\n");
  options.framing = Framing::chunked;
  EXPECT_EQ(answer("HTTP/1.1 204 No Content\r\n", options), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(WriteResponseHead, SaysWhetherTheConnectionStays) {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  const std::string written = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  DownstreamHead options;
  EXPECT_EQ(answer(ok, options), written + "\r\n");
  options.client_minor_version = 0;
  EXPECT_EQ(answer(ok, options), written + "Connection: keep-alive\r\n\r\n");
  options.keep_alive = false;
  EXPECT_EQ(answer(ok, options), written + "Connection: close\r\n\r\n");
}

TEST(WriteGatewayHead, WritesACompleteHead) {
  GatewayHead options;
  options.status = 503;
  options.content_type = "application/json";
  options.content_length = 42;
  options.request_id = "req-1";
  const HeaderField fields[] = {{"x-smg-error-code", "no_available_workers"}, {"Retry-After", "1"}};
  options.fields = fields;
  options.keep_alive = false;
  std::string out;
  write_gateway_head(out, options);
  EXPECT_EQ(out,
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            "Content-Length: 42\r\nx-request-id: req-1\r\n"
            "x-smg-error-code: no_available_workers\r\nRetry-After: 1\r\n"
            "Connection: close\r\n\r\n");
}

TEST(WriteGatewayHead, MakesUnsoundFieldsHarmless) {
  GatewayHead options;
  options.request_id = "a\r\nSet-Cookie: x";
  const std::string binary = "\xe4\0\x7f\t."s;
  const HeaderField fields[] = {{"X-A", "1\r\n\r\n<script>"},
                                {"X B", "1"},
                                {"X-C\r\nX-D", "1"},
                                {"", "1"},
                                {"Content-Length", "7"},
                                {"transfer-encoding", "chunked"},
                                {"X-E", binary}};
  options.fields = fields;
  std::string out;
  write_gateway_head(out, options);
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-request-id: a  Set-Cookie: x\r\n"
            "X-A: 1    <script>\r\nX-E: \xe4  \t.\r\n\r\n");
}

TEST(WriteGatewayHead, WritesNoLengthWhereNoneMayBe) {
  for (const int status : {100, 204, 304}) {
    GatewayHead options;
    options.status = status;
    std::string out;
    write_gateway_head(out, options);
    EXPECT_EQ(out.find("Content-Length"), out.npos) << status;
  }
}

TEST(PresentsKey, TakesBearerAndApiKeyOnly) {
  struct {
    const char* fields;
    bool expected;
  } const cases[] = {
      {"Authorization: Bearer k3y\r\n", true},
      {"authorization: bearer   k3y\r\n", true},
      {"X-Api-Key: k3y\r\n", true},
      {"Authorization: Bearer K3Y\r\n", false},
      {"Authorization: k3y\r\n", false},
      {"Authorization: Basic k3y\r\n", false},
      {"Authorization: Bearer k3y2\r\n", false},
      {"Authorization: Bearer\r\n", false},
      {"Authorization: Bearerk3y\r\n", false},
      {"x-api-key:\r\n", false},
      {"", false},
  };
  for (const auto& c : cases) {
    const std::string head = "GET / HTTP/1.1\r\nHost: h\r\n"s + c.fields + "\r\n";
    RequestHead request;
    ASSERT_EQ(parse_request_head(head, HeadLimits{}, request), HeadError::none);
    EXPECT_EQ(presents_key(request, "k3y"), c.expected) << c.fields;
    EXPECT_FALSE(presents_key(request, "")) << c.fields;
  }
}

TEST(AcceptedRequestId, IsTheFirstSoundOneOfTheNames) {
  const std::vector<std::string> names = {"x-request-id", "x-correlation-id"};
  const auto accepted = [&names](const std::string& fields) {
    const std::string head = "GET / HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n";
    RequestHead request;
    EXPECT_EQ(parse_request_head(head, HeadLimits{}, request), HeadError::none);
    const auto id = accepted_request_id(request, names);
    return id ? std::string(*id) : "none"s;
  };
  EXPECT_EQ(accepted("X-Correlation-Id: b\r\nX-Request-Id: a\r\n"), "a");
  EXPECT_EQ(accepted("X-Correlation-Id: b\r\n"), "b");
  EXPECT_EQ(accepted("X-Request-Id: a b\r\nX-Correlation-Id: c\r\n"), "c");
  EXPECT_EQ(accepted("X-Request-Id: " + std::string(128, 'a') + "\r\n"), std::string(128, 'a'));
  EXPECT_EQ(accepted("X-Request-Id: " + std::string(129, 'a') + "\r\n"), "none");
  EXPECT_EQ(accepted("X-Request-Id: caf\xc3\xa9\r\n"), "none");
  EXPECT_EQ(accepted("X-Request-Id: a\tb\r\n"), "none");
  EXPECT_EQ(accepted("X-Request-Id:\r\n"), "none");
  EXPECT_EQ(accepted(""), "none");
}

TEST(GeneratedRequestId, HasThePrefixOfItsPath) {
  struct {
    const char* path;
    const char* prefix;
  } const cases[] = {{"/v1/chat/completions", "chatcmpl-"},
                     {"/v1/completions", "cmpl-"},
                     {"/generate", "gnt-"},
                     {"/v1/responses", "resp-"},
                     {"/v1/messages", "msg_"},
                     {"/v1/embeddings", "req-"},
                     {"", "req-"}};
  std::set<std::string> seen;
  for (const auto& c : cases) {
    std::string id;
    append_generated_request_id(id, c.path);
    ASSERT_TRUE(id.starts_with(c.prefix)) << id;
    const std::string random = id.substr(std::string(c.prefix).size());
    EXPECT_EQ(random.size(), 24u);
    EXPECT_TRUE(std::all_of(random.begin(), random.end(), [](unsigned char ch) {
      return std::isalnum(ch) != 0;
    })) << id;
    EXPECT_TRUE(seen.insert(random).second);
  }
}

TEST(ReasonPhrase, KnowsTheStandardOnes) {
  EXPECT_EQ(reason_phrase(100), "Continue");
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_phrase(511), "Network Authentication Required");
  EXPECT_EQ(reason_phrase(299), "");
  EXPECT_EQ(reason_phrase(999), "");
}

}  // namespace
}  // namespace smg::protocol
