// SPDX-License-Identifier: Apache-2.0
// The memory while steps are run in some order; shared by the order searches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/dag.h"
#include "plan/order.h"
#include "plan/series_parallel.h"

namespace ingot::plan {

// The dependences of a problem, by step.
struct Graph {
  Dag dag;
  std::vector<std::vector<int64_t>> readers;  // by buffer
  std::vector<int64_t> writer;                // by buffer; -1: none
};

Graph graph_of(const OrderProblem& problem);

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
    const StepCost change =
        step_cost(s, [&](int64_t b) { return dies(b) ? Death::kFreed : Death::kNo; });
    return {live_ + change.hill, live_ + change.change};
  }

  // Whether an input dies in the step, or another reader may be the last but that is left open.
  enum class Death { kNo, kOnlySaves, kFreed };

  // What the step changes, where `death_of` says which inputs die in it.
  template <typename DeathOf>
  StepCost step_cost(int64_t s, const DeathOf& death_of) const {
    const Step& step = problem_.steps[static_cast<size_t>(s)];
    int64_t written = 0, dead_output = 0, freed = 0, saved = 0;
    for (const int64_t b : step.outputs) {
      written += problem_.buffer_bytes[static_cast<size_t>(b)];
      if (unread_[static_cast<size_t>(b)] == 0 && !problem_.kept[static_cast<size_t>(b)])
        dead_output += problem_.buffer_bytes[static_cast<size_t>(b)];
    }
    for (const int64_t b : step.inputs)
      if (death_of(b) == Death::kFreed) freed += problem_.buffer_bytes[static_cast<size_t>(b)];
    for (const InPlace& in_place : step.in_place)
      if (death_of(in_place.input) != Death::kNo)
        saved += std::min(in_place.saved_bytes,
                          problem_.buffer_bytes[static_cast<size_t>(in_place.input)]);
    return {written + step.scratch_bytes - std::min(saved, written), written - dead_output - freed};
  }

  void run(int64_t s) {
    live_ = cost(s).after;
    for (const int64_t b : problem_.steps[static_cast<size_t>(s)].inputs)
      --unread_[static_cast<size_t>(b)];
    done_[static_cast<size_t>(s)] = true;
  }
  void take_back(int64_t s) {
    for (const int64_t b : problem_.steps[static_cast<size_t>(s)].inputs)
      ++unread_[static_cast<size_t>(b)];
    done_[static_cast<size_t>(s)] = false;
    live_ -= cost(s).after - live_;
  }
  void take_back(const std::vector<int64_t>& run) {
    for (size_t k = run.size(); k-- > 0;) take_back(run[k]);
  }
  // The bytes alive at the worst of `steps`, run from here; changes nothing.
  int64_t peak_of(const std::vector<int64_t>& steps) {
    int64_t peak = live_;
    for (const int64_t step : steps) {
      peak = std::max(peak, cost(step).during);
      run(step);
    }
    take_back(steps);
    return peak;
  }
  bool done(int64_t s) const { return done_[static_cast<size_t>(s)]; }
  bool kept(int64_t b) const { return problem_.kept[static_cast<size_t>(b)]; }
  const Step& step(int64_t s) const { return problem_.steps[static_cast<size_t>(s)]; }
  int64_t live() const { return live_; }

 private:
  // With the reading of one more step.
  bool dies(int64_t b) const {
    return unread_[static_cast<size_t>(b)] == 1 && !problem_.kept[static_cast<size_t>(b)];
  }

  const OrderProblem& problem_;
  std::vector<bool> done_;
  std::vector<int64_t> unread_;  // by buffer: readers still to run
  int64_t live_ = 0;
};

// Steps in an order, its peak, and a peak that no order of them can be below.
struct Found {
  std::vector<int64_t> order;
  int64_t peak = 0;
  int64_t bound = 0;
};

}  // namespace ingot::plan
