// SPDX-License-Identifier: Apache-2.0
// A line on the terminal for what takes longer than a second; nothing anywhere else.
#pragma once
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace ingot::cli {

// Shows `what` with the seconds gone by, from the first second of its life to the end of it.
class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

 private:
  void show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace ingot::cli
