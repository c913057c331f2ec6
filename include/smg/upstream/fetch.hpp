// A small whole exchange for the control plane: probes, discovery, load reports, fan-outs.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "smg/upstream/connector.hpp"

namespace smg::upstream {

struct FetchRequest {
  std::string method = "GET";
  Url url;             // of the worker; its path prefix is put before `target`
  std::string target;  // "/health"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // sent with Content-Length unless the method is GET or HEAD
  std::chrono::milliseconds timeout{5000};  // of the whole exchange, connecting included
  std::size_t max_body = 1 << 20;           // a longer answer is Errc::too_large
};

struct FetchResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // end-to-end ones
  std::string body;
};

// Never follows redirects, never reuses a connection.
awaitable<Result<FetchResponse>> fetch(Connector& connector, FetchRequest request);

}  // namespace smg::upstream
