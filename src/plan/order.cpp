// SPDX-License-Identifier: Apache-2.0
#include "plan/order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "support/check.h"

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

// The dependences of a problem, by step.
struct Graph {
  std::vector<std::vector<int64_t>> before, after;
  std::vector<std::vector<int64_t>> readers;  // by buffer
  std::vector<int64_t> writer;                // by buffer; -1: none
};

Graph graph_of(const OrderProblem& problem) {
  const size_t n = problem.steps.size();
  Graph graph{std::vector<std::vector<int64_t>>(n), std::vector<std::vector<int64_t>>(n),
              std::vector<std::vector<int64_t>>(problem.buffer_bytes.size()),
              std::vector<int64_t>(problem.buffer_bytes.size(), -1)};
  for (size_t s = 0; s < n; ++s) {
    for (const int64_t b : problem.steps[s].outputs)
      graph.writer[index(b)] = static_cast<int64_t>(s);
    for (const int64_t b : problem.steps[s].inputs)
      graph.readers[index(b)].push_back(static_cast<int64_t>(s));
  }
  std::vector<std::pair<int64_t, int64_t>> edges = problem.constraints;
  for (size_t s = 0; s < n; ++s)
    for (const int64_t b : problem.steps[s].inputs)
      if (graph.writer[index(b)] >= 0)
        edges.emplace_back(graph.writer[index(b)], static_cast<int64_t>(s));
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  for (const auto& [from, to] : edges) {
    graph.after[index(from)].push_back(to);
    graph.before[index(to)].push_back(from);
  }
  return graph;
}

// Kahn's algorithm, least index first. `alone` marks the steps that were the only one ready.
std::vector<int64_t> topological(const std::vector<std::vector<int64_t>>& before,
                                 const std::vector<std::vector<int64_t>>& after,
                                 std::vector<bool>& alone) {
  std::vector<int64_t> waits;
  std::set<int64_t> ready;
  for (size_t s = 0; s < before.size(); ++s) {
    waits.push_back(static_cast<int64_t>(before[s].size()));
    if (before[s].empty()) ready.insert(static_cast<int64_t>(s));
  }
  std::vector<int64_t> order;
  alone.assign(before.size(), false);
  while (!ready.empty()) {
    const int64_t step = *ready.begin();
    alone[index(step)] = ready.size() == 1;
    ready.erase(ready.begin());
    order.push_back(step);
    for (const int64_t next : after[index(step)])
      if (--waits[index(next)] == 0) ready.insert(next);
  }
  CHECK(order.size() == before.size());
  return order;
}

// Memory while steps are run one after the other.
class Memory {
 public:
  Memory(const OrderProblem& problem, const Graph& graph)
      : problem_(problem), done_(problem.steps.size(), false) {
    for (size_t b = 0; b < problem.buffer_bytes.size(); ++b) {
      unread_.push_back(static_cast<int64_t>(graph.readers[b].size()));
      const bool needed = unread_.back() > 0 || problem.kept[b];
      if (graph.writer[b] < 0 && needed) live_ += problem.buffer_bytes[b];
    }
  }

  struct Cost {
    int64_t during, after;  // bytes alive
  };
  Cost cost(int64_t s) const {
    const Step& step = problem_.steps[index(s)];
    int64_t written = 0, dead_output = 0, freed = 0, saved = 0;
    for (const int64_t b : step.outputs) {
      written += problem_.buffer_bytes[index(b)];
      if (unread_[index(b)] == 0 && !problem_.kept[index(b)])
        dead_output += problem_.buffer_bytes[index(b)];
    }
    for (const int64_t b : step.inputs)
      if (dies(b)) freed += problem_.buffer_bytes[index(b)];
    for (const InPlace& in_place : step.in_place)
      if (dies(in_place.input)) saved += in_place.saved_bytes;
    return {live_ + written + step.scratch_bytes - std::min(saved, written),
            live_ + written - dead_output - freed};
  }
  void run(int64_t s) {
    live_ = cost(s).after;
    for (const int64_t b : problem_.steps[index(s)].inputs) --unread_[index(b)];
    done_[index(s)] = true;
  }
  void take_back(int64_t s) {
    for (const int64_t b : problem_.steps[index(s)].inputs) ++unread_[index(b)];
    done_[index(s)] = false;
    live_ -= cost(s).after - live_;
  }
  bool done(int64_t s) const { return done_[index(s)]; }
  int64_t live() const { return live_; }

 private:
  // With the reading of one more step.
  bool dies(int64_t b) const { return unread_[index(b)] == 1 && !problem_.kept[index(b)]; }

  const OrderProblem& problem_;
  std::vector<bool> done_;
  std::vector<int64_t> unread_;  // by buffer: readers still to run
  int64_t live_ = 0;
};

// A set of finished steps of one segment.
using Bits = std::vector<uint64_t>;

struct BitsHash {
  size_t operator()(const Bits& bits) const {
    uint64_t hash = 0x9e3779b97f4a7c15U;
    for (const uint64_t word : bits) hash = (hash ^ word) * 0xff51afd7ed558ccdU + (hash >> 29U);
    return hash;
  }
};

struct Found {
  std::vector<int64_t> order;
  int64_t peak = 0;
  int64_t bound = 0;
};

// One segment: the steps between two cuts, and the memory before them.
class Segment {
 public:
  Segment(const Graph& graph, const Memory& start, std::vector<int64_t> steps)
      : graph_(graph), memory_(start), steps_(std::move(steps)) {
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
    Found greedy = greedy_order(bound);
    if (greedy.peak <= bound) return {greedy.order, greedy.peak, 0};
    return search(bound, std::move(greedy), states);
  }

 private:
  struct State {
    int64_t peak;
    int64_t parent;              // state; -1: the start
    std::vector<int64_t> steps;  // run since the parent
    size_t num_done;
  };

  bool ready(int64_t step) const {
    return !memory_.done(step) && std::ranges::all_of(graph_.before[index(step)],
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
    for (const int64_t next : graph_.after[index(step)])
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
    rewind(found.order);
    return found;
  }

  void rewind(const std::vector<int64_t>& run) {
    for (size_t k = run.size(); k-- > 0;) memory_.take_back(run[k]);
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
      rewind(run);
      add_state(number, next_peak, std::move(run), bits_of(whole));
    }
    rewind(path);
  }

  const Graph& graph_;
  Memory memory_;
  std::vector<int64_t> steps_;
  std::unordered_map<int64_t, size_t> local_;
  std::vector<State> states_;
  std::unordered_map<Bits, int64_t, BitsHash> best_peak_;
  std::priority_queue<std::tuple<int64_t, size_t, int64_t>,
                      std::vector<std::tuple<int64_t, size_t, int64_t>>, std::greater<>>
      open_;
};

// The steps in runs, each ended by a step that all others come before or after.
std::vector<std::vector<int64_t>> segments_of(const Graph& graph) {
  std::vector<bool> alone, alone_backwards;
  const std::vector<int64_t> order = topological(graph.before, graph.after, alone);
  const std::vector<int64_t> backwards = topological(graph.after, graph.before, alone_backwards);
  std::vector<size_t> position_backwards(order.size());
  for (size_t p = 0; p < order.size(); ++p) position_backwards[index(backwards[p])] = p;
  std::vector<std::vector<int64_t>> segments(1);
  for (size_t p = 0; p < order.size(); ++p) {
    const int64_t step = order[p];
    const bool cut = alone[index(step)] && alone_backwards[index(step)] &&
                     p + position_backwards[index(step)] + 1 == order.size();
    if (cut && !segments.back().empty()) segments.emplace_back();
    segments.back().push_back(step);
    if (cut) segments.emplace_back();
  }
  if (segments.back().empty()) segments.pop_back();
  return segments;
}

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
  const std::vector<std::vector<int64_t>> segments = segments_of(graph);
  // What single steps between the cuts need is a bound for all segments: no search below it.
  for (const std::vector<int64_t>& segment : segments) {
    if (segment.size() == 1)
      result.lower_bound_bytes =
          std::max(result.lower_bound_bytes, memory.cost(segment.front()).during);
    for (const int64_t step : segment) memory.run(step);
  }
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
