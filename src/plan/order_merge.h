// SPDX-License-Identifier: Apache-2.0
// Orders of one segment from merging its series and parallel parts. What a step changes must be
// fixed for that, so for every buffer with several readers one is chosen as the last: if the
// choices are few, each is tried, and the bound is as good as the model; else the bound supposes
// too much saving, and orders are found by choosing again from the last one.
#pragma once
#include "plan/order_memory.h"

namespace ingot::plan {

// The best order of `steps` (given in a valid order) from the state of `memory`, which is left as
// it was. If the graph is not series-parallel, the bound is 0 and the order the one given.
Found merged_order(const Graph& graph, Memory& memory, const std::vector<int64_t>& steps);

}  // namespace ingot::plan
