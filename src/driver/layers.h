// SPDX-License-Identifier: Apache-2.0
// Looking inside a network: a variant that returns what it computes on the way.
#pragma once
#include "graph/graph.h"

namespace ingot {

// `graph` with every value that a node writes as an output: the outputs that it has, then the
// others in the order of the nodes. Compiled, nothing can be fused away; every inner tensor can be
// compared.
Graph with_inner_outputs(Graph graph);

}  // namespace ingot
