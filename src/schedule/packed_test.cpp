// SPDX-License-Identifier: Apache-2.0
// Several channels in one multiplication, and products of 64 bits from halfwords, against the plain
// nests that they are made from, in the interpreter.
#include <gtest/gtest.h>

#include <limits>

#include "schedule/narrow_multiply.h"
#include "schedule/packed_multiply.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

Rule packed(const PackedShape& shape, int64_t num_split) {
  return [shape, num_split](const loop::Kernel& kernel, bool reverse) {
    return schedule_packed_multiply(kernel, reverse, shape, num_split);
  };
}

TEST(PackedMultiply, GivesWhatThePlainNestGives) {
  const PackedShape alone = {.columns = 1, .registers = {"r8", "r9"}, .unrolled = 9};
  const PackedShape beside = {.columns = 3, .registers = {}, .unrolled = 4};
  int64_t scheduled = 0;
  for (const ConvolutionShape& s : kConvolutions) {
    for (const PackedShape& shape : {alone, beside}) {
      for (const int64_t num_split : {0, 1, 2}) {
        const Rule rule = packed(shape, num_split);
        const loop::Program program = program_of(s);
        // One or two output channels are not worth it, and not every kernel has so many sums.
        const std::optional<Rescheduled> r = rule(program.kernels[0], false);
        if (!r || !fits_all_calls(program, "conv", *r)) continue;
        ++scheduled;
        expect_equal(s, rule);
      }
    }
  }
  EXPECT_GE(scheduled, 50);
}

TEST(PackedMultiply, RefusesSumsThatDoNotFit) {
  const ConvolutionShape s = {4, 4, 32, 8, 3, 1, 0, 0, 0};
  loop::Program program = program_of(s);
  const auto fits = [&](int64_t num_split, int8_t first, int8_t others) {
    std::vector<int8_t> weights(static_cast<size_t>(s.weights()), others);
    weights[0] = first;
    program.buffers.at(2).data = Bytes::of(weights);
    const std::optional<Rescheduled> r =
        packed(PackedShape{}, num_split)(program.kernels[0], false);
    return r && fits_all_calls(program, "conv", *r);
  };
  // 128 * (288 * 14 + 63) is the greatest sum of 20 bits that is a multiple of 128.
  EXPECT_TRUE(fits(0, 14 + 63, 14));
  EXPECT_FALSE(fits(0, 14 + 64, 14));
  EXPECT_FALSE(fits(0, -(14 + 64), 14));
  // A row of the window alone, 96 terms; a cell of it, 32 terms.
  EXPECT_TRUE(fits(1, 42, 42));
  EXPECT_FALSE(fits(1, 43, 43));
  EXPECT_TRUE(fits(2, 127, 127));
  EXPECT_FALSE(fits(2, -128, -128));
}

TEST(PackedMultiply, TheGreatestSumsOfBothSigns) {
  const ConvolutionShape s = {2, 3, 33, 8, 1, 1, 0, 0, 0};
  // 33 terms of at most 124: 128 * 4092 lies below 2^19.
  for (const int64_t magnitude : {-124, 124}) {
    for (const int64_t x : {-128, 127}) {
      loop::Program program = program_of(s);
      std::vector<int8_t> weights;
      for (int64_t i = 0; i < s.weights(); ++i) {
        const bool turned = (i / 33) % 3 == 1;  // of some channels
        weights.push_back(static_cast<int8_t>(turned ? -magnitude : magnitude));
      }
      program.buffers.at(2).data = Bytes::of(weights);
      const std::vector<std::vector<uint8_t>> inputs = {std::vector<uint8_t>(
          static_cast<size_t>(2 * 3 * 33), static_cast<uint8_t>(static_cast<int8_t>(x)))};
      const auto expected = loop::interpret(program, inputs);
      const auto r = packed(PackedShape{}, 0)(program.kernels[0], false);
      ASSERT_TRUE(r && fits_all_calls(program, "conv", *r));
      replace_kernel(program, "conv", *r);
      EXPECT_EQ(loop::interpret(program, inputs), expected);
    }
  }
}

TEST(PackedMultiply, LeavesOtherKernelsAlone) {
  EXPECT_FALSE(packed(PackedShape{}, 0)(program_of(kDepthwise[0]).kernels[0], false));
}

// y = (x * m + c) >> shift for each element.
loop::Program products(const std::vector<int32_t>& m, const std::vector<int64_t>& c,
                       int64_t shift) {
  const size_t count = m.size();
  const Result<loop::Program> parsed = loop::parse(
      fmt::format("program p\n"
                  "buffer in int32[{0}] input align 4 type int32[{0}]\n"
                  "buffer out int32[{0}] output align 4 type int32[{0}]\n"
                  "buffer m int32[{0}] constant align 4 data {1}\n"
                  "buffer c int64[{0}] constant align 8 data {2}\n"
                  "kernel k(x: int32[{0}] read align 4, m: int32[{0}] constant align 4, "
                  "c: int64[{0}] constant align 8, y: int32[{0}] write align 4) \"\" {{\n"
                  "for i = 0 to {0} {{\n"
                  "y[i] = int32((int64(x[i]) * int64(m[i]) + c[i]) >> {3}:int64)\n"
                  "}}\n}}\nrun {{\ncall k(in, m, c, out)\n}}\n",
                  count, zeros(8 * static_cast<int64_t>(count)),
                  zeros(16 * static_cast<int64_t>(count)), shift));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error()[0].where + parsed.error()[0].what);
  loop::Program program = *parsed;
  program.buffers.at(2).data = Bytes::of(m);
  program.buffers.at(3).data = Bytes::of(c);
  program.notes.assign(1, {});
  return program;
}

void expect_same_products(const loop::Program& plain, const std::vector<int32_t>& x,
                          const std::string& function) {
  loop::Program program = plain;
  narrow_multiplications(program);
  EXPECT_TRUE(loop::find_function(program, function));
  EXPECT_EQ(program.functions.size(), 1u);
  for (const std::string& fault : loop::find_faults(program)) ADD_FAILURE() << fault;
  const Bytes bytes = Bytes::of(x);
  const std::vector<std::vector<uint8_t>> inputs = {{bytes.view().begin(), bytes.view().end()}};
  EXPECT_EQ(loop::interpret(program, inputs), loop::interpret(plain, inputs));
}

constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int32_t kHighest = std::numeric_limits<int32_t>::max();

TEST(NarrowMultiply, AnyFactorsAndSummands) {
  std::vector<int32_t> x;
  std::vector<int32_t> m;
  std::vector<int64_t> c;
  for (const int32_t a : {kLowest, kHighest, -1, 0, 1, -65536, 65535, -98765432, 123456789}) {
    for (const int32_t b : {kLowest, kHighest, -1, 1, -65537, 65536, 1518500249}) {
      for (const int64_t summand : {int64_t{0}, int64_t{-1}, int64_t{0xffffffff},
                                    -(int64_t{1} << 40), (int64_t{1} << 31) + 12345}) {
        x.push_back(a);
        m.push_back(b);
        c.push_back(summand);
      }
    }
  }
  expect_same_products(products(m, c, 32), x, "multiply_add_high");
  expect_same_products(products(m, c, 40), x, "multiply_add_high");
}

class Bounded : public ::testing::Test {
 protected:
  Bounded() {
    constexpr int64_t kLargest = 20000;  // sum, and its negative
    note_.proved = true;
    note_.multipliers = {(1 << 24) + 77777, -70000};
    note_.offsets = {(int64_t{1} << 38) + 40000, -(int64_t{1} << 37) - 1};
    note_.accumulator_low = {-kLargest, -kLargest};
    note_.accumulator_high = {kLargest, kLargest};
    note_.multipliers_table = "m";
  }

  loop::Program program(int64_t shift) const {
    loop::Program p = products(
        {static_cast<int32_t>(note_.multipliers[0]), static_cast<int32_t>(note_.multipliers[1])},
        note_.offsets, shift);
    p.notes[0].requantization = note_;
    return p;
  }

  loop::Requantization note_;
};

TEST_F(Bounded, FewerProductsWhereTheSumsAreKnown) {
  for (const int32_t x : {-20000, -19999, -1, 0, 1, 4095, 20000}) {
    expect_same_products(program(32), {x, -x}, "multiply_add_bounded");
    expect_same_products(program(24), {x, x}, "multiply_add_bounded");
  }
}

TEST_F(Bounded, NotWhereAPartLeavesInt32) {
  note_.accumulator_low[0] = -(int64_t{1} << 24);
  expect_same_products(program(32), {-(1 << 24), 7}, "multiply_add_high");
  // A bias within the offsets moves what is multiplied.
  note_.accumulator_low[0] = -20000;
  note_.biases_in_offsets = {int64_t{1} << 24, 0};
  expect_same_products(program(32), {-(1 << 24) - 20000, 7}, "multiply_add_high");
}

}  // namespace
}  // namespace ingot
