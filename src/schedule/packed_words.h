// SPDX-License-Identifier: Apache-2.0
// Eight sums of 20 bits in five words (packed_multiply.h): the weights so arranged, how sums are
// read from the words, and the parts of a window that lie inside at a position.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/program.h"
#include "schedule/positions.h"
#include "tensor/bytes.h"

namespace ingot {

struct PackedWords {
  static constexpr int64_t kChannels = 8;
  static constexpr int64_t kWords = 5;

  int64_t num_channels = 0;    // of one outer channel
  int64_t offset = 0;          // added to each weight
  int64_t terms_per_part = 1;  // between two takings apart
  // By outer channel and channel: the element of each weight.
  std::vector<std::vector<int64_t>> rows;

  // The words that a group of that many channels needs.
  static int64_t words_for(int64_t channels) { return channels < kWords ? channels : kWords; }

  // With x of int8 no part of a sum leaves 20 bits, and with `x_offset` added to x no sum int32.
  bool fits(const Bytes& weights, int64_t x_offset) const;
  // uint32 by outer channel, group, term, word.
  Bytes packed(const Bytes& weights) const;
  // int32 by class of windows, outer channel, channel: `factor` times the sum of the weights of
  // the terms that are inside.
  Bytes sums(const Bytes& weights, int64_t factor,
             const std::vector<std::vector<bool>>& inside) const;

 private:
  int64_t weight(const Bytes& weights, int64_t element) const;
};

// word + x * weights (mod 2^32).
loop::Expr multiply_add(const loop::Expr& word, const loop::Expr& x, const loop::Expr& weights);

// The functions that multiply_add and take_apart call.
std::vector<loop::Function> packed_functions();

// The sums of `channels` channels in their words; adds statements to `out`.
std::vector<loop::Expr> take_apart(const std::vector<loop::Expr>& words, int64_t channels,
                                   std::set<std::string>& names, loop::Block& out);

}  // namespace ingot
