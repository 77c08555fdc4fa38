// SPDX-License-Identifier: Apache-2.0
#include "ops/nest.h"

#include <utility>

namespace ingot {

using loop::Expr;
using loop::lit;

Axis axis(Lowering& lowering, const std::string& name, Expr begin, Expr end) {
  const auto* first = loop::as<loop::IntLit>(begin);
  const auto* last = loop::as<loop::IntLit>(end);
  if (first && last && last->value - first->value == 1) return {"", begin, end, begin};
  std::string unique = lowering.fresh(name);
  Expr index = loop::var(unique);
  return {std::move(unique), std::move(begin), std::move(end), std::move(index)};
}

Axis axis(Lowering& lowering, const std::string& name, int64_t extent) {
  return axis(lowering, name, lit(0), lit(extent));
}

loop::Block over(const Axis& axis, loop::Block body) {
  if (axis.name.empty()) return body;
  return {loop::For{axis.name, axis.begin, axis.end, 1, false, std::move(body)}};
}

}  // namespace ingot
