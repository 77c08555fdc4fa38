// SPDX-License-Identifier: Apache-2.0
// Proved requantisation: the rounding of the reference, whatever its mode, as one 64-bit multiply
// and add and a shift per output (ops/staircase.h), with the output's zero point and, where it
// helps, the bias within the constant that is added.
//
//   y = base + int32((acc * multiplier + offset) >> 32)
//
// All channels of a kernel share one form. The first of these for which every channel has constants
// is taken: a shift by 32, the greatest shift that leaves multipliers of 31 bits, and both again
// with an offset of its own for negative accumulators. On a Cortex-M the first is SMLAL and the
// high word; a greater shift is part of the saturation.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "loop/requantization.h"
#include "ops/lowering.h"
#include "ops/staircase.h"

namespace ingot {

// The work of one kernel.
struct RescaleTask {
  std::vector<double> factors;         // one for all channels or one per channel
  std::vector<Interval> accumulators;  // by channel: what can be reached, bias included
  std::vector<int64_t> biases;         // by channel; empty: there is none
  int64_t zero_point = 0;              // of the output
  Interval clamp;                      // the output's range, or a narrower one of an activation
  Rounding rounding = Rounding::kDouble;
};

struct ProvedRescale {
  // The lines give the output less this. It is the lower end of the clamp, so that clamping begins
  // at 0, which is cheap everywhere (USAT on a Cortex-M); 0 if there is no clamp.
  int64_t base = 0;
  LineForm form;            // without a clamp if none is needed
  std::vector<Line> lines;  // one for all channels or one per channel
};

// How many staircases it takes: one if all channels have one factor.
int64_t num_searches(const RescaleTask& task);

// The first form for which all channels have a line; nullopt if there is none.
std::optional<ProvedRescale> prove_rescale(const RescaleTask& task);

// The same as loop expressions.
class ProvedRescaler {
 public:
  // Adds the tables' parameters.
  ProvedRescaler(Lowering& lowering, const RescaleTask& task, const ProvedRescale& proved);

  // Whether sums have to start from 0 because the bias is within the offsets.
  bool takes_bias() const { return !record_.biases_in_offsets.empty(); }
  int64_t base() const { return record_.base; }
  // Whether the result is still to be clamped.
  bool clamps() const { return record_.clamps; }
  // The output element less base() as int32, zero point included.
  loop::Expr apply(const loop::Expr& accumulator, const loop::Expr& channel) const;

  // Members from `proved` on, with parameters for tables.
  const loop::Requantization& record() const { return record_; }

 private:
  loop::Requantization record_;
};

}  // namespace ingot
