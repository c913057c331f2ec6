#include "smg/metrics/labels.hpp"

#include <algorithm>
#include <array>

namespace smg::metrics {
namespace {

constexpr std::array<std::string_view, kMethods> kMethodNames{
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"};

constexpr std::array<std::string_view, kEndpoints> kEndpointNames{
    "chat",      "generate", "completions",          "rerank",
    "responses", "messages", "audio_transcriptions", "other"};

constexpr std::array<std::string_view, kErrorTypes> kErrorTypeNames{
    "validation_error", "no_workers", "timeout", "backend_error", "internal_error"};

constexpr std::array<std::string_view, kCacheAwareBranches> kBranchNames{
    "tree_match", "spill", "expected_wait_fallback", "first_healthy_fallback"};

}  // namespace

Method method_of(std::string_view name) {
  const auto end = kMethodNames.end() - 1;
  return static_cast<Method>(std::find(kMethodNames.begin(), end, name) - kMethodNames.begin());
}

std::string_view text_of(Method method) { return kMethodNames[static_cast<std::size_t>(method)]; }

std::string_view text_of(Endpoint endpoint) {
  return kEndpointNames[static_cast<std::size_t>(endpoint)];
}

ErrorType error_type_of(int status) {
  if (status == 400) return ErrorType::validation_error;
  if (status == 404) return ErrorType::no_workers;
  if (status == 408 || status == 504) return ErrorType::timeout;
  return status >= 500 && status < 600 ? ErrorType::backend_error : ErrorType::internal_error;
}

std::string_view text_of(ErrorType type) { return kErrorTypeNames[static_cast<std::size_t>(type)]; }

std::string_view text_of(CacheAwareBranch branch) {
  return kBranchNames[static_cast<std::size_t>(branch)];
}

}  // namespace smg::metrics
