// SPDX-License-Identifier: Apache-2.0
// How many bytes must be there at once.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "assay/distances.h"
#include "assay/intervals.h"
#include "assay/layout.h"

namespace ingot::assay {

// Sizes and places are taken in whole cells of so many bytes, which all offsets are multiples of.
class Load {
 public:
  // Of two buffers that may overlap, as much counts once as `least` lets them share.
  Load(const Layout& layout, const Distances& distances, Least Pair::*least, int64_t cell_bytes);

  using Counts = std::function<bool(const Pair&)>;
  // What `lives` need while a call runs: a lower bound, also if they are only some of those that
  // are alive. Of the call's outputs and inputs those overlap that count (all, if it is empty).
  int64_t of(const std::set<size_t>& lives, int64_t call, const Counts& counts = {}) const;
  // In which each life is cut: two that have one share cells.
  const Pieces& pieces() const { return pieces_; }

 private:
  const Layout& layout_;
  Least Pair::*least_;
  int64_t cell_bytes_;
  Pieces pieces_;
  std::multimap<int64_t, const Pair*> pairs_;  // by call
};

}  // namespace ingot::assay
