#include "smg/protocol/error_body.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace smg::protocol {
namespace {

using nlohmann::json;
using namespace std::string_literals;

std::string escaped(std::string_view text) {
  std::string out;
  append_json_escaped(out, text);
  return out;
}

TEST(ErrorBody, HasTheShapeOfOpenAi) {
  EXPECT_EQ(error_body(ErrorCode::model_not_found, "no model \"x\"", ErrorShape::openai, "model"),
            R"({"error":{"message":"no model \"x\"","type":"not_found_error","param":"model",)"
            R"("code":"model_not_found"}})");
  EXPECT_EQ(
      json::parse(error_body(ErrorCode::invalid_json, "m", ErrorShape::openai))["error"]["param"],
      json());
}

TEST(ErrorBody, HasTheShapeOfAnthropic) {
  EXPECT_EQ(error_body(ErrorCode::no_available_workers, "busy", ErrorShape::anthropic, "model"),
            R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})");
}

TEST(ErrorBody, NamesEveryCodeWithItsStatusAndTypes) {
  struct {
    ErrorCode code;
    int status;
    const char* name;
    const char* openai;
    const char* anthropic;
  } const cases[] = {
      {ErrorCode::invalid_json, 400, "invalid_json", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::invalid_request, 400, "invalid_request", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::invalid_api_key, 401, "invalid_api_key", "authentication_error",
       "authentication_error"},
      {ErrorCode::admin_forbidden, 403, "admin_forbidden", "permission_error", "permission_error"},
      {ErrorCode::model_not_found, 404, "model_not_found", "not_found_error", "not_found_error"},
      {ErrorCode::route_not_found, 404, "route_not_found", "not_found_error", "not_found_error"},
      {ErrorCode::method_not_allowed, 405, "method_not_allowed", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::request_timeout, 408, "request_timeout", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::request_body_too_large, 413, "request_body_too_large", "invalid_request_error",
       "request_too_large"},
      {ErrorCode::uri_too_long, 414, "uri_too_long", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::unsupported_media_type, 415, "unsupported_media_type", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::admission_queue_full, 429, "admission_queue_full", "rate_limit_error",
       "rate_limit_error"},
      {ErrorCode::headers_too_large, 431, "headers_too_large", "invalid_request_error",
       "invalid_request_error"},
      {ErrorCode::not_implemented, 501, "not_implemented", "server_error", "api_error"},
      {ErrorCode::upstream_connect_failed, 502, "upstream_connect_failed", "server_error",
       "api_error"},
      {ErrorCode::upstream_closed, 502, "upstream_closed", "server_error", "api_error"},
      {ErrorCode::upstream_bad_response, 502, "upstream_bad_response", "server_error", "api_error"},
      {ErrorCode::admission_queue_timeout, 503, "admission_queue_timeout", "server_error",
       "overloaded_error"},
      {ErrorCode::no_available_workers, 503, "no_available_workers", "server_error",
       "overloaded_error"},
      {ErrorCode::worker_overload_protection_shed, 503, "worker_overload_protection_shed",
       "server_error", "overloaded_error"},
      {ErrorCode::upstream_timeout, 504, "upstream_timeout", "server_error", "api_error"},
      {ErrorCode::http_version_not_supported, 505, "http_version_not_supported", "server_error",
       "api_error"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(status_of(c.code), c.status) << c.name;
    EXPECT_EQ(name_of(c.code), c.name);
    const json openai = json::parse(error_body(c.code, "m", ErrorShape::openai));
    EXPECT_EQ(openai["error"]["type"], c.openai) << c.name;
    EXPECT_EQ(openai["error"]["code"], c.name);
    const json anthropic = json::parse(error_body(c.code, "m", ErrorShape::anthropic));
    EXPECT_EQ(anthropic["error"]["type"], c.anthropic) << c.name;
  }
}

TEST(ErrorBody, IsJsonWhateverTheMessage) {
  std::string message;
  for (int byte = 0; byte < 256; ++byte) message.push_back(static_cast<char>(byte));
  const std::string body = error_body(ErrorCode::invalid_request, message, ErrorShape::openai);
  const json parsed = json::parse(body, nullptr, false);
  ASSERT_FALSE(parsed.is_discarded()) << body;
  EXPECT_TRUE(parsed["error"]["message"].get<std::string>().starts_with(message.substr(0, 128)));
}

TEST(ShapeOfPath, IsAnthropicsForMessagesAndBelow) {
  EXPECT_EQ(shape_of_path("/v1/messages"), ErrorShape::anthropic);
  EXPECT_EQ(shape_of_path("/v1/messages/count_tokens"), ErrorShape::anthropic);
  EXPECT_EQ(shape_of_path("/v1/messagesx"), ErrorShape::openai);
  EXPECT_EQ(shape_of_path("/v1/chat/completions"), ErrorShape::openai);
  EXPECT_EQ(shape_of_path(""), ErrorShape::openai);
}

TEST(AppendJsonEscaped, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(escaped("a\"b\\c/\b\f\n\r\t\x01\x7f\0"s), R"(a\"b\\c/\b\f\n\r\t\u0001\u007f\u0000)");
  EXPECT_EQ(escaped("caf\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80"),
            "caf\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80");
}

TEST(AppendJsonEscaped, ReplacesEachByteThatIsNotUtf8) {
  const std::string r = "\xef\xbf\xbd";
  struct {
    const char* what;
    std::string text;
    std::string expected;
  } const cases[] = {
      {"continuation alone", "a\x80z", "a" + r + "z"},
      {"truncated", "\xe4\xb8", r + r},
      {"truncated before ASCII", "\xe4\xb8\"", r + r + "\\\""},
      {"overlong slash", "\xc0\xaf", r + r},
      {"overlong in three", "\xe0\x80\xaf", r + r + r},
      {"overlong in four", "\xf0\x8f\xbf\xbf", r + r + r + r},
      {"surrogate", "\xed\xa0\x80", r + r + r},
      {"above the last", "\xf4\x90\x80\x80", r + r + r + r},
      {"never a byte", "\xff\xfe", r + r},
      {"last scalar", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
      {"before the surrogates", "\xed\x9f\xbf", "\xed\x9f\xbf"},
  };
  for (const auto& c : cases) EXPECT_EQ(escaped(c.text), c.expected) << c.what;
}

}  // namespace
}  // namespace smg::protocol
