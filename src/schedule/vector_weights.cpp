// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_weights.h"

#include <map>
#include <string>

namespace ingot {

int64_t DotTable::outer_sum_steps() const {
  int64_t steps = 1;
  for (size_t s = 0; s < run_.num_outer; ++s) steps *= ranges_[s].full.end;
  return steps;
}

int64_t DotTable::num_outer_channels() const {
  int64_t count = 1;
  for (const LoopRange& g : channels_) count *= *g.extent();
  return count;
}

std::vector<int64_t> DotTable::packed_order() const {
  std::vector<int64_t> order;
  std::map<std::string, int64_t> at;
  for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
  for (int64_t o = 0; o < num_outer_channels(); ++o) {
    set_outer_channels(at, o);
    for (const Chunk& chunk : chunks_) {
      for (int64_t b = 0; b < chunk.num_blocks; ++b) {
        append_block(order, at, chunk, chunk.first + b * chunk.channels());
      }
    }
  }
  return order;
}

void DotTable::append_block(std::vector<int64_t>& order, std::map<std::string, int64_t>& at,
                            const Chunk& chunk, int64_t first) const {
  const auto element = [&](int64_t channel, int64_t number, int64_t i) {
    const std::optional<int64_t> e = run_.element_at(number, i);
    if (!e || first + channel >= *channel_.extent()) return int64_t{-1};
    at[channel_.variable] = first + channel;
    set_run_variables(c_, run_, ranges_, *e, at);
    return c_.w.index.at(at);
  };
  for (int64_t step = 0; step < outer_sum_steps(); ++step) {
    set_outer_sums(at, step);
    for (int64_t number = 0; number < run_.num_words; ++number) {
      for (int64_t v = 0; v < chunk.vectors; ++v) {
        for (const DotShape::Part& part : shape_.parts) {
          for (int64_t k = 0; k < chunk.lanes; ++k) {
            for (const int64_t e : part.elements) {
              order.push_back(element(v * chunk.lanes + k, number, e));
            }
          }
        }
      }
    }
  }
}

void DotTable::set_outer_channels(std::map<std::string, int64_t>& at, int64_t number) const {
  for (size_t g = channels_.size(); g-- > 0;) {
    at[channels_[g].variable] = number % *channels_[g].extent();
    number /= *channels_[g].extent();
  }
}

void DotTable::set_outer_sums(std::map<std::string, int64_t>& at, int64_t step) const {
  for (size_t s = run_.num_outer; s-- > 0;) {
    at[c_.sums[s].variable] = step % ranges_[s].full.end;
    step /= ranges_[s].full.end;
  }
}

std::vector<std::vector<int64_t>> DotTable::terms() const {
  std::vector<std::vector<int64_t>> all;
  std::map<std::string, int64_t> at;
  for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
  for (int64_t o = 0; o < num_outer_channels(); ++o) {
    set_outer_channels(at, o);
    for (int64_t channel = 0; channel < padded_channels(); ++channel) {
      at[channel_.variable] = channel;
      std::vector<int64_t>& row = all.emplace_back();
      if (channel >= *channel_.extent()) continue;
      for (int64_t step = 0; step < outer_sum_steps(); ++step) {
        set_outer_sums(at, step);
        for (int64_t i = 0; i < run_.length; ++i) {
          set_run_variables(c_, run_, ranges_, i, at);
          row.push_back(c_.w.index.at(at));
        }
      }
    }
  }
  return all;
}

Bytes packed_weights(const Bytes& weights, const std::vector<int64_t>& order, DType dtype) {
  std::vector<int8_t> bytes;
  std::vector<int16_t> words;
  const bool wide = dtype == DType::kInt16;
  for (const int64_t i : order) {
    const auto value = static_cast<int8_t>(i < 0 ? 0 : weights.view()[static_cast<size_t>(i)]);
    wide ? words.push_back(value) : bytes.push_back(value);
  }
  return wide ? Bytes::of(words) : Bytes::of(bytes);
}

Bytes sums_of_weights(const Bytes& weights, const std::vector<std::vector<int64_t>>& rows,
                      int64_t factor) {
  std::vector<int32_t> result;
  for (const std::vector<int64_t>& row : rows) {
    int64_t sum = 0;
    for (const int64_t i : row) sum += static_cast<int8_t>(weights.view()[static_cast<size_t>(i)]);
    result.push_back(static_cast<int32_t>(sum * factor));
  }
  return Bytes::of(result);
}

}  // namespace ingot
