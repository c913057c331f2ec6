// A bound on how many coroutines of one thread do something at a time; served in order of arrival.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "smg/control/lifetime.hpp"

namespace smg::control {

class Permits {
 public:
  Permits(asio::io_context& context, std::size_t count) : context_(context), free_(count) {}

  // Gives its place back when destroyed. Move-only.
  class Permit {
   public:
    explicit Permit(Permits& owner) : owner_(&owner) {}
    Permit(Permit&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (owner_) owner_->release();
    }

   private:
    Permits* owner_;
  };

  // Waits for a place; empty when `life` ended first.
  awaitable<std::optional<Permit>> acquire(Lifetime& life);

 private:
  struct Waiter {
    explicit Waiter(asio::io_context& context) : pulse(context) {}
    Pulse pulse;
    bool granted = false;
  };
  void release();

  asio::io_context& context_;
  std::size_t free_;
  std::deque<Waiter*> waiting_;
};

}  // namespace smg::control
