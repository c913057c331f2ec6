// What a prefix tree must answer, computed the slow and obvious way: every prefix that was ever
// inserted, with who holds it and when each holder last used it.
//
// A key is a sequence of units: scalars (page 1) or tokens, of which only whole pages count.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "smg/index/prefix_match.hpp"

namespace smg::index {

class PrefixOracle {
 public:
  using Key = std::vector<std::uint32_t>;
  using Place = std::pair<std::uint64_t, Key>;        // partition, prefix
  using Holders = std::map<TenantId, std::uint64_t>;  // with the time of the last use

  explicit PrefixOracle(std::size_t page) : page_(page) {}

  struct Answer {
    std::uint64_t matched = 0;
    std::set<TenantId> holders;
  };

  Answer match(std::uint64_t partition, const Key& key) const {
    Answer answer;
    for (std::size_t length = page_; length <= key.size(); length += page_) {
      const auto place = places_.find({partition, prefix(key, length)});
      if (place == places_.end()) break;
      answer.matched = length;
      answer.holders.clear();
      for (const auto& [tenant, use] : place->second) answer.holders.insert(tenant);
    }
    return answer;
  }

  void insert(std::uint64_t partition, const Key& key, TenantId tenant) {
    ++now_;
    for (std::size_t length = page_; length <= key.size(); length += page_) {
      places_[{partition, prefix(key, length)}][tenant] = now_;
    }
  }

  void erase(const Place& place, TenantId tenant) {
    const auto at = places_.find(place);
    at->second.erase(tenant);
    if (at->second.empty()) places_.erase(at);
  }

  void remove(TenantId tenant) {
    for (auto at = places_.begin(); at != places_.end();) {
      at->second.erase(tenant);
      at = at->second.empty() ? places_.erase(at) : std::next(at);
    }
  }

  std::uint64_t size(TenantId tenant) const {
    std::uint64_t units = 0;
    for (const auto& [place, holders] : places_) units += holders.contains(tenant) ? page_ : 0;
    return units;
  }

  std::uint64_t size() const {
    std::uint64_t units = 0;
    for (const auto& [place, holders] : places_) units += holders.size() * page_;
    return units;
  }

  const std::map<Place, Holders>& places() const { return places_; }

 private:
  static Key prefix(const Key& key, std::size_t length) {
    return {key.begin(), key.begin() + static_cast<std::ptrdiff_t>(length)};
  }

  std::size_t page_;
  std::uint64_t now_ = 0;
  std::map<Place, Holders> places_;
};

}  // namespace smg::index
