// SPDX-License-Identifier: Apache-2.0
#include "schedule/columns.h"

#include <utility>

#include "loop/rewrite.h"
#include "schedule/block.h"

namespace ingot {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

Block Columns::in_order(Block a, Block b) const { return reverse_ ? joined(b, a) : joined(a, b); }

Block Columns::over(Expr begin, Expr end, int64_t step, Block body) const {
  return {loop::For{column().variable, std::move(begin), std::move(end), step, reverse_,
                    std::move(body)}};
}

Block Columns::rows(Block row) const {
  for (size_t p = positions_.size() - 1; p-- > 0;) {
    const LoopRange& axis = positions_[p];
    row = {loop::For{axis.variable, axis.begin, axis.end, 1, reverse_, std::move(row)}};
  }
  return row;
}

// With single columns on whole sides:
//   for side = 0 to 2 { single columns left or right of the blocks; after the left ones, blocks }
Block Columns::segment(const Span& all, const Span& full, const Body& single, const Body& block) {
  const Span blocks = {full.begin, full.begin + full.length() / step_ * step_};
  if (full.length() < step_) return over(lit(all.begin), lit(all.end), 1, single());
  const Expr inside = is_inside();
  Block whole = over(lit(blocks.begin), lit(blocks.end), step_, block());
  if (inside) whole = {loop::If{inside, std::move(whole), {}}};
  // In rows at the border all columns are single ones.
  const auto if_inside = [&](int64_t at, int64_t otherwise) {
    return inside ? loop::select(inside, lit(at), lit(otherwise)) : lit(at);
  };
  const bool has_left = blocks.begin > all.begin;
  const bool has_right = blocks.end < all.end || inside;
  if (!has_left && !has_right) return whole;
  if (!has_left) {
    return in_order(std::move(whole),
                    over(if_inside(blocks.end, all.begin), lit(all.end), 1, single()));
  }
  if (!has_right) {
    return in_order(over(lit(all.begin), lit(blocks.begin), 1, single()), std::move(whole));
  }
  const std::string side = loop::fresh_name("side", names_);
  const Expr is_left = loop::binary(loop::BinaryOp::kEq, var(side), lit(0));
  const std::string begin = loop::fresh_name(column().variable + "_begin", names_);
  const std::string end = loop::fresh_name(column().variable + "_end", names_);
  Block singles = {
      loop::Let{begin, loop::select(is_left, lit(all.begin), if_inside(blocks.end, all.end))},
      loop::Let{end, loop::select(is_left, if_inside(blocks.begin, all.end), lit(all.end))}};
  append(singles, over(var(begin), var(end), 1, single()));
  Block after_left = {loop::If{is_left, std::move(whole), {}}};
  return {loop::For{side, lit(0), lit(2), 1, reverse_,
                    in_order(std::move(singles), std::move(after_left))}};
}

// The sums that depend on other positions than the column are full; null if they always are, or
// need not be.
Expr Columns::is_inside() const {
  Expr all = nullptr;
  const auto require = [&](Expr condition) {
    all = all ? loop::binary(loop::BinaryOp::kAnd, all, std::move(condition)) : condition;
  };
  for (size_t p = 0; p + 1 < positions_.size() && rows_ == Rows::kFull; ++p) {
    const LoopRange& row = positions_[p];
    const int64_t extent = *row.extent();
    const Span full = full_positions(ranges_, row.variable, extent);
    const Expr v = var(row.variable);
    if (full.begin > 0) require(loop::less(lit(full.begin - 1), v));
    if (full.end < extent) require(loop::less(v, lit(full.end)));
  }
  return all;
}

}  // namespace ingot
