// Makes a worker's description from what its engine answered. Pure; any bytes will do.
//
// Model ids: all of /v1/models, behind the one that a label names (served_model_name, model_id,
// model_path, in this order; the spec's labels win over the engine's). At most kMaxModels, each at
// most kMaxNameLength bytes without control characters; others are skipped.
#pragma once

#include <cstddef>
#include <string>

#include "smg/worker/worker.hpp"

namespace smg::control {

// One endpoint's answer; status 0: none.
struct EngineAnswer {
  int status = 0;
  std::string body;
  bool ok() const { return status >= 200 && status < 300; }
};

struct EngineAnswers {
  EngineAnswer models;       // /v1/models
  EngineAnswer version;      // /version
  EngineAnswer server_info;  // /server_info or /get_server_info
  EngineAnswer model_info;   // /model_info or /get_model_info
};

inline constexpr std::size_t kMaxModels = 256;
inline constexpr std::size_t kMaxNameLength = 512;

// `before` is what was known: an endpoint that gave no answer takes nothing away.
worker::Discovered describe_engine(const EngineAnswers& answers, const worker::WorkerSpec& spec,
                                   const worker::Discovered& before);

// Whether asking again could teach something: an endpoint did not answer or failed, or no model id
// is known.
bool questions_open(const EngineAnswers& answers, const worker::WorkerSpec& spec);

}  // namespace smg::control
