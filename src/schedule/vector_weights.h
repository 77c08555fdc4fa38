// SPDX-License-Identifier: Apache-2.0
// The weights of a contraction in the order in which schedule_vector_dot reads them: by outer
// channel, block of channels, step (outer sums and words), vector of channels, part of the word,
// lane, element.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedule/lane_finish.h"
#include "schedule/run.h"
#include "schedule/vector_dot.h"
#include "tensor/bytes.h"

namespace ingot {

class DotTable {
 public:
  // `channel` is divided into `chunks`; `outer_channels` stand around it. The contraction and what
  // belongs to it outlive the table.
  DotTable(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
           std::vector<LoopRange> outer_channels, LoopRange channel, std::vector<Chunk> chunks,
           const DotShape& shape)
      : c_(c),
        run_(run),
        ranges_(ranges),
        channels_(std::move(outer_channels)),
        channel_(std::move(channel)),
        chunks_(std::move(chunks)),
        shape_(shape) {}

  int64_t outer_sum_steps() const;
  // Elements of one channel.
  int64_t channel_elements() const { return outer_sum_steps() * run_.num_words * shape_.word; }
  // Of one outer channel, lanes that do not count included.
  int64_t padded_channels() const { return chunks_.back().end(); }
  int64_t num_outer_channels() const;

  // Where each element of the packed weights comes from; negative: it is zero.
  std::vector<int64_t> packed_order() const;
  // By outer channel and padded channel: where its weights stand.
  std::vector<std::vector<int64_t>> terms() const;

 private:
  void append_block(std::vector<int64_t>& order, std::map<std::string, int64_t>& at,
                    const Chunk& chunk, int64_t first) const;
  void set_outer_channels(std::map<std::string, int64_t>& at, int64_t number) const;
  void set_outer_sums(std::map<std::string, int64_t>& at, int64_t step) const;

  const Contraction& c_;
  const Run& run_;
  const std::vector<SumRange>& ranges_;
  std::vector<LoopRange> channels_;
  LoopRange channel_;
  std::vector<Chunk> chunks_;
  const DotShape& shape_;
};

// int8 weights in that order, as int8 or int16.
Bytes packed_weights(const Bytes& weights, const std::vector<int64_t>& order, DType dtype);
// int32 per row: `factor` times the sum of the weights that stand there.
Bytes sums_of_weights(const Bytes& weights, const std::vector<std::vector<int64_t>>& rows,
                      int64_t factor);

}  // namespace ingot
