// SPDX-License-Identifier: Apache-2.0
// Contractions in blocks of several output channels and several neighbouring columns, without
// vectors: each element of x is loaded once for all channels of the block, each weight once for all
// its columns, and the sums stay in registers. Every output is summed in the order of the plain
// nest, so floats come out the same.
#pragma once
#include <optional>
#include <string>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

struct BlockShape {
  int64_t channels = 4;
  int64_t columns = 4;
  // Where there are no columns to make side by side, as in dense layers.
  int64_t channels_alone = 8;
  // sum + a * b, if the target has it.
  std::optional<loop::Function> multiply_add = std::nullopt;
};

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_scalar_block(const loop::Kernel& kernel, bool reverse,
                                                 const BlockShape& shape);

}  // namespace ingot
