// SPDX-License-Identifier: Apache-2.0
#include "schedule/positions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"

namespace ingot {
namespace {

// Positions are looked at one by one.
constexpr int64_t kMostPositions = 4096;

using loop::Expr;

bool is_position(const Contraction& c, const LoopRange& axis) {
  return c.w.index.factor(axis.variable) == 0;
}

bool mentions(const Expr& e, const std::string& variable) {
  return loop::variables_of(e).contains(variable);
}

// Every use of the two variables in `e` is in an index, with `factor` between them.
bool steps_like_one(const Expr& e, const std::string& outer, const std::string& inner,
                    int64_t factor) {
  if (const auto* load = loop::as<loop::Load>(e)) {
    const std::optional<AffineIndex> index = affine_index(load->index);
    return index && index->factor(outer) == factor * index->factor(inner);
  }
  if (const auto* v = loop::as<loop::Var>(e)) return v->name != outer && v->name != inner;
  bool all = true;
  loop::map_operands(e, [&](const Expr& operand) {
    all = all && steps_like_one(operand, outer, inner, factor);
    return operand;
  });
  return all;
}

bool steps_like_one(const Contraction& c, const LoopRange& outer, const LoopRange& inner) {
  const int64_t factor = *inner.extent();
  const std::string& o = outer.variable;
  const std::string& i = inner.variable;
  if (c.x.index.factor(o) != factor * c.x.index.factor(i)) return false;
  for (const LoopRange& sum : c.sums) {
    for (const Expr& bound : {sum.begin, sum.end}) {
      if (mentions(bound, o) || mentions(bound, i)) return false;
    }
  }
  bool all = steps_like_one(c.first, o, i, factor);
  loop::for_each_stmt(c.finish, [&](const loop::Stmt& s) {
    if (const auto* store = std::get_if<loop::Store>(&s.kind)) {
      const std::optional<AffineIndex> index = affine_index(store->index);
      all = all && index && index->factor(o) == factor * index->factor(i) &&
            steps_like_one(store->value, o, i, factor);
    } else if (const auto* let = std::get_if<loop::Let>(&s.kind)) {
      all = all && steps_like_one(let->value, o, i, factor);
    } else if (const auto* assign = std::get_if<loop::Assign>(&s.kind)) {
      all = all && steps_like_one(assign->value, o, i, factor);
    }
  });
  return all;
}

std::optional<int64_t> value_of(const Expr& e) {
  const auto* literal = loop::as<loop::IntLit>(loop::simplify(e));
  return literal ? std::optional(literal->value) : std::nullopt;
}

}  // namespace

Contraction with_collapsed_positions(Contraction c) {
  for (size_t i = c.outer.size(); i-- > 1;) {
    const LoopRange outer = c.outer[i - 1];
    LoopRange& inner = c.outer[i];
    if (!is_position(c, outer) || !is_position(c, inner) || !steps_like_one(c, outer, inner)) {
      continue;
    }
    inner.end = loop::lit(*outer.extent() * *inner.extent());
    const std::map<std::string, Expr> gone = {{outer.variable, loop::lit(0)}};
    c.x.index.factors.erase(outer.variable);
    c.first = loop::substitute(c.first, gone);
    c.finish = loop::substitute(c.finish, gone);
    c.outer.erase(c.outer.begin() + static_cast<int64_t>(i) - 1);
  }
  return c;
}

std::optional<SumRange> range_of_sum(const Contraction& c, const LoopRange& sum) {
  std::set<std::string> variables = loop::variables_of(sum.begin);
  variables.merge(loop::variables_of(sum.end));
  if (variables.size() > 1) return std::nullopt;
  SumRange range;
  int64_t extent = 1;
  if (!variables.empty()) {
    range.variable = *variables.begin();
    const LoopRange* outer = c.find_outer(range.variable);
    if (!outer) return std::nullopt;
    extent = *outer->extent();
  }
  if (extent > kMostPositions) return std::nullopt;
  for (int64_t v = 0; v < extent; ++v) {
    const std::map<std::string, Expr> at = {{range.variable, loop::lit(v)}};
    const std::optional<int64_t> begin = value_of(loop::substitute(sum.begin, at));
    const std::optional<int64_t> end = value_of(loop::substitute(sum.end, at));
    if (!begin || !end) return std::nullopt;
    const Span span{*begin, std::max(*begin, *end)};
    range.full =
        v == 0 ? span
               : Span{std::min(range.full.begin, span.begin), std::max(range.full.end, span.end)};
    range.spans.push_back(span);
  }
  return range;
}

std::optional<std::vector<SumRange>> ranges_of_sums(const Contraction& c) {
  std::vector<SumRange> ranges;
  for (const LoopRange& sum : c.sums) {
    std::optional<SumRange> range = range_of_sum(c, sum);
    if (!range || range->full.begin != 0) return std::nullopt;
    const auto is_empty = [](const Span& span) { return span.length() == 0; };
    if (std::ranges::any_of(range->spans, is_empty)) return std::nullopt;
    ranges.push_back(*std::move(range));
  }
  return ranges;
}

Span full_positions(const std::vector<SumRange>& sums, const std::string& variable,
                    int64_t extent) {
  const bool depends =
      std::ranges::any_of(sums, [&](const SumRange& s) { return s.variable == variable; });
  if (!depends) return {0, extent};
  Span longest;
  Span run;
  for (int64_t v = 0; v < extent; ++v) {
    const bool full = std::ranges::all_of(sums, [&](const SumRange& s) {
      return s.variable != variable || s.spans[static_cast<size_t>(v)] == s.full;
    });
    if (!full) {
      run = {v + 1, v + 1};
      continue;
    }
    run.end = v + 1;
    if (run.length() > longest.length()) longest = run;
  }
  return longest;
}

}  // namespace ingot
