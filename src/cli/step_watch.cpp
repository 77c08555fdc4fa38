// SPDX-License-Identifier: Apache-2.0
#include "cli/step_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace ingot::cli {

StepWatch::StepWatch(std::vector<std::string> print_after)
    : print_after_(std::move(print_after)), last_(Clock::now()) {}

Hooks StepWatch::hooks() {
  return {[this](std::string_view step, const std::function<std::string()>& text) {
    const std::chrono::duration<double, std::milli> spent = Clock::now() - last_;
    milliseconds_.emplace_back(step, spent.count());
    const bool all = std::ranges::find(print_after_, "all") != print_after_.end();
    if (all || std::ranges::find(print_after_, step) != print_after_.end()) {
      const std::string printed = text();
      const bool changed = printed != last_text_;
      fmt::print("# after {}{}\n{}", step, changed ? "" : " (unchanged)", changed ? printed : "");
      last_text_ = printed;
    }
    last_ = Clock::now();
  }};
}

std::string StepWatch::times_text() const {
  std::string text;
  double total = 0;
  for (const auto& [step, time] : milliseconds_) {
    text += fmt::format("{:<20} {:>9.2f} ms\n", step, time);
    total += time;
  }
  return text + fmt::format("{:<20} {:>9.2f} ms\n", "total", total);
}

}  // namespace ingot::cli
