// SPDX-License-Identifier: Apache-2.0
#include "plan/series_parallel.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace ingot::plan {
namespace {

constexpr int64_t kDeepest = 500;
// So many nodes of the graphs of all open levels are held at once, each of some 100 bytes.
constexpr int64_t kMostHeld = 400'000;

size_t index(int64_t i) { return static_cast<size_t>(i); }

struct Segment {
  int64_t hill = 0;
  int64_t change = 0;
  std::vector<int64_t> steps;

  // The order in which segments of different chains are best run.
  std::pair<bool, int64_t> key() const {
    return change <= 0 ? std::pair(false, hill) : std::pair(true, change - hill);
  }
};

using Chain = std::vector<Segment>;

// Appends a segment and joins what is out of order.
void append(Chain& chain, Segment segment) {
  while (!chain.empty() && segment.key() < chain.back().key()) {
    Segment& last = chain.back();
    last.hill = std::max(last.hill, last.change + segment.hill);
    last.change += segment.change;
    last.steps.insert(last.steps.end(), segment.steps.begin(), segment.steps.end());
    segment = std::move(last);
    chain.pop_back();
  }
  chain.push_back(std::move(segment));
}

class Merger {
 public:
  explicit Merger(const std::vector<StepCost>& costs) : costs_(costs) {}

  // The chain of the graph, whose nodes are the steps `names`. Recursion alternates between series
  // and parallel; its depth is bounded.
  std::optional<Chain> chain_of(const Dag& dag, const std::vector<int64_t>& names, int64_t depth) {
    if (dag.size() == 1) {
      const StepCost& cost = costs_[index(names.front())];
      return Chain{{cost.hill, cost.change, names}};
    }
    if (depth > kDeepest || held_ + dag.size() > kMostHeld) return std::nullopt;
    held_ += dag.size();
    std::optional<Chain> chain = chain_of_parts(dag, names, depth);
    held_ -= dag.size();
    return chain;
  }

 private:
  std::optional<Chain> chain_of_parts(const Dag& dag, const std::vector<int64_t>& names,
                                      int64_t depth) {
    std::vector<std::vector<int64_t>> parts = parallel_parts(dag);
    const bool parallel = parts.size() > 1;
    if (!parallel) parts = series_parts(dag);
    if (parts.size() == 1) return std::nullopt;
    Chain result;
    std::vector<int64_t> scratch(index(dag.size()), -1);
    for (const std::vector<int64_t>& part : parts) {
      std::vector<int64_t> part_names;
      for (const int64_t node : part) part_names.push_back(names[index(node)]);
      std::optional<Chain> chain = chain_of(induced(dag, part, scratch), part_names, depth + 1);
      if (!chain) return std::nullopt;
      for (Segment& segment : *chain) {
        if (parallel)
          result.push_back(std::move(segment));
        else
          append(result, std::move(segment));
      }
    }
    if (parallel) std::ranges::stable_sort(result, {}, &Segment::key);
    return result;
  }

  const std::vector<StepCost>& costs_;
  int64_t held_ = 0;
};

}  // namespace

std::optional<MergedOrder> merge_series_parallel(const Dag& dag,
                                                 const std::vector<StepCost>& costs) {
  std::vector<int64_t> names(index(dag.size()));
  std::iota(names.begin(), names.end(), 0);
  const std::optional<Chain> chain = Merger(costs).chain_of(dag, names, 0);
  if (!chain) return std::nullopt;
  MergedOrder result;
  int64_t live = 0;
  for (const Segment& segment : *chain) {
    result.peak = std::max(result.peak, live + segment.hill);
    live += segment.change;
    result.order.insert(result.order.end(), segment.steps.begin(), segment.steps.end());
  }
  return result;
}

}  // namespace ingot::plan
