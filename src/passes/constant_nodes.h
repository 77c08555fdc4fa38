// SPDX-License-Identifier: Apache-2.0
// Nodes that can be computed at compile time: what fold_constants removes, and what legalize must
// take as known.
#pragma once
#include <cstdint>

#include "graph/graph.h"
#include "ops/rules.h"

namespace ingot {

// How much is computed at compile time; what is beyond is computed at run time.
struct FoldBudget {
  int64_t largest_bytes = int64_t{1} << 24;  // of one output
  int64_t bytes = int64_t{48} << 20;         // of all outputs that are left to fold
  // Elements read, elements written, and cells of windows and filters for each of those.
  int64_t work = int64_t{1} << 26;
};

// Makes the outputs of `node`, one of a legal graph, constants of `graph` if all that it reads is
// constant and the budget allows it, from which it is taken.
bool compute_if_constant(Graph& graph, const Node& node, Rounding rounding, FoldBudget& budget);

}  // namespace ingot
