// SPDX-License-Identifier: Apache-2.0
// The schedule of sums and maxima of bytes against the plain nests: the same outputs in the
// interpreter, forward and reversed, with windows over borders and channels that make no words.
#include "schedule/reduction.h"

#include <gtest/gtest.h>

#include "schedule/dsp_reduction.h"
#include "schedule/test_convolutions.h"

namespace ingot {
namespace {

// One input and one output; no padding behind what strides reach.
std::string pooling(const ConvolutionShape& s, bool is_max) {
  const std::string first = is_max ? "-128" : "7";
  const std::string element =
      fmt::format("int32(x[((oy * {0} + ky - {1}) * {2} + (ox * {0} + kx - {1})) * {3} + c])",
                  s.stride, s.before, s.columns, s.in);
  const std::string rows = bounds(s, "oy", s.rows);
  const std::string columns = bounds(s, "ox", s.columns);
  const auto extent = [](const std::string& range) {
    const size_t to = range.find(" to ");
    return fmt::format("(({}) - ({}))", range.substr(to + 4), range.substr(0, to));
  };
  const int64_t oh = s.outputs(s.rows);
  const int64_t ow = s.outputs(s.columns);
  return fmt::format(
      "program p\n"
      "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
      "buffer out int8[{1}] output align 1 type int8[{1}] scale 1 zero_point 0\n"
      "kernel pool(x: int8[{0}] read align 1, y: int8[{1}] write align 1) \"\" {{\n"
      "for oy = 0 to {2} {{\nfor ox = 0 to {3} {{\n"
      "let count: int32 = {4} * {5}\n"
      "for c = 0 to {6} {{\nlet acc: int32 = {7}\n"
      "for ky = {8} {{\nfor kx = {9} {{\nacc = {10}\n}}\n}}\n"
      "{11}}}\n}}\n}}\n}}\nrun {{\ncall pool(in, out)\n}}\n",
      s.rows * s.columns * s.in, oh * ow * s.in, oh, ow, extent(rows), extent(columns), s.in, first,
      rows, columns, is_max ? fmt::format("max(acc, {})", element) : "acc + " + element,
      fmt::format("y[(oy * {} + ox) * {} + c] = int8({})\n", ow, s.in,
                  is_max ? "acc" : "min(max(div(acc, count), -100), 127)"));
}

// rows, columns, channels, channels, kernel, stride, padding before and after, -
constexpr ConvolutionShape kWindows[] = {
    {4, 6, 8, 8, 2, 2, 0, 0, 0},    {5, 7, 13, 13, 3, 1, 1, 1, 0}, {7, 6, 4, 4, 3, 2, 0, 1, 0},
    {3, 3, 6, 6, 3, 1, 1, 1, 0},    {5, 5, 11, 11, 5, 1, 0, 0, 0}, {9, 9, 5, 5, 7, 2, 3, 3, 0},
    {17, 17, 4, 4, 17, 1, 0, 0, 0}, {1, 1, 9, 9, 1, 1, 0, 0, 0},
};

void expect_equal(const std::string& text, int64_t window) {
  const Result<loop::Program> plain = loop::parse(text);
  ASSERT_TRUE(plain) << plain.error()[0].where << plain.error()[0].what << text;
  const auto expected = run(*plain);
  for (const bool reverse : {false, true}) {
    const std::optional<Rescheduled> r = schedule_dsp_reduction(plain->kernels[0], reverse);
    ASSERT_TRUE(r) << window << text;
    loop::Program program = *plain;
    replace_kernel(program, plain->kernels[0].name, *r);
    for (const std::string& fault : loop::find_faults(program)) ADD_FAILURE() << fault;
    for (const loop::Unproved& access : loop::unproved_accesses(program)) {
      ADD_FAILURE() << access.access << ": " << access.reason;
    }
    EXPECT_EQ(run(program), expected) << loop::print(program.kernels[0]);
  }
}

TEST(DspReduction, GivesWhatThePlainNestGives) {
  for (const ConvolutionShape& s : kWindows) {
    for (const bool is_max : {false, true}) expect_equal(pooling(s, is_max), s.kernel);
  }
}

// The mean of rows: `terms` elements of each of seven channels.
std::string mean(int64_t terms) {
  return fmt::format(
      "program p\n"
      "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
      "buffer out int8[7] output align 1 type int8[7] scale 1 zero_point 0\n"
      "kernel mean(x: int8[{0}] read align 1, y: int8[7] write align 1) \"\" {{\n"
      "for i = 0 to 7 {{\nlet sum: int32 = 147\n"
      "for r = 0 to {1} {{\nsum = sum + int32(x[r * 7 + i])\n}}\n"
      "y[i] = int8(sum >> 9)\n}}\n}}\nrun {{\ncall mean(in, out)\n}}\n",
      7 * terms, terms);
}

TEST(DspReduction, CutsLongSums) {
  for (const int64_t terms : {1, 2, 49, 255, 256, 300}) expect_equal(mean(terms), terms);
}

TEST(DspReduction, LeavesOtherKernelsAlone) {
  // A prime number of terms that halfwords do not hold.
  const Result<loop::Program> prime = loop::parse(mean(257));
  ASSERT_TRUE(prime);
  EXPECT_FALSE(schedule_dsp_reduction(prime->kernels[0], false));
  EXPECT_FALSE(schedule_dsp_reduction(program_of(kConvolutions[0]).kernels[0], false));
  EXPECT_FALSE(find_reduction(program_of(kDepthwise[0]).kernels[0]));
  // Three channels make no word.
  const Result<loop::Program> narrow =
      loop::parse(pooling({4, 4, 3, 3, 2, 2, 0, 0, 0}, /*is_max=*/true));
  ASSERT_TRUE(narrow);
  EXPECT_FALSE(schedule_dsp_reduction(narrow->kernels[0], false));
}

}  // namespace
}  // namespace ingot
