// SPDX-License-Identifier: Apache-2.0
#include "plan/order.h"

#include <gtest/gtest.h>

#include <algorithm>
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
        if (pick(0, 1) == 0) step.in_place.push_back({b, pick(1, 6)});
      if (s > 1 && pick(0, 9) == 0) problem.constraints.emplace_back(pick(0, s - 1), s);
      problem.steps.push_back(step);
    }
    return problem;
  }

  // A series-parallel graph of `n` steps: a fork and a join around blocks, or blocks in a row.
  OrderProblem series_parallel(int64_t n) {
    OrderProblem problem;
    problem.buffer_bytes.push_back(pick(1, 9));
    problem.kept.push_back(false);
    block(problem, 0, n);
    problem.kept.back() = true;
    return problem;
  }

 private:
  int64_t add_step(OrderProblem& problem, std::vector<int64_t> inputs) {
    const auto out = static_cast<int64_t>(problem.buffer_bytes.size());
    problem.buffer_bytes.push_back(pick(1, 9));
    problem.kept.push_back(false);
    problem.steps.push_back({std::move(inputs), {out}});
    return out;
  }
  int64_t block(OrderProblem& problem, int64_t input, int64_t n) {
    if (n <= 2) {
      for (; n > 0; --n) input = add_step(problem, {input});
      return input;
    }
    if (pick(0, 1) == 0) return block(problem, block(problem, input, n / 2), n - n / 2);
    const int64_t left = block(problem, input, (n - 1) / 2);
    const int64_t right = block(problem, input, n - 1 - (n - 1) / 2);
    return add_step(problem, {left, right});
  }

  std::mt19937_64 random_;
};

TEST(Order, EqualsBruteForce) {
  RandomGraphs graphs(1);
  int64_t reordered = 0;
  for (int64_t round = 0; round < 400; ++round) {
    const OrderProblem problem = graphs.make(graphs.pick(1, 8), graphs.pick(1, 8));
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
  for (int64_t round = 0; round < 200; ++round)
    EXPECT_TRUE(least_peak_order(graphs.series_parallel(20)).optimal) << round;
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
