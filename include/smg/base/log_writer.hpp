// The thread that writes log lines, and the queue before it. Thread-safe.
//
// put() copies the line under a short lock. The thread is woken only out of idleness: while lines
// keep coming it collects them for a few milliseconds and writes each batch whole, so that busy
// threads pay neither a wake-up nor a system call.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "smg/base/clock.hpp"
#include "smg/base/log_queue.hpp"

namespace smg::log {

class LogWriter {
 public:
  // Takes whole lines, each ended by \n. Runs on the writer's thread; may block.
  using Output = std::function<void(std::string_view lines)>;
  // Makes the line that says how many were dropped.
  using DropNotice = std::function<std::string(std::uint64_t dropped)>;

  LogWriter(Output output, DropNotice notice,
            std::chrono::milliseconds stop_patience = std::chrono::seconds{2});

  // Writes what is queued and ends the thread. Should the output block for longer than
  // stop_patience, what is left is given up and the thread is abandoned: a dead stdout must not
  // hold up the end of the process.
  ~LogWriter();

  void put(std::string_view line);

  static constexpr std::chrono::milliseconds kGather{5};
  static constexpr std::chrono::seconds kNoticeInterval{1};

 private:
  // Outlives the writer when its thread is abandoned.
  struct Shared {
    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable ended;
    LogQueue queue;
    bool idle = false;
    bool stopping = false;
    bool done = false;
    Output output;
    DropNotice notice;
  };

  static void run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  std::chrono::milliseconds stop_patience_;
  std::thread thread_;
};

}  // namespace smg::log
