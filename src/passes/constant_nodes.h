// SPDX-License-Identifier: Apache-2.0
// Nodes that can be computed at compile time: what fold_constants removes, and what legalize must
// take as known.
#pragma once
#include <cstdint>

#include "graph/graph.h"
#include "ops/rules.h"

namespace ingot {

// No output larger than this is computed at compile time.
constexpr int64_t kLargestFoldedBytes = int64_t{1} << 24;

// Makes the outputs of `node`, one of a legal graph, constants of `graph` if all that it reads is
// constant and no output is larger than `largest_bytes`.
bool compute_if_constant(Graph& graph, const Node& node, Rounding rounding, int64_t largest_bytes);

}  // namespace ingot
