#include "smg/control/evictor.hpp"

#include <boost/asio/post.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "smg/base/log.hpp"

namespace smg::control {

awaitable<void> Evictor::run(Lifetime& life) {
  Pulse pulse(deps_.context);
  while (co_await pulse.wait(life, deps_.options.eviction_interval) != Woken::ended) {
    co_await cycle(life);
  }
}

awaitable<void> Evictor::cycle(Lifetime& life) {
  while (!deps_.indexes.evict_slice()) {
    co_await asio::post(deps_.context, use_awaitable);
    if (life.ended()) co_return;
  }
  report();
}

void Evictor::report() {
  auto sizes = std::make_shared<const std::vector<policy::IndexSize>>(deps_.indexes.sizes());
  std::uint64_t chars = 0;
  std::uint64_t tokens = 0;
  for (const policy::IndexSize& size : *sizes) {
    chars += size.chars;
    tokens += size.tokens;
  }
  static log::Target& target = log::target("smg::policies::cache_aware");
  log::write(target, log::Level::info, "Tree memory:",
             {{"models", std::uint64_t{sizes->size()}}, {"chars", chars}, {"tokens", tokens}});
  deps_.index_sizes.publish(std::move(sizes));
}

}  // namespace smg::control
