// SPDX-License-Identifier: Apache-2.0
// Directed acyclic graphs of steps, and how they fall into parts in series and in parallel.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ingot::plan {

// Nodes are 0, 1, ...; the edges by their ends, each once.
struct Dag {
  std::vector<std::vector<int64_t>> before, after;  // direct neighbours

  int64_t size() const { return static_cast<int64_t>(before.size()); }
};

// Kahn's algorithm, least index first. `alone` marks the nodes that were the only one ready.
// Throws InternalError if there is a cycle.
std::vector<int64_t> topological(const std::vector<std::vector<int64_t>>& before,
                                 const std::vector<std::vector<int64_t>>& after,
                                 std::vector<bool>& alone);

// The nodes in runs, each of which comes before all of the next: a node that is comparable with
// every other is a run of its own.
std::vector<std::vector<int64_t>> series_parts(const Dag& dag);

// The connected components, each ascending.
std::vector<std::vector<int64_t>> parallel_parts(const Dag& dag);

// The graph among `nodes`, which become 0, 1, ... in the order given. Paths through other nodes are
// lost. `scratch` has one entry per node, all -1, and is left so.
Dag induced(const Dag& dag, std::span<const int64_t> nodes, std::vector<int64_t>& scratch);

}  // namespace ingot::plan
