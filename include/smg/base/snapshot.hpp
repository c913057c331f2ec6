// Read-mostly state: an immutable object that writers replace whole.
//
// Snapshot is shared by all threads; publish() and load() may be called from any. SnapshotReader
// belongs to one thread and costs one acquire load when nothing has changed (a shared_ptr in an
// atomic costs a hundred times that). A reference from get() is valid until the same reader's next
// get(): do not hold one across a suspension point; take a pin() for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace smg {

template <class T>
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<const T> first) : value_(std::move(first)) {}

  void publish(std::shared_ptr<const T> next) {
    {
      std::lock_guard lock(mutex_);
      value_.swap(next);
      version_.fetch_add(1, std::memory_order_release);
    }
    // The previous value is released here, outside the lock.
  }

  std::shared_ptr<const T> load() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
  std::atomic<std::uint64_t> version_{1};
};

template <class T>
class SnapshotReader {
 public:
  explicit SnapshotReader(const Snapshot<T>& source) : source_(&source) {}

  const T& get() {
    refresh();
    return *value_;
  }

  std::shared_ptr<const T> pin() {
    refresh();
    return value_;
  }

 private:
  void refresh() {
    const std::uint64_t version = source_->version();
    if (version != seen_) {
      value_ = source_->load();
      seen_ = version;
    }
  }

  const Snapshot<T>* source_;
  std::shared_ptr<const T> value_;
  std::uint64_t seen_ = 0;
};

}  // namespace smg
