// SPDX-License-Identifier: Apache-2.0
// Collects diagnostics up to a limit, so that a file with a million faults yields a message that
// can be read.
#pragma once
#include <fmt/format.h>

#include <utility>

#include "support/diagnostic.h"

namespace ingot {

class Report {
 public:
  void error(Code code, std::string where, std::string what, std::string hint = "",
             std::vector<std::string> notes = {}) {
    ++num_errors_;
    add({code, std::move(where), std::move(what), std::move(hint), std::move(notes)}, errors_);
  }
  void warning(Severity severity, Code code, std::string where, std::string what,
               std::string hint = "") {
    ++num_warnings_;
    add({code, std::move(where), std::move(what), std::move(hint), {}, severity}, warnings_);
  }

  // Whether errors are only counted by now, so that their texts need not be made.
  bool is_full() const { return errors_.size() >= kMost; }
  void count_error() { ++num_errors_; }

  bool has_errors() const { return num_errors_ > 0; }
  int64_t num_errors() const { return num_errors_; }

  // What was collected; the last message says how many were left out.
  Diagnostics errors() const { return closed(errors_, num_errors_, Severity::kError); }
  Diagnostics warnings() const { return closed(warnings_, num_warnings_, Severity::kNote); }

 private:
  static constexpr size_t kMost = 100;

  static void add(Diagnostic diagnostic, Diagnostics& list) {
    if (list.size() < kMost) list.push_back(std::move(diagnostic));
  }
  static Diagnostics closed(Diagnostics list, int64_t count, Severity severity) {
    const int64_t left_out = count - static_cast<int64_t>(list.size());
    if (left_out > 0) {
      list.push_back(
          {list.back().code, "", fmt::format("{} more such messages", left_out), "", {}, severity});
    }
    return list;
  }

  Diagnostics errors_;
  Diagnostics warnings_;
  int64_t num_errors_ = 0;
  int64_t num_warnings_ = 0;
};

}  // namespace ingot
