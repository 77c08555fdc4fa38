// SPDX-License-Identifier: Apache-2.0
#include "plan/order_memory.h"

#include <utility>

namespace ingot::plan {
namespace {

size_t index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace

Graph graph_of(const OrderProblem& problem) {
  const size_t n = problem.steps.size();
  Graph graph{{std::vector<std::vector<int64_t>>(n), std::vector<std::vector<int64_t>>(n)},
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
    graph.dag.after[index(from)].push_back(to);
    graph.dag.before[index(to)].push_back(from);
  }
  return graph;
}

}  // namespace ingot::plan
