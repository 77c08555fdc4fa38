// SPDX-License-Identifier: Apache-2.0
// Which values an integer expression can take: intervals, from the types, the loops and the scalars
// around it. The printer asks it for the sign of a dividend; nothing relies on it being tight.
#pragma once
#include <map>
#include <string>

#include "loop/program.h"

namespace ingot {

struct ValueRange {
  int64_t low = 0;
  int64_t high = 0;
};

class Ranges {
 public:
  // The range of a variable from here on.
  void set(const std::string& variable, ValueRange range) { variables_[variable] = range; }
  void set_loop(const loop::For& loop);

  // Of an integer or bool expression; at most the range of its type.
  ValueRange of(const loop::Expr& e) const;

 private:
  ValueRange of_binary(const loop::BinaryExpr& e, ValueRange whole) const;

  std::map<std::string, ValueRange> variables_;
};

}  // namespace ingot
