// SPDX-License-Identifier: Apache-2.0
// Contractions of bytes on cores whose only multiplier is 32 x 32 -> 32 bits: eight output channels
// in five words, so that five multiplications do the work of eight.
//
// A word of weights is w + 2^20 u (mod 2^32); times x and summed, its low 20 bits are the sum of
// x w, exactly, as long as that lies within 20 bits. The upper 12 bits are the sum of x u, of which
// only 12 bits are there; but x u is put into several words at different places, 12 of its bits (or
// fewer, of two sums) readable in each: three sums of 20 bits in the upper parts of five words.
//
//   word   bits 20 to 31
//   0      bits 0-11 of sum 5
//   1      bits 12-19 of sum 5, bits 0-3 of sum 6
//   2      bits 4-15 of sum 6
//   3      bits 16-19 of sum 6, bits 0-7 of sum 7
//   4      bits 8-19 of sum 7
//
// Where a sum as a whole may leave 20 bits, the words are taken apart after each step of the
// outermost loop over the sum, or of the outermost two, which the weights decide. x is multiplied
// as it is: its zero point times the sum of the weights, which depends on how much of the window
// lies inside, is read from a table.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

struct PackedShape {
  int64_t columns = 1;                 // outputs beside each other
  std::vector<std::string> registers;  // for the words, if the C compiler needs to be told
  int64_t unrolled = 4;                // steps of the innermost loop, at most
};

// nullopt if the kernel is of another form. The words are taken apart within the outermost
// `num_split` loops over the sum. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_packed_multiply(const loop::Kernel& kernel, bool reverse,
                                                    const PackedShape& shape, int64_t num_split);

}  // namespace ingot
