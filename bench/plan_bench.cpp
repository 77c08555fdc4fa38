// SPDX-License-Identifier: Apache-2.0
// How well and how fast the planner packs and orders.
//     plan_bench FOLDER [SECONDS]
// prints a table of the CSV files in a folder: the load, what greedy by size, greedy by conflicts
// and hill climbing need in parts of it, and the exact search's height, bound and CPU time.
//     plan_bench [Google Benchmark's options]
// measures random problems of growing size.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <random>

#include "plan/bound.h"
#include "plan/csv.h"
#include "plan/greedy.h"
#include "plan/order.h"
#include "plan/plan.h"
#include "support/file.h"

namespace ingot::plan {
namespace {

void print_row(const std::string& name, const Problem& problem, double seconds) {
  std::vector<int64_t> all(problem.buffers.size());
  std::iota(all.begin(), all.end(), 0);
  const Instance instance(problem, all, {});
  const int64_t load = greatest_load(problem, all).bytes;
  Placer placer(instance);
  const auto greedy = [&](Order order) {
    return placer.place(sorted_items(instance, order), Fit::kBest).height;
  };
  const Placement climbed =
      climb(instance, place_greedily(instance, load, INT64_MAX), load, 10'000);
  const std::clock_t start = std::clock();
  const Plan plan = solve(problem, {.search_nodes = INT64_MAX, .seconds = seconds});
  const double used = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const std::string violation = find_violation(problem, plan);
  const auto ratio = [&](int64_t height) {
    return static_cast<double>(height) / static_cast<double>(load);
  };
  fmt::print("{:24} {:6} {:10} {:8.3f} {:9.3f} {:8.3f} {:10} {:10} {:8} {:8.2f} {}\n", name,
             problem.buffers.size(), load, ratio(greedy(Order::kSize)),
             ratio(greedy(Order::kConflicts)), ratio(climbed.height), plan.pools[0].height_bytes,
             plan.pools[0].lower_bound_bytes, plan.optimal ? "yes" : "no", used, violation);
}

int print_table(const std::filesystem::path& folder, double seconds) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::ranges::sort(files);
  fmt::print("{:24} {:>6} {:>10} {:>8} {:>9} {:>8} {:>10} {:>10} {:>8} {:>8}\n", "instance", "n",
             "load", "by size", "conflicts", "climbing", "height", "bound", "optimal", "CPU s");
  for (const std::filesystem::path& file : files) {
    const Result<std::vector<uint8_t>> bytes = read_file(file);
    if (!bytes) return 1;
    const Result<CsvProblem> csv = read_csv(std::string(bytes->begin(), bytes->end()));
    if (!csv) return 1;
    print_row(file.stem().string(), csv->problem, seconds);
  }
  return 0;
}

// Lifetimes of a few steps, as in a network with some long connections.
Problem random_problem(int64_t n) {
  std::mt19937_64 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  Problem problem;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t length = pick(0, 19) == 0 ? pick(20, 200) : pick(2, 6);
    problem.buffers.push_back({fmt::format("{}", i), {i, i + length}, pick(1, 4096) * 16, 16});
  }
  return problem;
}

void bm_solve(benchmark::State& state) {
  const Problem problem = random_problem(state.range(0));
  Plan plan;
  for (auto _ : state) plan = solve(problem);
  state.counters["over_bound"] = static_cast<double>(plan.pools[0].height_bytes) /
                                 static_cast<double>(plan.pools[0].lower_bound_bytes);
}
BENCHMARK(bm_solve)->RangeMultiplier(10)->Range(10, 10'000)->Unit(benchmark::kMillisecond);

// A chain, or (`branches` > 1) a row of forks and joins.
OrderProblem network(int64_t num_steps, int64_t branches) {
  std::mt19937_64 random(2);
  OrderProblem problem{{1000}, {false}, {}};
  const auto add_step = [&](std::vector<int64_t> inputs) {
    problem.buffer_bytes.push_back(static_cast<int64_t>(random() % 4096 + 1));
    problem.kept.push_back(false);
    const auto output = static_cast<int64_t>(problem.buffer_bytes.size()) - 1;
    problem.steps.push_back({std::move(inputs), {output}});
    return output;
  };
  int64_t last = 0;
  while (static_cast<int64_t>(problem.steps.size()) < num_steps) {
    std::vector<int64_t> ends;
    for (int64_t b = 0; b < branches; ++b) ends.push_back(add_step({add_step({last})}));
    last = add_step(std::move(ends));
  }
  return problem;
}

void bm_order(benchmark::State& state) {
  const OrderProblem problem = network(state.range(0), state.range(1));
  StepOrder found;
  for (auto _ : state) found = least_peak_order(problem);
  state.counters["over_bound"] =
      static_cast<double>(found.peak_bytes) / static_cast<double>(found.lower_bound_bytes);
}
BENCHMARK(bm_order)
    ->ArgsProduct({{100, 1'000, 10'000}, {1, 2, 4}})
    ->ArgNames({"steps", "branches"})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ingot::plan

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') {
    const double seconds = argc > 2 ? std::stod(argv[2]) : 10;
    return ingot::plan::print_table(argv[1], seconds);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
