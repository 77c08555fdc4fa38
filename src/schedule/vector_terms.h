// SPDX-License-Identifier: Apache-2.0
// Contractions term by term with one output channel per lane: floats, whose sums keep the order of
// the plain nest in each lane, and depthwise convolutions of bytes, where each channel has its own
// elements of x.
#pragma once
#include <optional>
#include <vector>

#include "loop/program.h"
#include "schedule/lanes.h"
#include "schedule/rescheduled.h"

namespace ingot {

struct TermShape {
  std::vector<int64_t> lanes;  // of 32 bits that vectors may have, the most first
  int64_t most_vectors = 4;    // of channels, in a block
  int64_t most_columns = 4;
  int64_t most_sums = 8;                  // vectors times columns
  bool joins_tables = false;              // schedule/channel_table.h
  bool floats = true;                     // false: bytes alone
  std::vector<loop::Function> functions;  // that the known ones call
  // Products of bytes that are summed in 16 bits, of taps side by side, before they go to 32
  // (schedule/interleaved.h); 0: none. That needs even_x8, odd_x8, add_even_x8, add_odd_x8,
  // scaled_x8 and paired_x8, and lanes of 4.
  int64_t narrow_taps = 0;
  // sum + w * x for int32 vectors and a scalar x, "_xN" is added; empty: there is none.
  std::string add_scaled;
  VectorFunctions known;
};

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_vector_terms(const loop::Program& program,
                                                 const loop::Kernel& kernel, bool reverse,
                                                 const TermShape& shape);

}  // namespace ingot
