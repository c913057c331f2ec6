// One request and its answer on one connection to a worker.
//
// Destroyed before the answer is complete, it closes the connection, which tells the engine to
// stop. Complete, it gives the connection back. One thread; abort() makes whatever waits return
// Errc::canceled.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "smg/base/byte_buffer.hpp"
#include "smg/protocol/chunked.hpp"
#include "smg/protocol/http_head.hpp"
#include "smg/upstream/connector.hpp"

namespace smg::upstream {

struct ExchangeTimeouts {
  std::chrono::milliseconds head{1'800'000};     // from the sent request to the response head
  std::chrono::milliseconds silence{1'800'000};  // between two pieces of the body
};

class Exchange {
 public:
  Exchange(Connector& connector, const Url& url, ExchangeTimeouts timeouts);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  struct Request {
    std::string_view head;
    std::string_view body;
    bool head_request = false;  // the method is HEAD: the answer has no body
    bool allow_reuse = true;    // false: only a fresh connection will do
  };
  // Sends the request and reads the final response head (1xx are skipped). The views must stay
  // valid until it returns. May be called again after an error. Errors: retry is fresh_connection
  // when a reused connection died before any answer byte, never after a timeout (the engine may be
  // at work on it), else always.
  awaitable<Result<>> start(Request request);

  const protocol::ResponseHead& response() const { return response_; }

  // The next bytes of the body as they are on the wire (chunk framing included), whatever one read
  // brought; a view valid until the next call. Empty and complete() when the body has ended.
  // Errors: Errc::closed (ended early), bad_message (broken chunking), timeout, canceled.
  awaitable<Result<std::string_view>> next();
  // Whether the last byte of the answer has been returned by next().
  bool complete() const { return complete_; }
  // Whether next() would return without waiting.
  bool has_buffered() const { return complete_ || input_.size() > returned_; }

  void abort();

 private:
  awaitable<Result<>> connect(bool allow_reuse);
  awaitable<Result<>> read_head(bool head_request);
  Result<bool> parse_head(protocol::HeadScanner& scanner, bool head_request);
  awaitable<Result<>> fill(std::chrono::milliseconds timeout);
  Result<std::size_t> measure(std::string_view available);
  Error failed(Errc code, std::string_view what) const;
  void begin_body();
  void complete(std::size_t used);

  Connector& connector_;
  const Url& url_;
  ExchangeTimeouts timeouts_;
  ConnectHandle connecting_;
  std::shared_ptr<Connection> connection_;
  ByteBuffer input_;
  std::string head_;          // the response head's bytes: response_ points into them
  std::size_t returned_ = 0;  // bytes of input_ that the last next() returned
  std::size_t read_size_ = 0;
  protocol::ResponseHead response_;
  protocol::ChunkedDecoder chunked_;
  std::uint64_t remaining_ = 0;  // of a body with a length
  bool reused_ = false;
  bool answered_ = false;  // any byte of an answer has come
  bool ended_ = false;     // the peer has closed its side
  bool complete_ = false;
};

}  // namespace smg::upstream
