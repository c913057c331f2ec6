// The error type of everything that runs after start-up. Nothing throws across a coroutine or a
// policy; functions that can fail return Result<T>.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <cstdint>
#include <string>

namespace smg {

enum class Errc : std::uint8_t {
  invalid_argument,
  connect_failed,  // no connection: refused, unreachable, name not resolved, connect timeout
  closed,          // the peer ended or reset the connection before the message was complete
  bad_message,     // bytes that are not the HTTP/1.1 message they should be
  too_large,
  timeout,
  canceled,  // stopped by us: shutdown, or the client that wanted it is gone
  unavailable,
};

// Who is at fault: decides the status code and whether a circuit breaker hears of it.
enum class Side : std::uint8_t { downstream, upstream, gateway };

// Whether sending the same request again cannot do it twice.
enum class Retry : std::uint8_t {
  never,
  fresh_connection,  // a reused connection died before any byte of an answer
  always,            // nothing was sent, or the peer answered with a retryable status
};

struct Error {
  Errc code = Errc::unavailable;
  Side side = Side::gateway;
  Retry retry = Retry::never;
  std::string detail;  // for logs only; may name a worker, never goes to a client
};

[[noreturn]] void throw_exception_from_error(const Error& error,
                                             const boost::source_location& where);

template <class T = void>
using Result = boost::system::result<T, Error>;

}  // namespace smg
