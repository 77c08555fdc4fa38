// SPDX-License-Identifier: Apache-2.0
// The schedules of contractions against the plain nests that they are made from: the same outputs
// in the interpreter, forward and reversed, for shapes whose channels, columns and runs do not come
// out even.
#include <gtest/gtest.h>

#include "schedule/dsp_depthwise.h"
#include "schedule/dsp_dot.h"
#include "schedule/scalar_block.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

TEST(DspDot, GivesWhatThePlainNestGives) {
  int64_t scheduled = 0;
  for (const ConvolutionShape& s : kConvolutions) {
    // One weight per output is no sum.
    if (!schedule_dsp_dot(program_of(s).kernels[0], false)) continue;
    ++scheduled;
    expect_equal(s, schedule_dsp_dot);
  }
  EXPECT_GE(scheduled, 20);
}

TEST(DspDot, RefusesWeightsThatDoNotFit) {
  const ConvolutionShape s = {4, 4, 64, 8, 3, 1, 0, 0, 0};
  loop::Program program = program_of(s);
  const std::optional<Rescheduled> r = schedule_dsp_dot(program.kernels[0], false);
  ASSERT_TRUE(r);
  EXPECT_TRUE(fits_all_calls(program, "conv", *r));
  // 256 * -128 - 1 is no int16.
  std::vector<int8_t> weights(static_cast<size_t>(s.weights()), 0);
  weights[0] = -1;
  weights[9 * 64] = -128;
  program.buffers.at(2).data = Bytes::of(weights);
  EXPECT_FALSE(fits_all_calls(program, "conv", *r));
  // 576 * 127 * 256 * 128 is no int32.
  std::ranges::fill(weights, 127);
  program.buffers.at(2).data = Bytes::of(weights);
  EXPECT_FALSE(fits_all_calls(program, "conv", *r));
}

TEST(DspDepthwise, GivesWhatThePlainNestGives) {
  for (const ConvolutionShape& s : kDepthwise) expect_equal(s, schedule_dsp_depthwise);
}

TEST(DspDepthwise, LeavesOtherKernelsAlone) {
  EXPECT_FALSE(schedule_dsp_depthwise(program_of(kConvolutions[0]).kernels[0], false));
  EXPECT_FALSE(schedule_dsp_dot(program_of(kDepthwise[0]).kernels[0], false));
}

TEST(ScalarBlock, GivesWhatThePlainNestGives) {
  const Rule rule = [](const loop::Kernel& kernel, bool reverse) {
    return schedule_scalar_block(kernel, reverse, BlockShape{});
  };
  for (const ConvolutionShape& s : kConvolutions) {
    if (rule(program_of(s).kernels[0], false)) expect_equal(s, rule);
  }
  for (const ConvolutionShape& s : kDepthwise) expect_equal(s, rule);
}

}  // namespace
}  // namespace ingot
