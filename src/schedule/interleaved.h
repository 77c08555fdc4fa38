// SPDX-License-Identifier: Apache-2.0
// Products of bytes that are summed in 16 bits before they go to 32: a vector of eight channels
// becomes two of four, of the even and of the odd channels. What is loaded by channel after that
// comes from tables in the same order, and the results are put together again as they are stored.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/positions.h"
#include "schedule/rescheduled.h"

namespace ingot {

constexpr int64_t kInterleaved = 8;  // channels of a vector

// A contraction whose `first` and `finish` read such tables, and the tables: the parameter as it
// was and as it is. Channels behind the last whole eight keep their places.
struct Interleaved {
  Contraction contraction;
  std::vector<std::pair<std::string, std::string>> tables;
};

// nullopt if something else than a table of constants is read by channel, or if `finish` is not
// statements that end with the store of a byte. `names` are taken.
std::optional<Interleaved> with_interleaved_tables(const Contraction& c, const loop::Kernel& kernel,
                                                   const std::string& channel,
                                                   std::set<std::string>& names);

// The order of `count` channels in such tables, and in others.
std::vector<int64_t> interleaved_order(int64_t count);
std::vector<int64_t> in_order(int64_t count);

// Gives `out`'s kernel the tables in place of the parameters that they are made from.
void add_interleaved(Rescheduled& out,
                     const std::vector<std::pair<std::string, std::string>>& tables);

// Whether no sum of `taps` neighbouring products of a row of `width`, x any byte, leaves 16 bits.
// `channels`: for each channel where the weights of its rows stand.
bool fit_16_bits(const Bytes& weights, const std::vector<std::vector<int64_t>>& channels,
                 int64_t width, int64_t taps);

// The statements of `even` and `odd`, each of which ends with the store of four bytes from vectors
// of int32, and one store of eight. nullopt if they are others.
std::optional<loop::Block> stored_together(loop::Block even, loop::Block odd);

}  // namespace ingot
