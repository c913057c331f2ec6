#include "smg/base/log_writer.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace smg::log {
namespace {

// Kept from one batch to the next; more is given back.
constexpr std::size_t kKeptBytes = std::size_t{256} << 10;

// Signals are for the threads that wait for them; a closed pipe must only fail the write.
void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

LogWriter::LogWriter(Output output, DropNotice notice, std::chrono::milliseconds stop_patience)
    : shared_(std::make_shared<Shared>()), stop_patience_(stop_patience) {
  shared_->output = std::move(output);
  shared_->notice = std::move(notice);
  thread_ = std::thread([shared = shared_] { run(shared); });
}

LogWriter::~LogWriter() {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->wake.notify_one();
  const bool done = shared_->ended.wait_for(lock, stop_patience_, [this] { return shared_->done; });
  lock.unlock();
  if (done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LogWriter::put(std::string_view line) {
  bool wake = false;
  {
    std::lock_guard lock(shared_->mutex);
    shared_->queue.push(line);
    wake = std::exchange(shared_->idle, false);
  }
  if (wake) shared_->wake.notify_one();
}

void LogWriter::run(const std::shared_ptr<Shared>& shared) {
  block_all_signals();
  std::string batch;
  TimePoint next_notice{};
  std::unique_lock lock(shared->mutex);
  for (;;) {
    if (shared->queue.empty() && !shared->stopping) {
      shared->idle = true;
      shared->wake.wait(lock, [&] { return !shared->queue.empty() || shared->stopping; });
      shared->idle = false;
    }
    shared->wake.wait_for(lock, kGather, [&] { return shared->stopping; });
    if (shared->queue.dropped() > 0 && (shared->stopping || Clock::now() >= next_notice)) {
      shared->queue.push(shared->notice(shared->queue.dropped()));
      shared->queue.reset_dropped();
      next_notice = Clock::now() + kNoticeInterval;
    }
    if (shared->queue.empty()) break;  // stopping, and all is written
    shared->queue.take(batch);
    lock.unlock();
    shared->output(batch);
    if (batch.capacity() > kKeptBytes) std::string().swap(batch);
    lock.lock();
  }
  shared->done = true;
  shared->ended.notify_all();
}

}  // namespace smg::log
