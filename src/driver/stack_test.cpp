// SPDX-License-Identifier: Apache-2.0
// The stated bound of the stack against what painting finds on emulated cores.
#include "driver/stack.h"

#include <gtest/gtest.h>

#include "driver/generated.h"
#include "driver/vectors.h"
#include "tests/support/sample_models.h"
#include "toolchain/board_fixture.h"

namespace ingot {
namespace {

class Stack : public toolchain::OnBoard {};
INSTANTIATE_TEST_SUITE_P(Cores, Stack,
                         ::testing::Values("cortex-m0plus", "cortex-m4", "cortex-m55"),
                         toolchain::name_of_case);

TEST_P(Stack, StaysBelowTheStatedBound) {
  for (const testing::SampleModel& model :
       {testing::depthwise_separable(), testing::residual(), testing::two_branches(),
        testing::gates(), testing::dilated_and_grouped(), testing::requantised()}) {
    CompileOptions options;
    options.name = "net";
    options.target = GetParam();
    const Result<Compiled> compiled = compile(model.file, options);
    ASSERT_TRUE(compiled.has_value()) << model.name;
    const std::vector<toolchain::GoldenVector> vectors =
        random_vectors(compiled->model, options.rounding, 1, 1);
    const Result<ValidationReport> report = validate(*compiled, options.target, vectors, {});
    ASSERT_TRUE(report.has_value()) << model.name << ": " << report.error().front().what;
    EXPECT_TRUE(report->all_is_well())
        << model.name << ": " << ::testing::PrintToString(report->violations);
    ASSERT_TRUE(report->stack_bytes && report->stack_bound);
    EXPECT_GT(*report->stack_bytes, 0);
    // Nor is it far off: a bound of kilobytes would be of no use.
    EXPECT_LT(*report->stack_bound, *report->stack_bytes + 1500) << model.name;
  }
}

TEST(StackBound, IsNotClaimedWhereNobodyMeasures) {
  CompileOptions options;
  options.name = "net";
  const Result<Compiled> compiled = compile(testing::dense_chain().file, options);
  ASSERT_TRUE(compiled.has_value());
  const loop::Program& program = compiled->storage.program;
  EXPECT_EQ(stack_bound(program, *find_target("c99")), std::nullopt);
  EXPECT_EQ(stack_bound(program, *find_target("x86-64-v3")), std::nullopt);
  EXPECT_NE(stack_bound(program, *find_target("cortex-m7")), std::nullopt);
}

}  // namespace
}  // namespace ingot
