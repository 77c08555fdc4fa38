// SPDX-License-Identifier: Apache-2.0
// What importers of all formats have in common: hostile bytes go in, a valid Graph comes out, or
// diagnostics that name everything wrong with the model at once.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/operand.h"
#include "support/result.h"

namespace ingot {

// Computes the types of an operator's outputs: ops/rules.h's infer, which importers do not see
// (import/ stands below ops/). dtype and quantisation come from `declared`, shapes are computed.
using Infer = std::function<Result<std::vector<TensorType>>(const Op& op, Operands inputs,
                                                            std::span<const TensorType> declared)>;

// What a model may ask for. Checked before anything of that size is allocated; the last three
// exist because parts of a file can be shared, so that a small file can describe much.
struct ImportLimits {
  int64_t rank = 8;
  int64_t tensor_bytes = int64_t{1} << 31;
  int64_t constant_bytes = int64_t{1} << 30;  // all constants together
  int64_t operators = 1000000;
  int64_t tensors = 1000000;
  int64_t indices = int64_t{1} << 23;     // inputs and outputs of all operators together
  int64_t scales = int64_t{1} << 22;      // of all tensors together
  int64_t name_bytes = int64_t{1} << 25;  // of all names together; tensors after that are numbered
};

struct ImportOptions {
  std::string name = {};  // of the graph
  // Extents that the model leaves open: "TENSOR:DIMENSION" (dimensions counted from 0) to extent.
  // Each key must name an open extent of an input.
  std::map<std::string, int64_t> dims = {};
  Infer infer = {};  // absent: the shapes that the file states are believed
  ImportLimits limits = {};
};

struct Imported {
  Graph graph;  // find_faults(graph) is empty
  // Warnings and notes: disagreements that do not keep the model from being compiled.
  Diagnostics warnings;
};

}  // namespace ingot
