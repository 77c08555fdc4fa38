// SPDX-License-Identifier: Apache-2.0
// The loops over output positions of a schedule that makes blocks of neighbouring columns where it
// can: in columns where all sums are full, and in rows where they are or in all.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "schedule/positions.h"

namespace ingot {

class Columns {
 public:
  enum class Rows : uint8_t { kFull, kAll };

  // `positions`: outermost first, the last one being the columns, of which a block has `step`;
  // `names` are taken.
  Columns(std::vector<LoopRange> positions, std::vector<SumRange> ranges, int64_t step,
          bool reverse, std::set<std::string>& names, Rows rows = Rows::kFull)
      : positions_(std::move(positions)),
        ranges_(std::move(ranges)),
        step_(step),
        reverse_(reverse),
        names_(names),
        rows_(rows) {}

  using Body = std::function<loop::Block()>;

  const LoopRange& column() const { return positions_.back(); }
  int64_t width() const { return *positions_.back().extent(); }
  // The columns where all sums that depend on the column are full.
  Span full() const { return full_positions(ranges_, column().variable, width()); }

  // The columns of `all`: those of `full` (inside it; a rest that makes no block does not count) by
  // `block`, in rows where all sums are full or in all, the others by `single`.
  loop::Block segment(const Span& all, const Span& full, const Body& single, const Body& block);
  // The loops over the other positions around `row`.
  loop::Block rows(loop::Block row) const;

  // `a` and then `b`, or the other way round if outputs are made from the last to the first.
  loop::Block in_order(loop::Block a, loop::Block b) const;

 private:
  loop::Block over(loop::Expr begin, loop::Expr end, int64_t step, loop::Block body) const;
  loop::Expr is_inside() const;

  std::vector<LoopRange> positions_;
  std::vector<SumRange> ranges_;
  int64_t step_;
  bool reverse_;
  std::set<std::string>& names_;
  Rows rows_;
};

}  // namespace ingot
