// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution against the plain nest, in the interpreter, which faults where a value
// leaves its type.
#include "schedule/winograd.h"

#include <gtest/gtest.h>

#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

constexpr ConvolutionShape kWindows[] = {
    // rows, columns, in, out, kernel, stride, before, after, x_offset
    {8, 8, 8, 8, 3, 1, 1, 1, 128},   {6, 4, 4, 4, 3, 1, 1, 1, 128},  {10, 14, 4, 4, 3, 1, 0, 0, 0},
    {9, 11, 4, 4, 3, 1, 0, 0, -127}, {7, 9, 5, 6, 3, 1, 1, 1, 9},    {5, 6, 6, 5, 3, 1, 0, 0, 128},
    {5, 7, 7, 9, 3, 1, 1, 1, -127},  {2, 2, 4, 4, 3, 1, 1, 1, 128},  {3, 3, 4, 4, 3, 1, 0, 0, 1},
    {2, 3, 9, 3, 3, 1, 1, 1, 77},    {4, 20, 12, 2, 3, 1, 1, 1, 5},  {6, 6, 20, 4, 3, 1, 1, 0, 128},
    {6, 7, 4, 7, 3, 1, 0, 1, -128},  {11, 5, 24, 8, 3, 1, 1, 1, 64}, {4, 5, 36, 4, 3, 1, 0, 0, 0},
};

TEST(Winograd, GivesWhatThePlainNestGives) {
  for (const ConvolutionShape& s : kWindows) expect_equal(s, schedule_winograd);
}

TEST(Winograd, LeavesOtherKernelsAlone) {
  const ConvolutionShape kOthers[] = {
      {8, 8, 8, 8, 1, 1, 0, 0, 0}, {8, 8, 8, 8, 3, 2, 1, 1, 0}, {8, 8, 3, 8, 3, 1, 1, 1, 0},
      {8, 8, 8, 8, 2, 1, 0, 0, 0}, {8, 8, 8, 8, 4, 1, 1, 1, 0}, {8, 8, 8, 8, 3, 1, 1, 1, 0, true},
      {1, 9, 8, 8, 3, 1, 1, 1, 0},
  };
  for (const ConvolutionShape& s : kOthers) {
    EXPECT_FALSE(schedule_winograd(program_of(s).kernels[0], false)) << convolution(s);
  }
}

// All weights and all inputs as far from zero as they can be; the interpreter faults where a sum
// leaves its type.
TEST(Winograd, TheGreatestSums) {
  for (const int64_t x_offset : {-127, 0, 128}) {
    const ConvolutionShape s = {5, 6, 12, 4, 3, 1, 1, 1, x_offset};
    for (const int64_t weight : {-128, 127}) {
      for (const int64_t period : {1, 2, 3, 7}) {  // of the sign, of weights and inputs
        loop::Program plain = program_of(s);
        std::vector<int8_t> weights;
        for (int64_t i = 0; i < s.weights(); ++i) {
          weights.push_back(static_cast<int8_t>(i / 12 % 3 % period == 0 ? weight : -1 - weight));
        }
        plain.buffers.at(2).data = Bytes::of(weights);
        std::vector<uint8_t> x;
        for (int64_t i = 0; i < s.rows * s.columns * s.in; ++i) {
          x.push_back(i / s.in % period == 0 ? 0x80 : 0x7f);
        }
        const std::vector<std::vector<uint8_t>> inputs = {x};
        const auto r = schedule_winograd(plain.kernels[0], false);
        ASSERT_TRUE(r && fits_all_calls(plain, "conv", *r));
        loop::Program program = plain;
        replace_kernel(program, "conv", *r);
        EXPECT_EQ(loop::interpret(program, inputs), loop::interpret(plain, inputs));
      }
    }
  }
}

// Weights of 127 and x - zero point within [0, 255]: 127 * 37230 for each input channel, from the
// sums of the transformed weights' magnitudes times the greatest transformed input.
TEST(Winograd, RefusesSumsThatDoNotFit) {
  const auto fits = [](int64_t in) {
    const ConvolutionShape s = {3, 3, in, 2, 3, 1, 1, 1, 128};
    loop::Program program = program_of(s);
    program.buffers.at(2).data =
        Bytes::of(std::vector<int8_t>(static_cast<size_t>(s.weights()), 127));
    const auto r = schedule_winograd(program.kernels[0], false);
    EXPECT_TRUE(r.has_value());
    if (!r || !fits_all_calls(program, "conv", *r)) return false;
    const std::vector<std::vector<uint8_t>> inputs = {
        std::vector<uint8_t>(static_cast<size_t>(9 * in), 127)};
    const auto expected = loop::interpret(program, inputs);
    replace_kernel(program, "conv", *r);
    EXPECT_EQ(loop::interpret(program, inputs), expected);
    return true;
  };
  EXPECT_TRUE(fits(454));  // 2146607340
  EXPECT_FALSE(fits(455));
}

}  // namespace
}  // namespace ingot
