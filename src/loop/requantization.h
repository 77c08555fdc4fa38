// SPDX-License-Identifier: Apache-2.0
// How a call brings its accumulators to the output's scale, with all that it takes to judge that
// anew: plain data for NAME.json (docs/requantisation.md).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::loop {

struct Requantization {
  // What the model says. Factor of channel c: input_scale * weight_scales[c] / output_scale; one
  // weight scale stands for all channels.
  float input_scale = 0;
  std::vector<float> weight_scales;
  float output_scale = 0;
  int64_t zero_point = 0;  // of the output
  // The output is clamped to lowest .. highest: its type's range, or that of a fused activation.
  int64_t lowest = 0;
  int64_t highest = 0;
  // By channel: the accumulators that can be reached, bias included. They are within int32, and so
  // is every partial sum.
  std::vector<int64_t> accumulator_low;
  std::vector<int64_t> accumulator_high;

  // y = base + ((acc * multiplier + offset - (acc < 0 ? bend : 0)) >> shift), clamped to lowest ..
  // highest unless `clamps` is false; equal to the reference for every accumulator that can be
  // reached. False: the reference's arithmetic is written out in the kernel, and nothing below
  // counts.
  bool proved = false;
  bool clamps = true;
  int64_t base = 0;
  int64_t shift = 0;
  // One for all channels, or one per channel.
  std::vector<int64_t> multipliers;
  std::vector<int64_t> offsets;
  std::vector<int64_t> bends;  // empty: none
  // Not empty: the kernel's sums start from 0, and these biases are within the offsets, which are
  // larger than the formula's by bias * multiplier.
  std::vector<int64_t> biases_in_offsets;
  // The constants that hold them; empty where the numbers stand in the kernel.
  std::string multipliers_table;
  std::string offsets_table;
  std::string bends_table;
};

// A sum or difference of two operands of at most 256 values each, computed as
//   s = x * x_multiplier + z * z_multiplier + centre
//   y = base + ((s + offset - (s < 0 ? bend : 0)) >> shift), clamped to lowest .. highest,
// or, where there are z_offsets (one for each z from the lowest upward), as
//   y = base + ((x * x_multiplier + z_offsets[z - lowest]) >> shift), clamped,
// equal to the reference for every pair.
struct ProvedSum {
  bool subtracts = false;
  float x_scale = 0;
  float z_scale = 0;
  float output_scale = 0;
  int64_t x_zero_point = 0;
  int64_t z_zero_point = 0;
  int64_t zero_point = 0;  // of the output
  int64_t lowest = 0;      // of the operands and the output
  int64_t highest = 0;
  int64_t x_multiplier = 0;
  int64_t z_multiplier = 0;
  int64_t centre = 0;
  int64_t offset = 0;
  int64_t bend = 0;
  int64_t base = 0;
  int64_t shift = 0;
  std::vector<int64_t> z_offsets;
  std::string z_offsets_table;  // the constant that holds them
  bool operator==(const ProvedSum&) const = default;
};

}  // namespace ingot::loop
