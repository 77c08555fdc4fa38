// SPDX-License-Identifier: Apache-2.0
// Nests of loops, built from the innermost outward. A loop that would run once is left out.
#pragma once
#include <string>

#include "ops/lowering.h"

namespace ingot {

// A loop variable and its range; where the range is a single number, the index is that number.
struct Axis {
  std::string name;
  loop::Expr begin;
  loop::Expr end;
  loop::Expr index;
};
Axis axis(Lowering& lowering, const std::string& name, loop::Expr begin, loop::Expr end);
// From 0 to `extent`.
Axis axis(Lowering& lowering, const std::string& name, int64_t extent);

// The loop with this body, or only the body where the range is a single number.
loop::Block over(const Axis& axis, loop::Block body);

}  // namespace ingot
