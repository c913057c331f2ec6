#include "smg/base/log_queue.hpp"

#include <utility>

namespace smg::log {

void LogQueue::push(std::string_view line) {
  while (lines_ > 0 &&
         (lines_ >= kMaxLines || text_.size() - head_ + line.size() + 1 > kMaxBytes)) {
    drop_oldest();
  }
  text_.append(line).append(1, '\n');
  ++lines_;
}

void LogQueue::take(std::string& out) {
  text_.erase(0, head_);
  out.clear();
  std::swap(out, text_);
  head_ = 0;
  lines_ = 0;
}

void LogQueue::drop_oldest() {
  head_ = text_.find('\n', head_) + 1;
  --lines_;
  ++dropped_;
  if (head_ * 2 > text_.size()) {
    text_.erase(0, head_);
    head_ = 0;
  }
}

}  // namespace smg::log
