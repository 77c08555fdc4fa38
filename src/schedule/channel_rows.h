// SPDX-License-Identifier: Apache-2.0
// Contractions in plain C that compilers turn into vectors: innermost loops without conditions
// whose steps do not depend on each other, over elements that lie side by side.
//
//   int32 sums[B]                                         // of a row of B output channels
//   for k { sums[k] = first }
//   for ky, kx, ic { x_value = x[...]; for k { sums[k] += x_value * w[...][k] } }
//   for k { finish }
//
// The weights of a row are packed side by side. Every output is summed in the order of the plain
// nest, so floats come out the same. Where a long run of bytes of x meets a run of weights, each
// channel's sum goes along both instead, x made unsigned (x + 128): the sums of products of
// unsigned and signed bytes that x86 and Arm have instructions for. Weights then stay as they are.
#pragma once
#include <cstdint>
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

struct RowShape {
  // What one pass over a row adds to: neighbouring columns, where rows are short, and how many
  // terms of each sum.
  struct Pass {
    int64_t columns = 1;
    int64_t terms = 1;
  };
  int64_t most_channels = 64;  // of a row, times columns; the sums are a local array
  int64_t least_channels = 8;
  Pass bytes = {1, 2};
  Pass floats = {4, 4};
  int64_t least_run = 32;  // elements that lie side by side, for sums along them
  int64_t jammed = 4;      // channels whose sums go along a run together
};

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_channel_rows(const loop::Kernel& kernel, bool reverse,
                                                 const RowShape& shape);

}  // namespace ingot
