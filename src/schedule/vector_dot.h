// SPDX-License-Identifier: Apache-2.0
// Convolutions and dense layers on cores with vectors: sums of products of bytes.
//
// A word of x, elements that lie side by side, is multiplied with the weights of several output
// channels at once. Two kinds of instructions do that: some give each lane the products of its own
// channel with a short word (x86), some sum the products of a whole vector into one scalar (Arm
// M-profile). Both have the sums of neighbouring channels in the lanes of one vector at the end,
// where first value and finishing code are made lane by lane (schedule/lanes.h).
//
// The zero point of x, and what an instruction adds to make x unsigned, are a constant per channel
// where all sums are full. Elsewhere the weights are summed beside.
#pragma once
#include <optional>
#include <vector>

#include "loop/program.h"
#include "schedule/lanes.h"
#include "schedule/rescheduled.h"

namespace ingot {

struct DotShape {
  int64_t word = 4;  // elements of x
  // A part of a word: what the step does to it, if anything, and the sum of products.
  struct Part {
    std::string prepare;  // of the word; empty: the word itself
    loop::Type prepared;  // its type
    std::string dot;  // sum, prepared, weights; "_xN" for N lanes is added where channels differ
    std::vector<int64_t> elements = {0, 1, 2, 3};  // of the word
    int64_t count() const { return static_cast<int64_t>(elements.size()); }
  };
  std::vector<Part> parts;
  int64_t x_bias = 0;              // that `prepare` adds to each element
  DType weight = DType::kInt8;     // as the dots take them
  int64_t least_weight = -128;     // for smaller ones the dots are wrong
  bool without_positions = false;  // for kernels that have none, only
  bool across = false;  // a dot sums its whole vector into a scalar; else one channel per lane
  std::string first_dot = {};  // of scalars: the products alone; empty: there is none
  std::vector<int64_t> lanes;  // of 32 bits that vectors may have, the most first; the last is 4
  int64_t most_vectors = 4;    // of channels, in a block
  int64_t most_columns = 4;
  int64_t most_sums = 16;        // vectors times columns
  int64_t weight_alignment = 4;  // of the table
  bool joins_tables = false;     // schedule/channel_table.h
  std::vector<loop::Function> functions;
  VectorFunctions known;
};

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_vector_dot(const loop::Program& program,
                                               const loop::Kernel& kernel, bool reverse,
                                               const DotShape& shape);

}  // namespace ingot
