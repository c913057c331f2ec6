// Passes a worker's answer to the client: head, then each upstream read as one downstream write.
//
// Bytes are never re-framed where the client speaks the worker's framing. A body that ends by close
// goes in chunks to an HTTP/1.1 client; a chunked one loses its chunks for an HTTP/1.0 client.
#pragma once

#include <string_view>

#include "smg/proxy/call.hpp"
#include "smg/upstream/exchange.hpp"

namespace smg::proxy {

enum class RelayEnd : std::uint8_t {
  complete,
  client_gone,  // the client left or takes nothing; the answer may go on, nobody wants it
  worker_cut    // the worker ended, broke or stalled its answer; call.status 0: nothing was sent
};

// Sets call.status, head_sent and broken. On anything but complete the client's connection must be
// closed by the caller, which is how the client sees the cut.
awaitable<RelayEnd> relay(Call& call, upstream::Exchange& exchange, std::string_view routed_worker);

}  // namespace smg::proxy
