// SPDX-License-Identifier: Apache-2.0
// How many bytes must be there at once.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "assay/distances.h"
#include "assay/layout.h"

namespace ingot::assay {

// Sizes and places are taken in whole cells, which all offsets are multiples of.
class Load {
 public:
  // Of two buffers that may overlap, as much counts once as `least` lets them share. All alignments
  // of `aligned` are multiples of a cell; of none, it is a byte.
  Load(const Layout& layout, Least Pair::*least, const std::vector<size_t>& aligned);

  // What `lives` need while a call runs that has these pairs: a lower bound, also if they are only
  // some of those that are alive. Its outputs overlap its inputs but for those that are `kept`,
  // alive before it and after it.
  int64_t of(const std::set<size_t>& lives, std::span<const Pair> pairs,
             const std::set<size_t>& kept = {}) const;

 private:
  int64_t up(int64_t bytes) const { return -floor_div(-bytes, cell_bytes_) * cell_bytes_; }
  Least up(const Least& least) const { return {up(least[kForward]), up(least[kReverse])}; }

  const Layout& layout_;
  Least Pair::*least_;
  int64_t cell_bytes_ = 0;
};

}  // namespace ingot::assay
