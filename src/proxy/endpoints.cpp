#include "smg/proxy/endpoints.hpp"

#include <array>

namespace smg::proxy {

std::span<const Endpoint> inference_endpoints() {
  using protocol::BodyKind;
  using Label = metrics::Endpoint;
  static constexpr std::array<Endpoint, 14> kEndpoints{{
      {"/v1/chat/completions", BodyKind::chat, Label::chat},
      {"/v1/completions", BodyKind::completions, Label::completions},
      {"/generate", BodyKind::generate, Label::generate},
      {"/v1/embeddings", BodyKind::input, Label::other},
      {"/v1/messages", BodyKind::messages, Label::messages},
      {"/v1/messages/count_tokens", BodyKind::messages, Label::messages},
      {"/v1/responses", BodyKind::responses, Label::responses},
      {"/v1/rerank", BodyKind::rerank, Label::rerank},
      {"/rerank", BodyKind::rerank, Label::rerank},
      {"/v1/classify", BodyKind::input, Label::other},
      {"/v1/score", BodyKind::score, Label::other},
      {"/score", BodyKind::score, Label::other},
      {"/tokenize", BodyKind::tokenize, Label::other},
      {"/detokenize", BodyKind::opaque, Label::other},
  }};
  return kEndpoints;
}

std::span<const Endpoint> worker_info_endpoints() {
  using protocol::BodyKind;
  static constexpr std::array<Endpoint, 3> kEndpoints{{
      {"/health_generate", BodyKind::opaque, metrics::Endpoint::other},
      {"/get_server_info", BodyKind::opaque, metrics::Endpoint::other},
      {"/get_model_info", BodyKind::opaque, metrics::Endpoint::other},
  }};
  return kEndpoints;
}

}  // namespace smg::proxy
