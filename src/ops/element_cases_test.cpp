// SPDX-License-Identifier: Apache-2.0
// Reference against loops on the small shapes of tests/support/element_cases.h.
#include "tests/support/element_cases.h"

#include <gtest/gtest.h>

#include "tests/support/triangle.h"

namespace ingot::testing {
namespace {

void expect_agreement(const std::vector<OneNode>& cases) {
  ASSERT_GE(cases.size(), 50U);
  for (const OneNode& node : cases) ASSERT_EQ(disagreement(node), "");
}

TEST(ReferenceAgainstLoops, Binary) { expect_agreement(binary_cases()); }
TEST(ReferenceAgainstLoops, Elementwise) { expect_agreement(elementwise_cases()); }
TEST(ReferenceAgainstLoops, Pad) { expect_agreement(pad_cases()); }
TEST(ReferenceAgainstLoops, Reduce) { expect_agreement(reduce_cases()); }
TEST(ReferenceAgainstLoops, Move) { expect_agreement(move_cases()); }
TEST(ReferenceAgainstLoops, Concat) { expect_agreement(concat_cases()); }
TEST(ReferenceAgainstLoops, Softmax) { expect_agreement(softmax_cases()); }

}  // namespace
}  // namespace ingot::testing
