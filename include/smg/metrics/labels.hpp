// The values of labels that are fixed lists, as small integers and as text. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace smg::metrics {

enum class Method : std::uint8_t { get, head, post, put, patch, del, options, other };
inline constexpr std::size_t kMethods = 8;
Method method_of(std::string_view name);  // upper case, as in HTTP
std::string_view text_of(Method method);

// `other` includes embeddings and classify.
enum class Endpoint : std::uint8_t {
  chat,
  generate,
  completions,
  rerank,
  responses,
  messages,
  audio_transcriptions,
  other,
};
inline constexpr std::size_t kEndpoints = 8;
std::string_view text_of(Endpoint endpoint);

enum class ErrorType : std::uint8_t {
  validation_error,  // 400
  no_workers,        // 404
  timeout,           // 408, 504
  backend_error,     // 5xx
  internal_error,    // any other
};
inline constexpr std::size_t kErrorTypes = 5;
ErrorType error_type_of(int status);
std::string_view text_of(ErrorType type);

enum class CacheAwareBranch : std::uint8_t {
  tree_match,
  spill,
  expected_wait_fallback,
  first_healthy_fallback,
};
inline constexpr std::size_t kCacheAwareBranches = 4;
std::string_view text_of(CacheAwareBranch branch);

}  // namespace smg::metrics
