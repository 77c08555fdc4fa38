// SPDX-License-Identifier: Apache-2.0
#include "plan/order_merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace ingot::plan {
namespace {

// So many choices of the last readers of shared buffers are tried.
constexpr size_t kMostChoices = 64;
// Otherwise so many times the choice is made after the last order found.
constexpr int64_t kRounds = 20;
// All merges together order so many steps, where that is fewer.
constexpr size_t kMostSteps = 50'000;

size_t index(int64_t i) { return static_cast<size_t>(i); }

class OrderMerger {
 public:
  OrderMerger(const Graph& graph, Memory& memory, const std::vector<int64_t>& steps)
      : graph_(graph), memory_(memory), steps_(steps) {
    for (size_t k = 0; k < steps_.size(); ++k) position_[steps_[k]] = k;
    std::vector<int64_t> scratch(graph.dag.before.size(), -1);
    dag_ = induced(graph.dag, steps_, scratch);
    dying_ = dying_buffers();
    choice_.assign(dying_.size(), 0);
    best_ = {steps, memory.peak_of(steps), 0};
  }

  Found run() {
    const size_t merges = kMostSteps / steps_.size();
    const size_t most = std::min(kMostChoices, std::max<size_t>(merges, 1));
    size_t num_choices = 1;
    for (const Dying& one : dying_)
      num_choices = std::min(most + 1, num_choices * one.last_readers.size());
    if (num_choices <= most) return every_choice(num_choices);
    return some_choices(std::clamp<int64_t>(static_cast<int64_t>(merges), 1, kRounds));
  }

 private:
  // A buffer that may die in the segment, and the readers that may be its last.
  struct Dying {
    int64_t buffer;
    std::vector<int64_t> last_readers;
  };

  std::vector<Dying> dying_buffers() const {
    std::set<int64_t> buffers;
    for (const int64_t step : steps_)
      for (const int64_t b : memory_.step(step).inputs) buffers.insert(b);
    std::vector<Dying> result;
    for (const int64_t b : buffers) {
      const std::vector<int64_t>& readers = graph_.readers[index(b)];
      const bool outlives = memory_.kept(b) || std::ranges::any_of(readers, [&](int64_t r) {
                              return !memory_.done(r) && !position_.contains(r);
                            });
      if (!outlives) result.push_back({b, last_readers(readers)});
    }
    return result;
  }

  // Those of the readers in this segment that no other reader comes after.
  std::vector<int64_t> last_readers(const std::vector<int64_t>& readers) const {
    std::set<int64_t> last;
    size_t earliest = SIZE_MAX;
    for (const int64_t reader : readers) {
      if (!position_.contains(reader)) continue;
      last.insert(reader);
      earliest = std::min(earliest, position_.at(reader));
    }
    std::set<int64_t> seen;
    std::vector<int64_t> stack(last.begin(), last.end());
    while (!stack.empty() && last.size() > 1) {
      const int64_t step = stack.back();
      stack.pop_back();
      for (const int64_t before : graph_.dag.before[index(step)]) {
        const auto position = position_.find(before);
        if (position == position_.end() || position->second < earliest) continue;
        last.erase(before);
        if (seen.insert(before).second) stack.push_back(before);
      }
    }
    return {last.begin(), last.end()};
  }

  // The costs of the steps if the last reader of each buffer is the one chosen. If `exact` is not
  // set, other readers may have been last: they save in place as well, so that costs are lower
  // bounds.
  std::vector<StepCost> costs(bool exact) const {
    std::map<std::pair<int64_t, int64_t>, bool> dies;  // (step, buffer): whether it is freed there
    for (size_t d = 0; d < dying_.size(); ++d)
      for (size_t r = 0; r < dying_[d].last_readers.size(); ++r)
        if (r == choice_[d] || !exact)
          dies[{dying_[d].last_readers[r], dying_[d].buffer}] = r == choice_[d];
    std::vector<StepCost> result;
    for (const int64_t step : steps_) {
      result.push_back(memory_.step_cost(step, [&](int64_t buffer) {
        const auto found = dies.find({step, buffer});
        return found == dies.end() ? Memory::Death::kNo
               : found->second     ? Memory::Death::kFreed
                                   : Memory::Death::kOnlySaves;
      }));
      // What is alive after a step counts as well, where more is saved than freed.
      result.back().hill = std::max(result.back().hill, result.back().change);
    }
    return result;
  }

  // The model's peak with the present choice, or nothing if the graph is not series-parallel. Keeps
  // the order if it is better.
  std::optional<int64_t> merge(bool exact) {
    const std::optional<MergedOrder> merged = merge_series_parallel(dag_, costs(exact));
    if (!merged) return std::nullopt;
    order_.clear();
    for (const int64_t node : merged->order) order_.push_back(steps_[index(node)]);
    const int64_t peak = memory_.peak_of(order_);
    if (peak < best_.peak) {
      best_.order = order_;
      best_.peak = peak;
    }
    return memory_.live() + merged->peak;
  }

  // One of the choices is true of an order of least peak, so that the least of them is a bound.
  Found every_choice(size_t num_choices) {
    int64_t bound = INT64_MAX;
    for (size_t c = 0; c < num_choices; ++c) {
      size_t rest = c;
      for (size_t d = 0; d < dying_.size(); ++d) {
        choice_[d] = rest % dying_[d].last_readers.size();
        rest /= dying_[d].last_readers.size();
      }
      const std::optional<int64_t> peak = merge(true);
      if (!peak) return best_;
      bound = std::min(bound, *peak);
    }
    best_.bound = std::min(bound, best_.peak);
    return best_;
  }

  // A bound from costs that are too low for any order, then orders from choices that come true.
  Found some_choices(int64_t rounds) {
    const std::optional<int64_t> bound = merge(false);
    if (!bound) return best_;
    for (int64_t round = 0; round < rounds && best_.peak > *bound; ++round) {
      if (!choose_as_in(order_)) break;
      merge(true);
    }
    best_.bound = std::min(*bound, best_.peak);
    return best_;
  }

  // Takes the last readers from an order; false if that changes nothing.
  bool choose_as_in(const std::vector<int64_t>& order) {
    std::unordered_map<int64_t, size_t> when;
    for (size_t k = 0; k < order.size(); ++k) when[order[k]] = k;
    bool changed = false;
    for (size_t d = 0; d < dying_.size(); ++d) {
      const std::vector<int64_t>& readers = dying_[d].last_readers;
      const auto last =
          std::ranges::max_element(readers, {}, [&](int64_t reader) { return when.at(reader); });
      const auto number = static_cast<size_t>(last - readers.begin());
      changed = changed || number != choice_[d];
      choice_[d] = number;
    }
    return changed;
  }

  const Graph& graph_;
  Memory& memory_;
  const std::vector<int64_t>& steps_;
  std::unordered_map<int64_t, size_t> position_;  // in steps_
  Dag dag_;
  std::vector<Dying> dying_;
  std::vector<size_t> choice_;  // for each of dying_, which is the last reader
  Found best_;
  std::vector<int64_t> order_;  // the last one found
};

}  // namespace

Found merged_order(const Graph& graph, Memory& memory, const std::vector<int64_t>& steps) {
  return OrderMerger(graph, memory, steps).run();
}

}  // namespace ingot::plan
