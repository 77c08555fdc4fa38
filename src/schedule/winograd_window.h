// SPDX-License-Identifier: Apache-2.0
// The kernels that schedule_winograd takes: a window of 3 x 3 that moves by one row and one column,
// and how its inputs and weights are transformed.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/positions.h"
#include "tensor/bytes.h"

namespace ingot {

// Rows or columns of outputs. Input number n, counted from the first one of the window at output 0
// (which may be padding), is there if it is in `inside`.
struct WindowAxis {
  std::string variable;  // of the outputs
  int64_t extent = 0;    // outputs
  Span inside;
  int64_t pitch = 0;  // elements of x from one to the next
};

struct WinogradWindow {
  std::vector<LoopRange> outer;  // around rows, columns and output channels
  WindowAxis row;
  WindowAxis column;
  LoopRange channel;    // of the outputs
  std::string row_tap;  // the sums' variables
  std::string column_tap;
  std::string term;       // the input channel
  int64_t num_terms = 0;  // at least kTermsPerWord
};

// nullopt if the contraction is of another kind.
std::optional<WinogradWindow> winograd_window(const Contraction& c);

constexpr int64_t kTermsPerWord = 4;      // input channels
constexpr int64_t kChannelsPerBlock = 4;  // output channels
constexpr int64_t kPositions = 16;        // in the transformed domain

// The transformed weights as constants.
class WinogradWeights {
 public:
  WinogradWeights(const Contraction& c, const WinogradWindow& window);

  // int16 elements.
  int64_t num_elements() const;
  // All are int16, and with x of int8 no sum of products of any kind leaves int32.
  bool fits(const Bytes& weights) const;
  // int16 by block of output channels, position, word of input channels, half of the word (elements
  // 0 and 2, then 1 and 3), channel of the block, element.
  Bytes packed(const Bytes& weights) const;

 private:
  // Of one output and one input channel, by position.
  std::array<int64_t, kPositions> transformed(const Bytes& weights, int64_t channel,
                                              int64_t term) const;

  AffineIndex index_;
  int64_t offset_ = 0;  // added to each weight
  int64_t x_offset_ = 0;
  std::string channel_;
  std::array<std::string, 2> taps_;
  std::string term_;
  std::map<std::string, int64_t> others_;  // the other variables, at 0
  int64_t num_channels_ = 0;
  int64_t num_terms_ = 0;
};

}  // namespace ingot
