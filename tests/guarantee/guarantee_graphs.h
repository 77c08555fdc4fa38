// SPDX-License-Identifier: Apache-2.0
// What the guarantee is about, as small graphs: in each of them the planner of tests/legacy damages
// the caller. planner_test.cpp states how; run_test.cpp shows that the C which Ingot makes of them
// does not.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tests/legacy/token_planner.h"

namespace ingot::testing {

struct GuaranteeGraph {
  std::string name;  // of the model in C
  std::string text;  // graph/text.h
  // What the legacy planner does to the caller's buffers.
  std::vector<legacy::OutputUse> legacy_outputs;
};

// At least one output of each has overrun_bytes > 0.
const std::vector<GuaranteeGraph>& guarantee_graphs();

// The graph of `text`, which must be right.
Graph graph_of(const std::string& text);

}  // namespace ingot::testing
