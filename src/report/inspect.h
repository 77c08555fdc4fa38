// SPDX-License-Identifier: Apache-2.0
// What `ingot inspect` says of a model: one block of facts, then a row per operator.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "report/metadata.h"

namespace ingot {

// One operator of the network, as it stands in the file.
struct OperatorFacts {
  std::string name;
  std::string kind;
  std::vector<int64_t> operators;  // of the model file
  std::string output;              // "int8[1,25,5,64]"
  int64_t macs = 0;
  int64_t weights_bytes = 0;  // constants that it reads
};

struct InspectFacts {
  std::string file;
  std::string format;  // "TensorFlow Lite"
  int64_t file_bytes = 0;
  std::string model_sha256;
  std::string target;
  const loop::Program& program;
  const ArenaFacts& arena;
  int64_t num_operators = 0;  // as num_operators() counts them
  std::vector<OperatorFacts> operators;
  int64_t num_tensors = 0;
  // Of the model, what the program does without.
  int64_t macs_removed = 0;
  int64_t filter_bytes = 0;  // filters and weights that are left, without biases
  int64_t filter_bytes_removed = 0;
};

// As the file counts them: an operator and the activation fused into it are one.
int64_t num_operators(const Graph& graph);

// 2656768 as "2,656,768".
std::string grouped(int64_t number);
// A name for a table: quoted, long ones with their middle left out.
std::string short_name(const std::string& name);

// "Winograd F(2x2, 3x3): weights 8,192 bytes instead of 2,304, scratch 1,536 bytes, for NAME"
std::string expansion_text(const loop::Expansion& e, const std::string& name);

std::string inspect_text(const InspectFacts& facts);
Json inspect_json(const InspectFacts& facts);

}  // namespace ingot
