// SPDX-License-Identifier: Apache-2.0
// What schedules with one output channel per lane have in common: how the channels are divided into
// vectors, and the first value and the finishing code of a contraction for the channels of one.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/lanes.h"

namespace ingot {

// Channels that are made together: from `first` on, in blocks one after the other.
struct Chunk {
  int64_t first = 0;
  int64_t num_blocks = 1;
  int64_t lanes = 4;
  int64_t vectors = 1;
  int64_t valid =
      4;  // channels of a vector that exist; fewer than the lanes in the last chunk only

  int64_t channels() const { return lanes * vectors; }
  int64_t end() const { return first + num_blocks * channels(); }
};

// By vectors as wide as possible: of `lanes`, the most first. What is left has lanes that do not
// count.
std::vector<Chunk> chunks_of(int64_t count, const std::vector<int64_t>& lanes,
                             int64_t most_vectors);

// Columns in a block of `vectors`: as many as the registers allow, and few of `full` left over.
int64_t columns_of(int64_t full, int64_t vectors, int64_t most_columns, int64_t most_sums);

// The blocks one after the other; where they only declare and store, all stores stand last, so that
// what the blocks load in common is loaded once.
loop::Block with_stores_last(const std::vector<loop::Block>& blocks);

class LaneFinish {
 public:
  LaneFinish(const Contraction& c, std::string channel, const loop::Program& program,
             const VectorFunctions& known, std::set<std::string>& names)
      : c_(c), channel_(std::move(channel)), program_(program), known_(known), names_(names) {}

  // The contraction's first value for the channels of a chunk's vector from `channel` on; `values`
  // of other variables.
  loop::Expr first(const loop::Expr& channel, const Chunk& chunk,
                   const std::map<std::string, loop::Expr>& values);
  // The statements that make the outputs of channels from `channel` on, the first `valid` ones,
  // from the lanes of `sum`.
  loop::Block finish(const loop::Expr& channel, int64_t valid, const loop::Expr& sum,
                     const std::map<std::string, loop::Expr>& values);

  // Something has no vector form: what was made does not count.
  bool failed() const { return failed_; }
  // Adds the vector functions that are called, callees first, unless they are there.
  void add_functions(std::vector<loop::Function>& functions) const;

 private:
  Lanes lanes_from(const loop::Expr& channel, int64_t lanes) const;
  void keep(const Lanes& lanes);
  loop::Block renamed(const loop::Block& block);

  const Contraction& c_;
  std::string channel_;
  const loop::Program& program_;
  const VectorFunctions& known_;
  std::set<std::string>& names_;
  std::vector<loop::Function> functions_;
  bool failed_ = false;
};

}  // namespace ingot
