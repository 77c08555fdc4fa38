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

// What a model may ask for. Checked before anything of that size is allocated. Parts of a file can
// be shared, so that a small file can describe much: what tensors hold counts for each of them, and
// what operators read counts for each of them. docs/limits.md says what the numbers are made of.
struct ImportLimits {
  int64_t rank = 8;
  int64_t tensor_bytes = int64_t{1} << 31;
  int64_t constant_bytes = int64_t{48} << 20;       // of all tensors together
  int64_t constant_bytes_read = int64_t{48} << 20;  // by all operators together
  int64_t operators = 10 << 10;
  int64_t tensors = 1 << 16;
  int64_t buffers = 1 << 18;
  int64_t ports = 1 << 14;     // inputs and outputs of the model
  int64_t operands = 1 << 12;  // inputs and outputs of one operator
  int64_t indices = 1 << 16;   // inputs and outputs of the model and all operators together
  int64_t scales = 5 << 13;    // of all tensors that operators read together; more than one in each
  int64_t name_bytes = 1 << 21;  // of all names together; tensors after that are numbered
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
