// SPDX-License-Identifier: Apache-2.0
#include "loop/limited.h"

namespace ingot::loop {

Expr limited_to(const Expr& e, DType dtype) {
  const auto is_all = [](const Expr& value, int64_t x) {
    const auto* all = as<Cast>(value);
    const auto* literal = all ? as<IntLit>(all->a) : nullptr;
    return literal && literal->value == x;
  };
  const auto* upper = as<BinaryExpr>(e);
  const auto* lower = upper ? as<BinaryExpr>(upper->a) : nullptr;
  if (!lower || upper->op != BinaryOp::kMin || lower->op != BinaryOp::kMax) return nullptr;
  if (!is_all(upper->b, highest(dtype)) || !is_all(lower->b, lowest(dtype))) return nullptr;
  return lower->a;
}

}  // namespace ingot::loop
