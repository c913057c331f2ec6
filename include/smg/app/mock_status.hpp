// What the simulated engine says of itself and its load, in the formats of the engines. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "smg/app/mock_engine.hpp"
#include "smg/app/mock_options.hpp"

namespace smg::app {

std::string mock_models(const MockOptions& options, std::int64_t created);  // GET /v1/models
std::string mock_version();                                                 // GET /version
std::string mock_loads(const MockOptions& options, const MockLoad& load);   // GET /v1/loads, SGLang
std::string mock_metrics(const MockOptions& options, const MockLoad& load);  // GET /metrics, vLLM
std::string mock_server_info(const MockOptions& options);                    // GET /get_server_info
std::string mock_model_info(const MockOptions& options);                     // GET /get_model_info

}  // namespace smg::app
