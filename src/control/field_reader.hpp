// Reads typed, ranged fields of a JSON object and remembers the first fault.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smg::control {

class FieldReader {
 public:
  using json = nlohmann::json;

  // `prefix` is put before field names in messages: "health.". `fault` is shared by nested readers.
  FieldReader(const json& object, std::string prefix, std::string& fault)
      : object_(object), prefix_(std::move(prefix)), fault_(fault) {}

  // The value, or null when absent or null. Marks the name as known.
  const json* find(std::string_view name) {
    known_.emplace_back(name);
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  std::optional<std::uint64_t> integer(std::string_view name, std::uint64_t min,
                                       std::uint64_t max) {
    const json* value = find(name);
    if (!value) return {};
    if (value->is_number_unsigned()) {
      const auto number = value->get<std::uint64_t>();
      if (number >= min && number <= max) return number;
    }
    fail(name, "must be an integer between " + std::to_string(min) + " and " + std::to_string(max));
    return {};
  }

  std::optional<double> number(std::string_view name) {
    const json* value = find(name);
    if (!value) return {};
    if (value->is_number()) return value->get<double>();
    fail(name, "must be a number");
    return {};
  }

  std::optional<bool> boolean(std::string_view name) {
    const json* value = find(name);
    if (!value) return {};
    if (value->is_boolean()) return value->get<bool>();
    fail(name, "must be true or false");
    return {};
  }

  // At most `max` bytes.
  std::optional<std::string> text(std::string_view name, std::size_t max) {
    const json* value = find(name);
    if (!value) return {};
    if (value->is_string() && value->get_ref<const std::string&>().size() <= max) {
      return value->get<std::string>();
    }
    fail(name, "must be a string of at most " + std::to_string(max) + " bytes");
    return {};
  }

  // An object, or null (then absent or a fault).
  const json* object(std::string_view name) {
    const json* value = find(name);
    if (!value || value->is_object()) return value;
    fail(name, "must be an object");
    return nullptr;
  }

  void fail(std::string_view name, std::string_view sentence) {
    if (!fault_.empty()) return;
    fault_ = "field '" + prefix_ + std::string(name) + "' " + std::string(sentence);
  }

  // Names that nobody asked for.
  void list_unknown(std::vector<std::string>& into) const {
    for (const auto& [name, value] : object_.items()) {
      bool known = false;
      for (const std::string& other : known_) known = known || other == name;
      if (!known && into.size() < 32) into.push_back(prefix_ + name);
    }
  }

 private:
  const json& object_;
  std::string prefix_;
  std::string& fault_;
  std::vector<std::string> known_;
};

}  // namespace smg::control
