// SPDX-License-Identifier: Apache-2.0
// The vector schedules against the plain nests, cut for each target that has vectors.
#include <gtest/gtest.h>

#include "schedule/test_convolutions.h"
#include "schedule/vector_shapes.h"

namespace ingot {
namespace {

template <class Schedule, class ShapeOf>
int64_t check(const Target& target, const ConvolutionShape& s, const Schedule& schedule,
              const ShapeOf& shape_of) {
  const auto shape = shape_of(target);
  if (!shape) return 0;
  const loop::Program plain = program_of(s);
  const Rule rule = [&](const loop::Kernel& kernel, bool reverse) {
    return schedule(plain, kernel, reverse, *shape);
  };
  if (!rule(plain.kernels[0], false)) return 0;
  SCOPED_TRACE(target.name);
  expect_equal(s, rule);
  return 1;
}

TEST(VectorDot, GivesWhatThePlainNestGives) {
  int64_t scheduled = 0;
  for (const Target& target : all_targets()) {
    for (const ConvolutionShape& s : kConvolutions) {
      scheduled += check(target, s, schedule_vector_dot, dot_shape_of);
    }
  }
  EXPECT_GE(scheduled, 3 * 10);  // targets times shapes
}

TEST(VectorTerms, GivesWhatThePlainNestGives) {
  int64_t scheduled = 0;
  for (const Target& target : all_targets()) {
    for (const ConvolutionShape& s : kConvolutions) {
      scheduled += check(target, s, schedule_vector_terms, term_shape_of);
    }
    for (const ConvolutionShape& s : kDepthwise) {
      scheduled += check(target, s, schedule_vector_terms, term_shape_of);
    }
  }
  EXPECT_GE(scheduled, 4 * 12);
}

TEST(VectorDot, LeavesOtherTargetsAndKernelsAlone) {
  EXPECT_FALSE(dot_shape_of(*find_target("c99")));
  EXPECT_FALSE(term_shape_of(*find_target("cortex-m4")));
  const loop::Program plain = program_of(kDepthwise[0]);
  const DotShape shape = *dot_shape_of(*find_target("x86-64-avx512vnni"));
  EXPECT_FALSE(schedule_vector_dot(plain, plain.kernels[0], false, shape));
}

}  // namespace
}  // namespace ingot
