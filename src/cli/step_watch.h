// SPDX-License-Identifier: Apache-2.0
// --print-after and --time: what the user may see of the compiler's steps.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "driver/compile.h"

namespace ingot::cli {

class StepWatch {
 public:
  // Prints what the steps named in `print_after` leave to standard output ("all": every step).
  explicit StepWatch(std::vector<std::string> print_after);

  // Refer to this watch.
  Hooks hooks();

  // A line per step: "lower  12.3 ms".
  std::string times_text() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::string> print_after_;
  std::string last_text_;
  Clock::time_point last_;
  std::vector<std::pair<std::string, double>> milliseconds_;
};

}  // namespace ingot::cli
