// SPDX-License-Identifier: Apache-2.0
#include "plan/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace ingot::plan {
namespace {

// Tries every order, with its own count of the bytes.
class EveryOrder {
 public:
  explicit EveryOrder(const OrderProblem& problem) : problem_(problem) {
    done_.assign(problem.steps.size(), false);
  }

  int64_t least_peak() {
    best_ = INT64_MAX;
    int64_t start = 0;
    for (size_t b = 0; b < problem_.buffer_bytes.size(); ++b)
      if (alive(b)) start += problem_.buffer_bytes[b];
    extend(0, start);
    return best_;
  }

 private:
  bool written(size_t b, bool by_any) const {
    for (size_t s = 0; s < problem_.steps.size(); ++s)
      if ((by_any || done_[s]) && std::ranges::count(problem_.steps[s].outputs, b) > 0) return true;
    return false;
  }
  bool alive(size_t b) const {
    if (written(b, true) && !written(b, false)) return false;
    if (problem_.kept[b]) return true;
    for (size_t s = 0; s < problem_.steps.size(); ++s)
      if (!done_[s] && std::ranges::count(problem_.steps[s].inputs, b) > 0) return true;
    return false;
  }
  bool ready(size_t s) const {
    for (const int64_t b : problem_.steps[s].inputs)
      if (written(static_cast<size_t>(b), true) && !written(static_cast<size_t>(b), false))
        return false;
    for (const auto& [before, after] : problem_.constraints)
      if (after == static_cast<int64_t>(s) && !done_[static_cast<size_t>(before)]) return false;
    return true;
  }
  int64_t bytes_during(size_t s) {
    const Step& step = problem_.steps[s];
    int64_t bytes = step.scratch_bytes;
    for (size_t b = 0; b < problem_.buffer_bytes.size(); ++b)
      if (alive(b)) bytes += problem_.buffer_bytes[b];
    int64_t made = 0, saved = 0;
    for (const int64_t b : step.outputs) made += problem_.buffer_bytes[static_cast<size_t>(b)];
    done_[s] = true;
    for (const InPlace& in_place : step.in_place)
      if (!alive(static_cast<size_t>(in_place.input))) saved += in_place.saved_bytes;
    done_[s] = false;
    return bytes + made - std::min(made, saved);
  }
  void extend(size_t num_done, int64_t peak) {
    if (peak >= best_) return;
    if (num_done == problem_.steps.size()) best_ = peak;
    for (size_t s = 0; s < problem_.steps.size(); ++s) {
      if (done_[s] || !ready(s)) continue;
      const int64_t during = bytes_during(s);
      done_[s] = true;
      extend(num_done + 1, std::max(peak, during));
      done_[s] = false;
    }
  }

  const OrderProblem& problem_;
  std::vector<bool> done_;
  int64_t best_ = 0;
};

// The down-set program: the least peak of reaching each set of finished steps, set by set.
int64_t least_peak_over_sets(const OrderProblem& problem) {
  const auto bytes_alive = [&](uint64_t done, size_t b, int64_t writer) {
    if (writer >= 0 && (done >> writer & 1U) == 0) return int64_t{0};
    bool needed = problem.kept[b];
    for (size_t s = 0; s < problem.steps.size(); ++s)
      needed = needed || ((done >> s & 1U) == 0 &&
                          std::ranges::count(problem.steps[s].inputs, static_cast<int64_t>(b)) > 0);
    return needed ? problem.buffer_bytes[b] : 0;
  };
  std::vector<int64_t> writers(problem.buffer_bytes.size(), -1);
  for (size_t s = 0; s < problem.steps.size(); ++s)
    for (const int64_t b : problem.steps[s].outputs)
      writers[static_cast<size_t>(b)] = static_cast<int64_t>(s);
  std::map<uint64_t, int64_t> level = {{0, 0}};
  for (size_t k = 0; k < problem.steps.size(); ++k) {
    std::map<uint64_t, int64_t> next;
    for (const auto& reached : level) {
      const uint64_t done = reached.first;
      const int64_t peak = reached.second;
      int64_t live = 0;
      for (size_t b = 0; b < writers.size(); ++b) live += bytes_alive(done, b, writers[b]);
      for (size_t s = 0; s < problem.steps.size(); ++s) {
        const Step& step = problem.steps[s];
        const bool ready = std::ranges::all_of(step.inputs, [&](int64_t b) {
          const int64_t writer = writers[static_cast<size_t>(b)];
          return writer < 0 || (done >> writer & 1U) != 0;
        });
        if (!ready || (done >> s & 1U) != 0) continue;
        int64_t during = live + step.scratch_bytes;
        for (const int64_t b : step.outputs) during += problem.buffer_bytes[static_cast<size_t>(b)];
        const auto [entry, is_new] = next.emplace(done | uint64_t{1} << s, std::max(peak, during));
        entry->second = std::min(entry->second, std::max(peak, during));
      }
    }
    level = std::move(next);
  }
  return level.begin()->second;
}

class RandomGraphs {
 public:
  explicit RandomGraphs(uint64_t seed) : random_(seed) {}
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  // One output per step, some steps with two; inputs among the last `reach` buffers.
  OrderProblem make(int64_t n, int64_t reach) {
    OrderProblem problem;
    const auto add_buffer = [&] {
      problem.buffer_bytes.push_back(pick(1, 9));
      problem.kept.push_back(pick(0, 9) == 0);
      return static_cast<int64_t>(problem.buffer_bytes.size()) - 1;
    };
    add_buffer();
    for (int64_t s = 0; s < n; ++s) {
      Step step;
      const auto last = static_cast<int64_t>(problem.buffer_bytes.size()) - 1;
      for (int64_t k = pick(1, 2); k > 0; --k) {
        const int64_t b = pick(std::max<int64_t>(0, last - reach), last);
        if (std::ranges::count(step.inputs, b) == 0) step.inputs.push_back(b);
      }
      for (int64_t k = pick(0, 5) == 0 ? 2 : 1; k > 0; --k) step.outputs.push_back(add_buffer());
      if (pick(0, 4) == 0) step.scratch_bytes = pick(1, 5);
      for (const int64_t b : step.inputs)
        if (pick(0, 1) == 0)
          step.in_place.push_back({b, pick(1, problem.buffer_bytes[static_cast<size_t>(b)])});
      if (s > 1 && pick(0, 9) == 0) problem.constraints.emplace_back(pick(0, s - 1), s);
      problem.steps.push_back(step);
    }
    return problem;
  }

  // A series-parallel graph of `n` steps: blocks in a row, or a fork and a join around blocks. All
  // branches of a fork read one buffer if `shared`, else each one of its own.
  OrderProblem series_parallel(int64_t n, bool shared) {
    OrderProblem problem;
    const int64_t end = block(problem, add_buffer(problem), n, shared);
    problem.kept[static_cast<size_t>(end)] = true;
    return problem;
  }

 private:
  int64_t add_buffer(OrderProblem& problem) {
    problem.buffer_bytes.push_back(pick(1, 9));
    problem.kept.push_back(false);
    return static_cast<int64_t>(problem.buffer_bytes.size()) - 1;
  }
  int64_t add_step(OrderProblem& problem, std::vector<int64_t> inputs) {
    const int64_t out = add_buffer(problem);
    problem.steps.push_back({std::move(inputs), {out}});
    return out;
  }
  int64_t block(OrderProblem& problem, int64_t input, int64_t n, bool shared) {
    if (n <= 3) {
      for (; n > 0; --n) input = add_step(problem, {input});
      return input;
    }
    if (pick(0, 1) == 0) {
      const int64_t half = pick(1, n - 1);
      return block(problem, block(problem, input, half, shared), n - half, shared);
    }
    int64_t other = input;
    if (!shared) {
      input = add_step(problem, {input});
      other = add_buffer(problem);
      problem.steps.back().outputs.push_back(other);
      --n;
    }
    const int64_t half = pick(1, n - 2);
    const int64_t left = block(problem, input, half, shared);
    const int64_t right = block(problem, other, n - 1 - half, shared);
    return add_step(problem, {left, right});
  }

  std::mt19937_64 random_;
};

TEST(Order, EqualsBruteForce) {
  RandomGraphs graphs(1);
  int64_t reordered = 0;
  for (int64_t round = 0; round < 10'000; ++round) {
    const OrderProblem problem = graphs.make(graphs.pick(1, 10), graphs.pick(1, 8));
    const StepOrder found = least_peak_order(problem);
    ASSERT_EQ(found.peak_bytes, EveryOrder(problem).least_peak()) << round;
    ASSERT_EQ(peak_of(problem, found.order), found.peak_bytes);
    ASSERT_TRUE(found.optimal);
    std::vector<int64_t> program(problem.steps.size());
    std::iota(program.begin(), program.end(), 0);
    reordered += found.peak_bytes < peak_of(problem, program) ? 1 : 0;
  }
  EXPECT_GT(reordered, 0);
}

TEST(Order, SmallBudgetsAreHonest) {
  RandomGraphs graphs(2);
  for (int64_t round = 0; round < 200; ++round) {
    const OrderProblem problem = graphs.make(20, 12);
    const StepOrder best = least_peak_order(problem);
    ASSERT_TRUE(best.optimal);
    const StepOrder some = least_peak_order(problem, 3);
    EXPECT_GE(some.peak_bytes, best.peak_bytes);
    EXPECT_LE(some.lower_bound_bytes, best.peak_bytes);
    EXPECT_EQ(some.optimal, some.peak_bytes == some.lower_bound_bytes);
  }
}

TEST(Order, SeriesParallelGraphsOfTwentySteps) {
  RandomGraphs graphs(3);
  for (int64_t round = 0; round < 300; ++round) {
    const bool shared = round % 3 == 0;
    const OrderProblem problem = graphs.series_parallel(20, shared);
    // The merging alone is exact where no buffer is shared.
    const StepOrder found = least_peak_order(problem, shared ? 200'000 : 0);
    ASSERT_TRUE(found.optimal) << round;
    ASSERT_EQ(found.peak_bytes, least_peak_over_sets(problem)) << round;
  }
}

TEST(Order, LargeSeriesParallelGraphsAreQuick) {
  RandomGraphs graphs(4);
  EXPECT_TRUE(least_peak_order(graphs.series_parallel(10'000, false)).optimal);
  const StepOrder shared = least_peak_order(graphs.series_parallel(2'000, true));
  EXPECT_GE(shared.peak_bytes, shared.lower_bound_bytes);
  // Not series-parallel.
  const StepOrder tangled = least_peak_order(graphs.make(2'000, 8));
  EXPECT_GE(tangled.peak_bytes, tangled.lower_bound_bytes);
}

TEST(Order, LongChainsAreQuick) {
  OrderProblem chain{{4}, {false}, {}};
  for (int64_t s = 0; s < 10'000; ++s) {
    chain.buffer_bytes.push_back(s % 7 + 1);
    chain.kept.push_back(false);
    chain.steps.push_back({{s}, {s + 1}});
  }
  const StepOrder found = least_peak_order(chain);
  EXPECT_TRUE(found.optimal);
  EXPECT_EQ(found.peak_bytes, 13);
}

}  // namespace
}  // namespace ingot::plan
