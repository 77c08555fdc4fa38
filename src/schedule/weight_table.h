// SPDX-License-Identifier: Apache-2.0
// The weights of a contraction in the order in which the Arm DSP schedule reads them, two channels
// in one halfword.
#pragma once
#include <cstdint>
#include <vector>

#include "schedule/run.h"
#include "tensor/bytes.h"

namespace ingot {

struct WeightTable {
  int64_t num_channels = 0;     // of one outer channel
  int64_t pairs_per_group = 1;  // pairs of channels that stand together
  int64_t offset = 0;           // added to each weight
  // By outer channel and channel: the element of each weight, four per word; negative: zero.
  std::vector<std::vector<int64_t>> rows;
  // The same weights, each once.
  std::vector<std::vector<int64_t>> terms;

  // Every halfword exists, and with |x| up to `largest_x` no sum leaves int32.
  bool fits(const Bytes& weights, int64_t largest_x) const;
  // int16 by outer channel, group, word, half of the word (elements 0 and 2, then 1 and 3), pair,
  // element: 256 b + a, a of the pair's first channel.
  Bytes packed(const Bytes& weights) const;
  // By outer channel and channel: `factor` times the sum of the weights.
  std::vector<int32_t> sums(const Bytes& weights, int64_t factor) const;

 private:
  int64_t weight(const Bytes& weights, int64_t element) const;
};

// `outer_channels`: the loops over channels outside of `channel`.
WeightTable weight_table(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
                         const std::vector<LoopRange>& outer_channels, const LoopRange& channel,
                         int64_t pairs_per_group);

}  // namespace ingot
