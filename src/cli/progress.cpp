// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace ingot::cli {

Progress::Progress(std::string what) : what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Progress::show() {
  std::unique_lock lock(mutex_);
  int64_t seconds = 0;
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    ++seconds;
    fmt::print(stderr, "\r{} ... {} s", what_, seconds);
    std::fflush(stderr);
  }
  if (seconds > 0) fmt::print(stderr, "\r\033[K");
}

}  // namespace ingot::cli
