// SPDX-License-Identifier: Apache-2.0
// The output positions by which terms of the sums are inside there: what a kernel adds for the
// others, such as the zero point of x times weights, can be a table by class.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "loop/program.h"
#include "schedule/positions.h"

namespace ingot {

// Positions at which the same terms of the sums are inside are of one class.
class WindowClasses {
 public:
  // nullopt if there are so many that a table of them would be too large.
  static std::optional<WindowClasses> of(const std::vector<SumRange>& ranges);

  int64_t count() const;
  int64_t full() const;     // the class where all terms are inside
  loop::Expr expr() const;  // the class at a position
  // By class and term.
  std::vector<std::vector<bool>> terms_inside() const;

 private:
  std::vector<SumRange> ranges_;
  std::vector<std::vector<Span>> kinds_;  // the different spans of each range
};

}  // namespace ingot
