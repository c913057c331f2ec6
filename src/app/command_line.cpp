#include "smg/app/command_line.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace smg::app {
namespace {

// What was said of one flag, and under which name.
struct Said {
  std::string name;
  std::vector<std::string> values;
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0U : 1U);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

// "" when no flag's name is close.
std::string_view closest_name(const FlagTable& table, std::string_view name) {
  constexpr std::size_t kLongest = 64;
  std::size_t best = 3;
  std::string_view closest;
  for (const auto& group : table) {
    for (const auto& flag : group.flags) {
      for (const auto candidate : flag.names) {
        if (name.size() > kLongest) continue;
        const auto distance = edit_distance(name, candidate);
        if (distance < best) {
          best = distance;
          closest = candidate;
        }
      }
    }
  }
  return closest;
}

void split_at_commas(std::string_view text, std::vector<std::string>& out) {
  while (true) {
    const auto comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    const auto first = item.find_first_not_of(" \t");
    const auto last = item.find_last_not_of(" \t");
    if (first != std::string_view::npos) out.emplace_back(item.substr(first, last - first + 1));
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

// A blank separates items of a list in one argument or variable too.
void split_list(std::string text, std::vector<std::string>& out) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }, ',');
  split_at_commas(text, out);
}

// Kubernetes sets NAME_PORT=tcp://ADDRESS:PORT in every pod next to a service called NAME: that is
// not meant for us.
bool is_service_link(std::string_view value) {
  return value.starts_with("tcp://") || value.starts_with("udp://");
}

class Reader {
 public:
  Reader(const FlagTable& table, const CommandLine& input) : table_(table), input_(input) {}

  CommandLineResult read() {
    while (next_ < input_.args.size()) take(input_.args[next_++]);
    for (const auto& group : table_) {
      for (const auto& flag : group.flags) {
        if (!said_.contains(&flag)) read_environment(flag);
        apply(flag);
      }
    }
    return std::move(result_);
  }

 private:
  void fail(std::string_view name, std::string_view what) {
    result_.errors.push_back(std::string(name) + ": " + std::string(what));
  }

  const Flag* find(std::string_view name) const {
    for (const auto& group : table_) {
      for (const auto& flag : group.flags) {
        if (std::find(flag.names.begin(), flag.names.end(), name) != flag.names.end()) return &flag;
      }
    }
    return nullptr;
  }

  bool more_values() const {
    if (next_ >= input_.args.size()) return false;
    const std::string& arg = input_.args[next_];
    return !arg.starts_with("--") && arg != "-h" && arg != "-V";
  }

  void take(const std::string& arg) {
    if (arg == "--help" || arg == "-h") {
      result_.help = true;
    } else if (arg == "--version" || arg == "-V") {
      result_.version = true;
    } else if (arg.starts_with("--")) {
      const auto equals = arg.find('=');
      std::optional<std::string> value;
      if (equals != std::string::npos) value = arg.substr(equals + 1);
      take_flag(arg.substr(0, equals), value);
    } else {
      fail(quoted_value(arg), "unexpected argument");
    }
  }

  void take_flag(const std::string& name, const std::optional<std::string>& value) {
    if (const Flag* flag = find(name)) {
      take_values(*flag, name, value);
      return;
    }
    if (name.starts_with("--no-") && !value) {
      const Flag* flag = find("--" + name.substr(5));
      if (flag != nullptr && flag->takes == Flag::Takes::nothing) {
        said_[flag] = {name, {"false"}};
        return;
      }
    }
    take_foreign(name, value);
  }

  void take_values(const Flag& flag, const std::string& name,
                   const std::optional<std::string>& value) {
    Said& said = said_[&flag];
    said.name = name;
    if (flag.takes == Flag::Takes::nothing) {
      said.values = {value.value_or("true")};
    } else if (flag.takes == Flag::Takes::one) {
      if (value) {
        said.values = {*value};
      } else if (more_values()) {
        said.values = {input_.args[next_++]};
      } else {
        missing_value(flag, name);
        said_.erase(&flag);
        failed_.push_back(&flag);
      }
    } else {
      std::vector<std::string> items;
      if (value) split_list(*value, items);
      const bool had_argument = value || more_values();
      while (more_values()) split_list(input_.args[next_++], items);
      if (!had_argument) missing_value(flag, name);
      said.values.insert(said.values.end(), items.begin(), items.end());
    }
  }

  void missing_value(const Flag& flag, std::string_view name) {
    fail(name, flag.range.empty() ? "needs a value" : "needs a value (" + flag.range + ")");
  }

  void take_foreign(const std::string& name, std::optional<std::string> value) {
    while (more_values()) {
      const std::string& next = input_.args[next_++];
      if (!value) value = next;
    }
    if (const auto known = find_unsupported(name)) {
      const auto equals = known->find('=');
      if (equals != std::string_view::npos && value == known->substr(equals + 1)) return;
      fail(name, "not supported by this build");
      return;
    }
    const auto close = closest_name(table_, name);
    fail(quoted_value(name), close.empty()
                                 ? "unknown flag"
                                 : "unknown flag (did you mean " + std::string(close) + "?)");
  }

  std::optional<std::string_view> find_unsupported(std::string_view name) const {
    for (const auto known : input_.unsupported) {
      if (known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1))
                               : name == known.substr(0, known.find('='))) {
        return known;
      }
    }
    return std::nullopt;
  }

  void read_environment(const Flag& flag) {
    if (!input_.environment || std::find(failed_.begin(), failed_.end(), &flag) != failed_.end()) {
      return;
    }
    for (const auto name : flag.names) {
      const std::string variable = environment_name(name);
      const auto value = input_.environment(variable);
      if (!value || value->empty() || is_service_link(*value)) continue;
      Said& said = said_[&flag];
      said.name = std::string(name) + " (" + variable + ")";
      if (flag.takes == Flag::Takes::list) {
        split_list(*value, said.values);
      } else {
        said.values = {*value};
      }
      return;
    }
  }

  void apply(const Flag& flag) {
    const auto found = said_.find(&flag);
    if (found == said_.end() || found->second.values.empty()) return;
    const auto problems = flag.set(found->second.values);
    for (const auto& problem : problems) fail(found->second.name, problem);
    if (problems.empty()) result_.given.push_back(flag.names.front());
  }

  const FlagTable& table_;
  const CommandLine& input_;
  std::size_t next_ = 0;
  std::map<const Flag*, Said> said_;
  std::vector<const Flag*> failed_;  // given without a value: the environment does not stand in
  CommandLineResult result_;
};

}  // namespace

bool CommandLineResult::was_given(std::string_view name) const {
  return std::find(given.begin(), given.end(), name) != given.end();
}

CommandLineResult read_command_line(const FlagTable& table, const CommandLine& input) {
  return Reader(table, input).read();
}

std::string environment_name(std::string_view flag) {
  std::string name = "SMG_";
  for (const char c : flag.substr(2)) {
    name.push_back(c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 0x20 : c));
  }
  return name;
}

}  // namespace smg::app
