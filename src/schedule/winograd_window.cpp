// SPDX-License-Identifier: Apache-2.0
#include "schedule/winograd_window.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "support/arithmetic.h"

namespace ingot {
namespace {

constexpr int64_t kWindow = 3;

// The rows or columns of outputs whose bounds the sum `tap` follows. nullopt if the sum is anything
// else than the part of a window of three that is inside, or if the window moves by more than one.
std::optional<WindowAxis> axis_of(const Contraction& c, const LoopRange& tap, const SumRange& range,
                                  const LoopRange& position) {
  WindowAxis axis;
  axis.variable = position.variable;
  axis.extent = *position.extent();
  axis.pitch = c.x.index.factor(position.variable);
  const bool varies = !range.variable.empty();
  if (axis.pitch <= 0 || c.x.index.factor(tap.variable) != axis.pitch ||
      range.full != Span{0, kWindow} || (varies && range.variable != position.variable)) {
    return std::nullopt;
  }
  const auto span_at = [&](int64_t v) {
    return varies ? range.spans[static_cast<size_t>(v)] : range.full;
  };
  axis.inside = {std::numeric_limits<int64_t>::max(), 0};
  for (int64_t v = 0; v < axis.extent; ++v) {
    axis.inside.begin = std::min(axis.inside.begin, v + span_at(v).begin);
    axis.inside.end = std::max(axis.inside.end, v + span_at(v).end);
  }
  for (int64_t v = 0; v < axis.extent; ++v) {
    const Span expected = {std::max<int64_t>(0, axis.inside.begin - v),
                           std::min(kWindow, axis.inside.end - v)};
    if (span_at(v) != expected || expected.length() <= 0) return std::nullopt;
  }
  return axis;
}

// d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3] of d within [low, high].
Span transformed_range(int64_t number, const Span& d) {
  if (number == 1) return {2 * d.begin, 2 * d.end};
  return {d.begin - d.end, d.end - d.begin};
}

int64_t largest_of(const Span& d) { return std::max(std::abs(d.begin), std::abs(d.end)); }

// Twice G, applied to three numbers.
std::array<int64_t, 4> transformed_weights(int64_t a, int64_t b, int64_t c) {
  return {2 * a, a + b + c, a - b + c, 2 * c};
}

}  // namespace

std::optional<WinogradWindow> winograd_window(const Contraction& c) {
  if (c.x.dtype != DType::kInt8 || c.w.dtype != DType::kInt8) return std::nullopt;
  if (c.outer.size() < 3 || c.sums.size() != 3) return std::nullopt;
  const std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  const size_t channel = c.outer.size() - 1;
  for (size_t a = 0; a < c.outer.size(); ++a) {
    const std::string& variable = c.outer[a].variable;
    if ((c.w.index.factor(variable) != 0) != (a == channel)) return std::nullopt;
  }
  WinogradWindow window;
  window.outer.assign(c.outer.begin(), c.outer.end() - 3);
  window.channel = c.outer[channel];
  const LoopRange& term = c.sums[2];
  const SumRange& terms = ranges->at(2);
  if (c.x.index.factor(window.channel.variable) != 0 || c.x.index.factor(term.variable) != 1 ||
      !terms.variable.empty() || terms.full.end < kTermsPerWord) {
    return std::nullopt;
  }
  const std::optional<WindowAxis> row = axis_of(c, c.sums[0], ranges->at(0), c.outer[channel - 2]);
  const std::optional<WindowAxis> column =
      axis_of(c, c.sums[1], ranges->at(1), c.outer[channel - 1]);
  if (!row || !column) return std::nullopt;
  window.row = *row;
  window.column = *column;
  window.row_tap = c.sums[0].variable;
  window.column_tap = c.sums[1].variable;
  window.term = term.variable;
  window.num_terms = terms.full.end;
  return window;
}

WinogradWeights::WinogradWeights(const Contraction& c, const WinogradWindow& window)
    : index_(c.w.index),
      offset_(c.w.offset),
      x_offset_(c.x.offset),
      channel_(window.channel.variable),
      taps_({window.row_tap, window.column_tap}),
      term_(window.term),
      num_channels_(*window.channel.extent()),
      num_terms_(window.num_terms) {
  for (const LoopRange& axis : c.outer) others_[axis.variable] = 0;
}

int64_t WinogradWeights::num_elements() const {
  return ceil_div(num_channels_, kChannelsPerBlock) * kChannelsPerBlock * kPositions *
         ceil_div(num_terms_, kTermsPerWord) * kTermsPerWord;
}

std::array<int64_t, kPositions> WinogradWeights::transformed(const Bytes& weights, int64_t channel,
                                                             int64_t term) const {
  std::map<std::string, int64_t> at = others_;
  at[channel_] = channel;
  at[term_] = term;
  std::array<std::array<int64_t, 4>, kWindow> rows{};
  for (int64_t y = 0; y < kWindow; ++y) {
    std::array<int64_t, kWindow> w{};
    for (int64_t x = 0; x < kWindow; ++x) {
      at[taps_[0]] = y;
      at[taps_[1]] = x;
      w[static_cast<size_t>(x)] =
          static_cast<int8_t>(weights.view()[static_cast<size_t>(index_.at(at))]) + offset_;
    }
    rows[static_cast<size_t>(y)] = transformed_weights(w[0], w[1], w[2]);
  }
  std::array<int64_t, kPositions> all{};
  for (size_t j = 0; j < 4; ++j) {
    const std::array<int64_t, 4> column = transformed_weights(rows[0][j], rows[1][j], rows[2][j]);
    for (size_t i = 0; i < 4; ++i) all[i * 4 + j] = column[i];
  }
  return all;
}

bool WinogradWeights::fits(const Bytes& weights) const {
  constexpr int64_t kMostInt16 = std::numeric_limits<int16_t>::max();
  constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();
  // Padding is 0 after the zero point is taken off.
  const Span x = {std::min<int64_t>(0, x_offset_ - 128), std::max<int64_t>(0, x_offset_ + 127)};
  std::array<int64_t, kPositions> largest_x{};
  for (int64_t p = 0; p < kPositions; ++p) {
    int64_t& largest = largest_x[static_cast<size_t>(p)];
    largest = largest_of(transformed_range(p % 4, transformed_range(p / 4, x)));
    if (largest > kMostInt16) return false;
  }
  for (int64_t channel = 0; channel < num_channels_; ++channel) {
    // The outputs are sums and differences of the sums of the positions: no part of such a sum is
    // greater than all products together.
    int64_t bound = 0;
    for (int64_t term = 0; term < num_terms_; ++term) {
      const std::array<int64_t, kPositions> u = transformed(weights, channel, term);
      for (size_t p = 0; p < kPositions; ++p) {
        const int64_t magnitude = std::abs(u[p]);
        if (magnitude > kMostInt16) return false;
        bound += magnitude * largest_x[p];
      }
      if (bound > kMostInt32) return false;
    }
  }
  return true;
}

Bytes WinogradWeights::packed(const Bytes& weights) const {
  const int64_t num_words = ceil_div(num_terms_, kTermsPerWord);
  std::vector<int16_t> out(static_cast<size_t>(num_elements()), 0);
  for (int64_t channel = 0; channel < num_channels_; ++channel) {
    const int64_t block = channel / kChannelsPerBlock;
    for (int64_t term = 0; term < num_terms_; ++term) {
      const std::array<int64_t, kPositions> u = transformed(weights, channel, term);
      const int64_t word = term / kTermsPerWord;
      // The last word ends with the last term; it may begin among those of the word before.
      const int64_t first = std::min(word * kTermsPerWord, num_terms_ - kTermsPerWord);
      const int64_t lane = term - first;
      for (int64_t p = 0; p < kPositions; ++p) {
        const int64_t half = ((block * kPositions + p) * num_words + word) * 2 + lane % 2;
        const int64_t pair = half * kChannelsPerBlock + channel % kChannelsPerBlock;
        out[static_cast<size_t>(pair * 2 + lane / 2)] =
            static_cast<int16_t>(u[static_cast<size_t>(p)]);
      }
    }
  }
  return Bytes::of(out);
}

}  // namespace ingot
