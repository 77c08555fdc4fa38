// SPDX-License-Identifier: Apache-2.0
// The vector schedules against the plain nests, cut for each target that has vectors.
#include <gtest/gtest.h>

#include "schedule/gathered_dot.h"
#include "schedule/interleaved.h"
#include "schedule/test_convolutions.h"
#include "schedule/vector_elements.h"
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

// A dense layer: nothing but channels around its sums.
std::string dense(int64_t in, int64_t out, int64_t x_offset) {
  return fmt::format(
      "program p\n"
      "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
      "buffer out int8[{1}] output align 1 type int8[{1}] scale 1 zero_point 0\n"
      "buffer w int8[{2}] constant align 4 data {3}\n"
      "kernel conv(x: int8[{0}] read align 1, w: int8[{2}] constant align 1, y: int8[{1}] write "
      "align 1) \"\" {{\nfor oc = 0 to {1} {{\nlet acc: int32 = 0\nfor ic = 0 to {0} {{\n"
      "acc = acc + (int32(x[ic]) + {4}) * int32(w[oc * {0} + ic])\n}}\n"
      "y[oc] = int8(min(max(acc >> 7, -128), 127))\n}}\n}}\nrun {{\ncall conv(in, w, out)\n}}\n",
      in, out, in * out, zeros(2 * in * out), x_offset);
}

// Bytes at their limits, of both signs in all combinations, among others.
Bytes extremes(int64_t count, int64_t least) {
  std::vector<int8_t> all = Numbers().bytes(count, 127).as<int8_t>();
  const int64_t values[] = {least, least, 127, 127, least, 127, 0, least};
  for (int64_t i = 0; i < std::min<int64_t>(count, 48); ++i) {
    all[static_cast<size_t>(i)] = static_cast<int8_t>(values[(i + i / 8) % 8]);
  }
  return Bytes::of(all);
}

TEST(VectorDot, DenseLayersTakeBytesWhosePairsFitSixteenBits) {
  const DotShape shape = *dense_shape_of(*find_target("x86-64-v3"));
  for (const auto& [in, out, x_offset] :
       {std::tuple{8, 16, 0}, {12, 9, 128}, {7, 40, -5}, {64, 4, 128}}) {
    loop::Program plain = *loop::parse(dense(in, out, x_offset));
    plain.buffers.at(2).data = extremes(in * out, -127);
    const Bytes x = extremes(in, -128);
    const std::vector<std::vector<uint8_t>> inputs = {{x.view().begin(), x.view().end()}};
    for (const bool reverse : {false, true}) {
      const std::optional<Rescheduled> r =
          schedule_vector_dot(plain, plain.kernels[0], reverse, shape);
      ASSERT_TRUE(r && fits_all_calls(plain, "conv", *r));
      loop::Program program = plain;
      replace_kernel(program, "conv", *r);
      EXPECT_TRUE(loop::find_faults(program).empty());
      EXPECT_TRUE(loop::unproved_accesses(program).empty());
      EXPECT_EQ(loop::interpret(program, inputs), loop::interpret(plain, inputs));
    }
  }
  loop::Program smallest = *loop::parse(dense(8, 16, 0));
  smallest.buffers.at(2).data = extremes(8 * 16, -128);
  const std::optional<Rescheduled> r =
      schedule_vector_dot(smallest, smallest.kernels[0], false, shape);
  EXPECT_TRUE(r && !fits_all_calls(smallest, "conv", *r));
  const loop::Program convolution = program_of(kConvolutions[0]);
  EXPECT_FALSE(schedule_vector_dot(convolution, convolution.kernels[0], false, shape));
}

TEST(GatheredDot, GivesWhatThePlainNestGives) {
  int64_t scheduled = 0;
  for (const Target& target : all_targets()) {
    for (const ConvolutionShape& s : kConvolutions) {
      scheduled += check(target, s, schedule_gathered_dot, dot_shape_of);
    }
  }
  EXPECT_EQ(scheduled, 9);
}

// With as many products in 16 bits as the weights allow.
int64_t check_terms(const Target& target, const ConvolutionShape& s, int64_t largest_weight) {
  std::optional<TermShape> shape = term_shape_of(target);
  if (!shape) return 0;
  const loop::Program plain = program_of(s, largest_weight);
  const Rule rule = [&](const loop::Kernel& kernel, bool reverse) {
    return schedule_vector_terms(plain, kernel, reverse, *shape);
  };
  std::optional<Rescheduled> made = rule(plain.kernels[0], false);
  for (; made && !fits_all_calls(plain, "conv", *made); made = rule(plain.kernels[0], false)) {
    --shape->narrow_taps;
  }
  if (!made) return 0;
  SCOPED_TRACE(target.name);
  expect_equal(s, rule, largest_weight);
  return 1;
}

TEST(VectorTerms, GivesWhatThePlainNestGives) {
  int64_t scheduled = 0;
  for (const Target& target : all_targets()) {
    for (const int64_t largest_weight : {128, 60, 30}) {
      for (const ConvolutionShape& s : kConvolutions) {
        scheduled += check_terms(target, s, largest_weight);
      }
      for (const ConvolutionShape& s : kDepthwise) {
        scheduled += check_terms(target, s, largest_weight);
      }
    }
  }
  EXPECT_GE(scheduled, 3 * 4 * 12);
}

TEST(VectorSchedules, AreRightOrNoneWherePaddingIsWide) {
  for (const Target& target : all_targets()) {
    for (const ConvolutionShape& s : kOdd) {
      check(target, s, schedule_gathered_dot, dot_shape_of);
      check(target, s, schedule_vector_dot, dot_shape_of);
      check_terms(target, s, 30);
    }
  }
}

// y[i] = value over `count` elements, where v is 5 * x[i].
loop::Program elements(int64_t count, const std::string& value) {
  const Result<loop::Program> parsed = loop::parse(
      fmt::format("program p\n"
                  "function high(x: int32, m: int32) -> int32 \"\" {{\n"
                  "return int32(int64(x) * int64(m) >> 31:int64)\n}}\n"
                  "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
                  "buffer out int8[{0}] output align 1 type int8[{0}] scale 1 zero_point 0\n"
                  "kernel each(x: int8[{0}] read align 1, y: int8[{0}] write align 1) \"\" {{\n"
                  "for i = 0 to {0} {{\nlet v: int32 = int32(x[i]) * 5\ny[i] = int8({1})\n}}\n}}\n"
                  "run {{\ncall each(in, out)\n}}\n",
                  count, value));
  EXPECT_TRUE(parsed) << value;
  return *parsed;
}

TEST(VectorElements, GiveWhatThePlainNestGives) {
  const TermShape shape = *term_shape_of(*find_target("cortex-m55"));
  for (const int64_t count : {4, 7, 16, 33}) {
    const loop::Program plain =
        elements(count, "min(max(v * 3 + int32(x[0]) + 7 >> 4, -128), 127)");
    for (const bool reverse : {false, true}) {
      const std::optional<Rescheduled> r =
          schedule_vector_elements(plain, plain.kernels[0], reverse, shape);
      ASSERT_TRUE(r) << count;
      loop::Program program = plain;
      replace_kernel(program, "each", *r);
      for (const std::string& fault : loop::find_faults(program)) ADD_FAILURE() << fault;
      EXPECT_TRUE(loop::unproved_accesses(program).empty());
      EXPECT_EQ(run(program), run(plain)) << loop::print(program.kernels[0]);
    }
  }
}

TEST(VectorElements, LeaveAloneWhatGainsNothing) {
  const TermShape shape = *term_shape_of(*find_target("cortex-m55"));
  const auto is_scheduled = [&](int64_t count, const std::string& value) {
    const loop::Program plain = elements(count, value);
    return schedule_vector_elements(plain, plain.kernels[0], false, shape).has_value();
  };
  EXPECT_TRUE(is_scheduled(8, "v >> 3"));
  EXPECT_FALSE(is_scheduled(3, "v >> 3"));                     // fewer than the lanes
  EXPECT_FALSE(is_scheduled(8, "high(v, 1073741824) >> 3"));   // lanes of 64 bits
  EXPECT_FALSE(is_scheduled(8, "int32(x[int32(x[i]) & 7])"));  // look-ups
}

TEST(Interleaved, SumsOfProductsStayIn16Bits) {
  const auto fit = [](std::vector<int8_t> weights, int64_t width, int64_t taps) {
    std::vector<std::vector<int64_t>> channels = {{}};
    for (size_t i = 0; i < weights.size(); ++i) channels[0].push_back(static_cast<int64_t>(i));
    return fit_16_bits(Bytes::of(weights), channels, width, taps);
  };
  EXPECT_TRUE(fit({127, 127}, 2, 2));     // -32512
  EXPECT_FALSE(fit({-128, -128}, 2, 2));  // 32768
  EXPECT_TRUE(fit({-128, -127}, 2, 2));
  EXPECT_TRUE(fit({-128, -128}, 1, 2));  // of different rows
  EXPECT_TRUE(fit({-128, -128}, 2, 1));
  EXPECT_FALSE(fit({0, 100, 100, 100, 0}, 5, 3));
  EXPECT_TRUE(fit({100, 0, 100, 0, 100}, 5, 3));
  EXPECT_EQ(interleaved_order(11), (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5, 7, 8, 9, 10}));
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
