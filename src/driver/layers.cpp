// SPDX-License-Identifier: Apache-2.0
#include "driver/layers.h"

#include <set>

namespace ingot {

Graph with_inner_outputs(Graph graph) {
  std::set<ValueId> present(graph.outputs.begin(), graph.outputs.end());
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (present.insert(id).second) graph.outputs.push_back(id);
    }
  }
  return graph;
}

}  // namespace ingot
