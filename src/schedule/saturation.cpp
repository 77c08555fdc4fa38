// SPDX-License-Identifier: Apache-2.0
#include "schedule/saturation.h"

#include <algorithm>

#include "loop/rewrite.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;

// The operand of `op` with a literal `bound`; null if `e` is something else.
Expr bounded(const Expr& e, BinaryOp op, int64_t bound) {
  const auto* b = loop::as<loop::BinaryExpr>(e);
  if (!b || b->op != op || e->type != loop::kInt32) return nullptr;
  const auto* literal = loop::as<loop::IntLit>(b->b);
  return literal && literal->value == bound ? b->a : nullptr;
}

Expr saturated(const Expr& e, const loop::Function& f) {
  for (const auto& [outer, first, inner, second] :
       {std::tuple{BinaryOp::kMin, 127, BinaryOp::kMax, -128},
        std::tuple{BinaryOp::kMax, -128, BinaryOp::kMin, 127}}) {
    const Expr clipped = bounded(e, outer, first);
    const Expr x = clipped ? bounded(clipped, inner, second) : nullptr;
    if (x) return loop::call(f.name, loop::kInt32, {saturated(x, f)});
  }
  return loop::map_operands(e, [&](const Expr& operand) { return saturated(operand, f); });
}

}  // namespace

loop::Block with_saturation(const loop::Block& body, const Target& target) {
  const auto found = std::ranges::find(target.intrinsics, "saturate_int8", &loop::Function::name);
  if (found == target.intrinsics.end()) return body;
  return loop::map_expressions(body, [&](const Expr& e) { return saturated(e, *found); });
}

}  // namespace ingot
