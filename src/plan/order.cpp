// SPDX-License-Identifier: Apache-2.0
#include "plan/order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "plan/dag.h"
#include "plan/order_memory.h"
#include "plan/order_merge.h"
#include "support/check.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

// Segments above these sizes are not ordered greedily, or searched with fewer states, as both cost
// time in proportion to the size for every step or state.
constexpr size_t kMostGreedySteps = 3'000;
constexpr int64_t kMostStateSteps = 10'000'000;

// A set of finished steps of one segment.
using Bits = std::vector<uint64_t>;

struct BitsHash {
  size_t operator()(const Bits& bits) const {
    uint64_t hash = 0x9e3779b97f4a7c15U;
    for (const uint64_t word : bits) hash = (hash ^ word) * 0xff51afd7ed558ccdU + (hash >> 29U);
    return hash;
  }
};

// One segment: the steps between two cuts, and the memory before them.
class Segment {
 public:
  Segment(const Graph& graph, const Memory& start, std::vector<int64_t> steps)
      : graph_(graph), memory_(start), topological_(steps), steps_(std::move(steps)) {
    std::ranges::sort(steps_);
    for (size_t k = 0; k < steps_.size(); ++k) local_[steps_[k]] = k;
  }

  // Runs the search with at most `states` states (reduced by those used). A peak up to `bound`
  // costs nothing.
  Found solve(int64_t bound, int64_t& states) {
    if (steps_.size() == 1) {
      const int64_t peak = memory_.cost(steps_.front()).during;
      return {steps_, peak, peak};
    }
    Found best = merged_order(graph_, memory_, topological_);
    if (best.peak > std::max(bound, best.bound) && steps_.size() <= kMostGreedySteps) {
      Found greedy = greedy_order(bound);
      if (greedy.peak < best.peak) std::swap(best.order, greedy.order);
      best.peak = std::min(best.peak, greedy.peak);
    }
    const int64_t proven = std::max(bound, best.bound);
    if (best.peak <= proven) return best;
    int64_t affordable = std::min(states, kMostStateSteps / static_cast<int64_t>(steps_.size()));
    states -= affordable;
    Found found = search(proven, std::move(best), affordable);
    states += affordable;
    found.bound = std::max(found.bound, proven);
    return found;
  }

 private:
  struct State {
    int64_t peak;
    int64_t parent;              // state; -1: the start
    std::vector<int64_t> steps;  // run since the parent
    size_t num_done;
  };

  bool ready(int64_t step) const {
    return !memory_.done(step) && std::ranges::all_of(graph_.dag.before[index(step)],
                                                      [&](int64_t s) { return memory_.done(s); });
  }

  // Steps that may be run first whatever follows: they free as much as they make and fit under
  // the peak that is needed anyway. Moving such a step to the front of an order lets no other
  // step see more memory.
  void run_free_steps(std::vector<int64_t>& ready_steps, int64_t peak, std::vector<int64_t>& run) {
    for (size_t r = 0; r < ready_steps.size();) {
      const int64_t step = ready_steps[r];
      const Memory::Cost cost = memory_.cost(step);
      if (cost.during > peak || cost.after > memory_.live()) {
        ++r;
        continue;
      }
      run_step(ready_steps, r, run);
      r = 0;
    }
  }

  void run_step(std::vector<int64_t>& ready_steps, size_t r, std::vector<int64_t>& run) {
    const int64_t step = ready_steps[r];
    ready_steps.erase(ready_steps.begin() + static_cast<int64_t>(r));
    memory_.run(step);
    run.push_back(step);
    for (const int64_t next : graph_.dag.after[index(step)])
      if (local_.contains(next) && ready(next)) ready_steps.push_back(next);
  }

  std::vector<int64_t> ready_now() const {
    std::vector<int64_t> result;
    for (const int64_t step : steps_)
      if (ready(step)) result.push_back(step);
    return result;
  }

  // Always the ready step that leaves least alive.
  Found greedy_order(int64_t bound) {
    Found found;
    found.peak = bound;
    std::vector<int64_t> ready_steps = ready_now();
    int64_t peak = bound;
    while (!ready_steps.empty()) {
      run_free_steps(ready_steps, peak, found.order);
      if (ready_steps.empty()) break;
      std::tuple<int64_t, int64_t, int64_t> best{INT64_MAX, 0, 0};
      size_t choice = 0;
      for (size_t r = 0; r < ready_steps.size(); ++r) {
        const Memory::Cost cost = memory_.cost(ready_steps[r]);
        const std::tuple key{std::max(cost.during, peak), cost.after, ready_steps[r]};
        if (key >= best) continue;
        best = key;
        choice = r;
      }
      peak = std::get<0>(best);
      run_step(ready_steps, choice, found.order);
    }
    found.peak = peak;
    memory_.take_back(found.order);
    return found;
  }

  std::vector<int64_t> path_to(int64_t state) const {
    std::vector<int64_t> path;
    for (int64_t s = state; s >= 0; s = states_[index(s)].parent)
      path.insert(path.begin(), states_[index(s)].steps.begin(), states_[index(s)].steps.end());
    return path;
  }

  void add_state(int64_t parent, int64_t peak, std::vector<int64_t> run, Bits bits) {
    const auto number = static_cast<int64_t>(states_.size());
    const auto [it, is_new] = best_peak_.emplace(std::move(bits), peak);
    if (!is_new && it->second <= peak) return;
    it->second = peak;
    const size_t done = (parent < 0 ? 0 : states_[index(parent)].num_done) + run.size();
    states_.push_back({peak, parent, std::move(run), done});
    open_.emplace(peak, steps_.size() - done, number);
  }

  Bits bits_of(const std::vector<int64_t>& path) const {
    Bits bits((steps_.size() + 63) / 64, 0);
    for (const int64_t step : path) {
      const size_t k = local_.at(step);
      bits[k / 64] |= uint64_t{1} << k % 64;
    }
    return bits;
  }

  // Dijkstra's algorithm over down-sets, the length of a path being its peak.
  Found search(int64_t bound, Found greedy, int64_t& states) {
    std::vector<int64_t> none;
    add_state(-1, bound, none, bits_of(none));
    int64_t proven = bound;
    while (!open_.empty() && static_cast<int64_t>(states_.size()) <= states) {
      const auto [peak, left, number] = open_.top();
      open_.pop();
      proven = peak;
      if (peak >= greedy.peak) break;
      const std::vector<int64_t> path = path_to(number);
      if (left == 0) {
        states -= static_cast<int64_t>(states_.size());
        return {path, peak, peak};
      }
      const Bits bits = bits_of(path);
      if (best_peak_.at(bits) < peak) continue;  // reached better since
      expand(number, peak, path, greedy.peak);
    }
    const bool exhausted = open_.empty() || proven >= greedy.peak;
    states -= std::min(states, static_cast<int64_t>(states_.size()));
    greedy.bound = exhausted ? greedy.peak : proven;
    return greedy;
  }

  void expand(int64_t number, int64_t peak, const std::vector<int64_t>& path, int64_t limit) {
    for (const int64_t step : path) memory_.run(step);
    const std::vector<int64_t> choices = ready_now();
    for (const int64_t step : choices) {
      const int64_t next_peak = std::max(peak, memory_.cost(step).during);
      if (next_peak >= limit) continue;
      std::vector<int64_t> run;
      std::vector<int64_t> ready_steps = choices;
      const auto r = static_cast<size_t>(std::ranges::find(choices, step) - choices.begin());
      run_step(ready_steps, r, run);
      run_free_steps(ready_steps, next_peak, run);
      std::vector<int64_t> whole = path;
      whole.insert(whole.end(), run.begin(), run.end());
      memory_.take_back(run);
      add_state(number, next_peak, std::move(run), bits_of(whole));
    }
    memory_.take_back(path);
  }

  const Graph& graph_;
  Memory memory_;
  std::vector<int64_t> topological_, steps_;
  std::unordered_map<int64_t, size_t> local_;  // where a step is in steps_
  std::vector<State> states_;
  std::unordered_map<Bits, int64_t, BitsHash> best_peak_;
  std::priority_queue<std::tuple<int64_t, size_t, int64_t>,
                      std::vector<std::tuple<int64_t, size_t, int64_t>>, std::greater<>>
      open_;
};

}  // namespace

int64_t peak_of(const OrderProblem& problem, const std::vector<int64_t>& order) {
  Memory memory(problem, graph_of(problem));
  int64_t peak = memory.live();
  for (const int64_t step : order) {
    peak = std::max(peak, memory.cost(step).during);
    memory.run(step);
  }
  return peak;
}

StepOrder least_peak_order(const OrderProblem& problem, int64_t states) {
  CHECK(problem.kept.size() == problem.buffer_bytes.size());
  const Graph graph = graph_of(problem);
  Memory memory(problem, graph);
  StepOrder result;
  result.lower_bound_bytes = memory.live();
  result.peak_bytes = memory.live();
  const std::vector<std::vector<int64_t>> segments = series_parts(graph.dag);
  // What single steps between the cuts need is a bound for all segments: no search below it.
  for (const std::vector<int64_t>& segment : segments) {
    if (segment.size() == 1)
      result.lower_bound_bytes =
          std::max(result.lower_bound_bytes, memory.cost(segment.front()).during);
    for (const int64_t step : segment) memory.run(step);
  }
  result.lower_bound_bytes = std::max(result.lower_bound_bytes, memory.live());
  Memory now(problem, graph);
  for (const std::vector<int64_t>& segment : segments) {
    Found found;
    if (segment.size() == 1) {
      found = {segment, now.cost(segment.front()).during, 0};
    } else {
      found = Segment(graph, now, segment).solve(result.lower_bound_bytes, states);
    }
    result.peak_bytes = std::max(result.peak_bytes, found.peak);
    result.lower_bound_bytes = std::max(result.lower_bound_bytes, found.bound);
    for (const int64_t step : found.order) {
      now.run(step);
      result.order.push_back(step);
    }
  }
  result.peak_bytes = peak_of(problem, result.order);
  result.optimal = result.peak_bytes == result.lower_bound_bytes;
  return result;
}

}  // namespace ingot::plan
