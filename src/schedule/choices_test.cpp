// SPDX-License-Identifier: Apache-2.0
// Which schedule a kernel gets, by the estimated instructions of each.
#include "schedule/choices.h"

#include <gtest/gtest.h>

#include "schedule/dsp_dot.h"
#include "schedule/schedule.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

constexpr ConvolutionShape kShape = {8, 8, 16, 8, 3, 1, 1, 1, 0};

std::string text_of(const Target& target) {
  return loop::print(schedule(program_of(kShape), target, Goal::kSpeed, std::nullopt).program);
}

TEST(InstructionEstimate, CountsInstructionsOfTheTargetOnce) {
  const Target& target = *find_target("cortex-m4");
  const loop::Program program = program_of(kShape);
  const loop::Kernel& plain = program.kernels[0];
  const std::optional<Rescheduled> dot = schedule_dsp_dot(plain, false);
  ASSERT_TRUE(dot.has_value());
  InstructionEstimate instructions(program, target);
  // 22 * 22 cells of windows lie within the image; each is 16 * 8 products.
  constexpr int64_t kProducts = 22 * 22 * 16 * 8;
  EXPECT_GT(instructions.of(plain), 5 * kProducts);
  EXPECT_LT(instructions.of(*dot), 2 * kProducts);
  EXPECT_GT(instructions.of(*dot), kProducts);
}

TEST(Choices, TheNestAsItIsWhereTheTargetsOwnIsDearer) {
  Target target = *find_target("cortex-m0plus");
  target.packed.reset();
  target.block.reset();
  const std::string plain = text_of(target);
  target.block = RegisterBlock{.channels = 4, .columns = 4, .channels_alone = 4};
  EXPECT_NE(text_of(target), plain);
  // A block of one output loads both factors of every product.
  target.block = RegisterBlock{.channels = 1, .columns = 1, .channels_alone = 1};
  EXPECT_EQ(text_of(target), plain);
}

TEST(Choices, ALaterRuleOnlyWhereItIsBetterByAQuarter) {
  Target target = *find_target("cortex-m0plus");
  target.block.reset();
  const std::string packed = text_of(target);
  target.block = RegisterBlock{.channels = 4, .columns = 4, .channels_alone = 4};
  EXPECT_EQ(text_of(target), packed);
  target.packed.reset();
  EXPECT_NE(text_of(target), packed);
}

}  // namespace
}  // namespace ingot
