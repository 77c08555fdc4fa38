// SPDX-License-Identifier: Apache-2.0
#include "schedule/weight_table.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "support/arithmetic.h"

namespace ingot {
namespace {

// Walks over the weights of one channel.
class ChannelWalk {
 public:
  ChannelWalk(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges)
      : c_(c), run_(run), ranges_(ranges) {
    for (const LoopRange& axis : c.outer) at_[axis.variable] = 0;
    for (size_t s = 0; s < run.num_outer; ++s) outer_steps_ *= ranges[s].full.end;
  }

  void set(const std::string& variable, int64_t value) { at_[variable] = value; }
  void set(const std::vector<LoopRange>& axes, int64_t number) {
    for (size_t a = axes.size(); a-- > 0;) {
      at_[axes[a].variable] = number % *axes[a].extent();
      number /= *axes[a].extent();
    }
  }

  // Where each weight stands.
  std::vector<int64_t> terms() {
    std::vector<int64_t> terms;
    for (int64_t step = 0; step < outer_steps_; ++step) {
      set_outer_sums(step);
      for (int64_t i = 0; i < run_.length; ++i) terms.push_back(place_of(i));
    }
    return terms;
  }

  // The same in the order of the words that are read, with -1 where a word has no weight.
  std::vector<int64_t> words() {
    std::vector<int64_t> row;
    for (int64_t step = 0; step < outer_steps_; ++step) {
      set_outer_sums(step);
      for (int64_t i = 0; i < run_.num_words * run_.word; ++i) {
        const std::optional<int64_t> element = run_.element_at(i / run_.word, i % run_.word);
        row.push_back(element ? place_of(*element) : -1);
      }
    }
    return row;
  }

 private:
  void set_outer_sums(int64_t step) {
    for (size_t s = run_.num_outer; s-- > 0;) {
      at_[c_.sums[s].variable] = step % ranges_[s].full.end;
      step /= ranges_[s].full.end;
    }
  }
  int64_t place_of(int64_t element) {
    set_run_variables(c_, run_, ranges_, element, at_);
    return c_.w.index.at(at_);
  }

  const Contraction& c_;
  const Run& run_;
  const std::vector<SumRange>& ranges_;
  std::map<std::string, int64_t> at_;
  int64_t outer_steps_ = 1;
};

}  // namespace

WeightTable weight_table(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
                         const std::vector<LoopRange>& outer_channels, const LoopRange& channel,
                         int64_t pairs_per_group) {
  WeightTable table;
  table.pairs_per_group = pairs_per_group;
  table.num_channels = *channel.extent();
  table.offset = c.w.offset;
  int64_t outer = 1;
  for (const LoopRange& axis : outer_channels) outer *= *axis.extent();
  ChannelWalk walk(c, run, ranges);
  for (int64_t o = 0; o < outer; ++o) {
    walk.set(outer_channels, o);
    for (int64_t k = 0; k < table.num_channels; ++k) {
      walk.set(channel.variable, k);
      table.rows.push_back(walk.words());
      table.terms.push_back(walk.terms());
    }
  }
  return table;
}

int64_t WeightTable::weight(const Bytes& weights, int64_t element) const {
  if (element < 0) return 0;
  return static_cast<int8_t>(weights.view()[static_cast<size_t>(element)]) + offset;
}

bool WeightTable::fits(const Bytes& weights, int64_t largest_x) const {
  constexpr int64_t kHighest = std::numeric_limits<int32_t>::max();
  const auto channels = static_cast<size_t>(num_channels);
  for (size_t row = 0; row < rows.size(); ++row) {
    const size_t channel = row % channels;
    if (channel % 2 == 1) continue;
    const bool has_second = channel + 1 < channels;
    int64_t bound = 0;
    // Each term once: rows repeat them for every class of columns.
    for (size_t i = 0; i < terms[row].size(); ++i) {
      const int64_t a = weight(weights, terms[row][i]);
      const int64_t b = has_second ? weight(weights, terms[row + 1][i]) : 0;
      if (a < -128 || a > 127 || 256 * b + a < -32768 || 256 * b + a > 32767) return false;
      bound += 256 * std::abs(b) + std::abs(a);
    }
    const std::optional<int64_t> largest = checked_mul(bound, largest_x);
    if (!largest || *largest > kHighest) return false;
  }
  return true;
}

Bytes WeightTable::packed(const Bytes& weights) const {
  const auto channels = static_cast<size_t>(num_channels);
  const auto pairs = static_cast<size_t>(pairs_per_group);
  const size_t groups = (channels + 2 * pairs - 1) / (2 * pairs);
  const size_t outer = rows.size() / channels;
  const size_t length = rows.empty() ? 0 : rows[0].size();
  std::vector<int16_t> out(outer * groups * length * pairs, 0);
  for (size_t o = 0; o < outer; ++o) {
    for (size_t channel = 0; channel < channels; channel += 2) {
      const size_t row = o * channels + channel;
      const size_t group = o * groups + channel / (2 * pairs);
      const size_t pair = channel / 2 % pairs;
      for (size_t i = 0; i < length; ++i) {
        const size_t lane = i % 4;
        const size_t word = (group * length + i - lane) * pairs;
        const int64_t b = channel + 1 < channels ? weight(weights, rows[row + 1][i]) : 0;
        out[word + lane % 2 * (2 * pairs) + 2 * pair + lane / 2] =
            static_cast<int16_t>(256 * b + weight(weights, rows[row][i]));
      }
    }
  }
  return Bytes::of(out);
}

std::vector<int32_t> WeightTable::sums(const Bytes& weights, int64_t factor) const {
  std::vector<int32_t> out;
  for (size_t row = 0; row < rows.size(); ++row) {
    int64_t sum = 0;
    for (const int64_t element : terms[row]) sum += weight(weights, element);
    out.push_back(static_cast<int32_t>(sum * factor));
  }
  return out;
}

}  // namespace ingot
