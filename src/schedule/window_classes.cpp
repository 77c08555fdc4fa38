// SPDX-License-Identifier: Apache-2.0
#include "schedule/window_classes.h"

#include <algorithm>
#include <utility>

namespace ingot {

using loop::Expr;
using loop::lit;
using loop::var;

namespace {

constexpr int64_t kMostWindows = 36;

}  // namespace

std::optional<WindowClasses> WindowClasses::of(const std::vector<SumRange>& ranges) {
  WindowClasses windows;
  windows.ranges_ = ranges;
  int64_t count = 1;
  for (const SumRange& range : ranges) {
    std::vector<Span> kinds;
    for (const Span& span : range.spans) {
      if (std::ranges::find(kinds, span) == kinds.end()) kinds.push_back(span);
    }
    if (std::ranges::find(kinds, range.full) == kinds.end()) return std::nullopt;
    count *= static_cast<int64_t>(kinds.size());
    if (count > kMostWindows) return std::nullopt;
    windows.kinds_.push_back(std::move(kinds));
  }
  return windows;
}

int64_t WindowClasses::count() const {
  int64_t count = 1;
  for (const std::vector<Span>& kinds : kinds_) count *= static_cast<int64_t>(kinds.size());
  return count;
}

int64_t WindowClasses::full() const {
  int64_t number = 0;
  for (size_t r = 0; r < ranges_.size(); ++r) {
    const auto at = std::ranges::find(kinds_[r], ranges_[r].full) - kinds_[r].begin();
    number = number * static_cast<int64_t>(kinds_[r].size()) + at;
  }
  return number;
}

Expr WindowClasses::expr() const {
  Expr number = lit(0);
  for (size_t r = 0; r < ranges_.size(); ++r) {
    const std::vector<Span>& spans = ranges_[r].spans;
    const auto kind_at = [&](size_t v) {
      return std::ranges::find(kinds_[r], spans[v]) - kinds_[r].begin();
    };
    // From the last value of the variable down, a select where the kind changes.
    Expr kind = lit(kind_at(spans.size() - 1));
    for (size_t v = spans.size() - 1; v-- > 0;) {
      if (kind_at(v) == kind_at(v + 1)) continue;
      const Expr variable = var(ranges_[r].variable);
      kind = loop::select(loop::less(variable, lit(static_cast<int64_t>(v) + 1)), lit(kind_at(v)),
                          kind);
    }
    number = number * static_cast<int64_t>(kinds_[r].size()) + kind;
  }
  return number;
}

std::vector<std::vector<bool>> WindowClasses::terms_inside() const {
  int64_t num_terms = 1;
  for (const SumRange& range : ranges_) num_terms *= range.full.end;
  std::vector<std::vector<bool>> all;
  for (int64_t number = 0; number < count(); ++number) {
    std::vector<bool> inside(static_cast<size_t>(num_terms), true);
    for (int64_t t = 0; t < num_terms; ++t) {
      int64_t kind = number;
      int64_t term = t;
      for (size_t r = ranges_.size(); r-- > 0;) {
        const auto num_kinds = static_cast<int64_t>(kinds_[r].size());
        const Span& span = kinds_[r][static_cast<size_t>(kind % num_kinds)];
        const int64_t at = term % ranges_[r].full.end;
        if (at < span.begin || at >= span.end) inside[static_cast<size_t>(t)] = false;
        kind /= num_kinds;
        term /= ranges_[r].full.end;
      }
    }
    all.push_back(std::move(inside));
  }
  return all;
}

}  // namespace ingot
