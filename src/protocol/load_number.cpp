#include "load_number.hpp"

#include <algorithm>
#include <charconv>

namespace smg::protocol {

std::optional<double> read_double(std::string_view text) {
  // from_chars takes no plus sign; without it, what follows must not be a second sign.
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return 0.0;
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// The comparisons are false for a NaN.

std::int64_t sane_count(double value) {
  constexpr double most = 9007199254740992.0;  // beyond it a double skips integers
  return value > 0 && value <= most ? static_cast<std::int64_t>(value) : 0;
}

double sane_ratio(double value) {
  // Engines overshoot a little by rounding; far above 1 it is no ratio.
  constexpr double most = 1.5;
  return value > 0 && value <= most ? std::min(value, 1.0) : 0;
}

double sane_rate(double value) {
  constexpr double most = 1e9;
  return value > 0 && value <= most ? value : 0;
}

}  // namespace smg::protocol
