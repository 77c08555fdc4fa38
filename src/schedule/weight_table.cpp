// SPDX-License-Identifier: Apache-2.0
#include "schedule/weight_table.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "support/arithmetic.h"

namespace ingot {

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
    for (size_t i = 0; i < rows[row].size(); ++i) {
      const int64_t a = weight(weights, rows[row][i]);
      const int64_t b = has_second ? weight(weights, rows[row + 1][i]) : 0;
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

Bytes WeightTable::sums(const Bytes& weights, int64_t factor) const {
  std::vector<int32_t> out;
  for (size_t row = 0; row < rows.size(); ++row) {
    int64_t sum = 0;
    for (const int64_t element : terms[row]) sum += weight(weights, element);
    out.push_back(static_cast<int32_t>(sum * factor));
  }
  return Bytes::of(out);
}

}  // namespace ingot
