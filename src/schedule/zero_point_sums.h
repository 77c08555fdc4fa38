// SPDX-License-Identifier: Apache-2.0
// Where every term of a sum is there, the zero point of x contributes a constant per channel: its
// offset times the sum of the weights. Kernels may sum x as it is and add that at the end. Where a
// proved requantisation follows (docs/requantisation.md), acc * multipliers[c] + offsets[c], it
// becomes part of another table of offsets and costs nothing.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/program.h"
#include "schedule/contraction.h"
#include "schedule/rescheduled.h"

namespace ingot {

class ZeroPointSums {
 public:
  // `channel`: the loop over the channels of the weights. `names` are taken.
  ZeroPointSums(const Contraction& c, const std::string& channel, std::set<std::string>& names);

  // What follows a sum of x as it is: the accumulator's value and then `finish`. `index` is the
  // channel's number in all.
  struct Ending {
    loop::Expr sum;
    loop::Block finish;
  };
  Ending ending(const Contraction& c, loop::Expr sum, const loop::Expr& index);

  // The table as a parameter behind the weights, if it is used. `sums`: of the weights' products
  // with the offset of x, by channel.
  using Sums = std::function<std::vector<int32_t>(const Bytes& weights)>;
  void add_to(Rescheduled& out, const Contraction& c, int64_t num_channels, const Sums& sums) const;

 private:
  struct Tables {
    std::string multipliers;
    std::string offsets;
  };
  static std::optional<Tables> find_tables(const Contraction& c, const std::string& channel);

  std::optional<Tables> tables_;
  std::string name_;
  bool is_used_ = false;
};

}  // namespace ingot
