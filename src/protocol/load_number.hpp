// Numbers of foreign load reports, made safe: never negative, never beyond what an engine can mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smg::protocol {

// The number, 0 if it is beyond a double, nothing if the text is not one as a whole. Takes what
// JSON and Prometheus write: signs, exponents, NaN and infinities.
std::optional<double> read_double(std::string_view text);

std::int64_t sane_count(double value);  // requests, tokens: at most 2^53
double sane_ratio(double value);        // 0..1
double sane_rate(double value);         // tokens per second

}  // namespace smg::protocol
