// SPDX-License-Identifier: Apache-2.0
// The weights of a contraction as schedule_vector_terms reads them: by outer channel, block of
// channels, term, channel.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedule/lane_finish.h"
#include "schedule/positions.h"
#include "schedule/rescheduled.h"

namespace ingot {

class TermsTable {
 public:
  // `channel` is divided into `chunks`; `outer_channels` stand around it. The contraction and its
  // ranges outlive the table.
  TermsTable(const Contraction& c, const std::vector<SumRange>& ranges,
             std::vector<LoopRange> outer_channels, LoopRange channel, std::vector<Chunk> chunks)
      : c_(c),
        ranges_(ranges),
        channels_(std::move(outer_channels)),
        channel_(std::move(channel)),
        chunks_(std::move(chunks)) {}

  // Of one channel, where all sums are full.
  int64_t num_terms() const;

  // Where each channel's weights stand, for the channels of `order` of the first outer channel.
  std::vector<std::vector<int64_t>> rows(const std::vector<int64_t>& order) const;

  // Where the terms of a block of `together` channels from `channel` on begin, at these values of
  // the sums.
  loop::Expr packed_index(const loop::Expr& channel, int64_t together,
                          const std::map<std::string, loop::Expr>& values) const;

  // The offset of x times the sum of each channel's weights, of the channels of `order`, as the
  // parameter `name` behind the parameter `weights`.
  void add_sums(Rescheduled& out, const std::string& weights, const std::string& name,
                const std::vector<int64_t>& order) const;

  // The packed weights as the parameter `name`, in place of those of the contraction.
  void pack(Rescheduled& out, const std::string& name) const;

 private:
  // The variables of the sums at their n-th combination, and of the outer loops at the n-th outer
  // channel.
  void set_sums(std::map<std::string, int64_t>& at, int64_t n) const;
  void set_outer(std::map<std::string, int64_t>& at, int64_t n) const;
  // Where each element of the packed weights comes from; negative: it is zero.
  std::vector<int64_t> packed_order() const;

  const Contraction& c_;
  const std::vector<SumRange>& ranges_;
  std::vector<LoopRange> channels_;
  LoopRange channel_;
  std::vector<Chunk> chunks_;
};

// An index at `channel` (null: it does not count), which `channel_variable` counts, and at these
// values of the sums.
loop::Expr index_of(const Contraction& c, AffineIndex index, const std::string& channel_variable,
                    const loop::Expr& channel, const std::map<std::string, loop::Expr>& values);

}  // namespace ingot
