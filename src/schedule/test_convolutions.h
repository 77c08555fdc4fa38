// SPDX-License-Identifier: Apache-2.0
// For tests of schedules: convolutions as plain nests, with uneven shapes, and a comparison of what
// a schedule makes of one with the nest itself, in the interpreter.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "schedule/reschedule.h"

namespace ingot {

struct ConvolutionShape {
  int64_t rows;
  int64_t columns;
  int64_t in;   // channels
  int64_t out;  // channels; of depthwise kernels as many as `in`
  int64_t kernel;
  int64_t stride;
  int64_t before;  // rows and columns of padding
  int64_t after;
  int64_t x_offset;
  bool depthwise = false;

  int64_t outputs(int64_t extent) const { return (extent + before + after - kernel) / stride + 1; }
  int64_t weights() const { return kernel * kernel * (depthwise ? in : in * out); }
};

inline std::string zeros(int64_t count) { return std::string(static_cast<size_t>(count), '0'); }

inline std::string bounds(const ConvolutionShape& s, const std::string& position, int64_t extent) {
  return fmt::format("max({} - {} * {}, 0) to min({} - {} * {}, {})", s.before, position, s.stride,
                     extent + s.before, position, s.stride, s.kernel);
}

// As lowering writes it: one output channel is no loop.
inline std::string convolution(const ConvolutionShape& s) {
  const bool is_loop = s.out > 1;
  const std::string oc = is_loop ? "oc" : "0";
  const int64_t oh = s.outputs(s.rows);
  const int64_t ow = s.outputs(s.columns);
  const std::string cell =
      fmt::format("((oy * {0} + ky - {1}) * {2} + (ox * {0} + kx - {1})) * {3}", s.stride, s.before,
                  s.columns, s.in);
  const std::string term = fmt::format(
      "acc = acc + (int32(x[{} + {}]) + {}) * int32(w[{}])", cell, s.depthwise ? oc : "ic",
      s.x_offset,
      s.depthwise ? fmt::format("(ky * {} + kx) * {} + {}", s.kernel, s.in, oc)
                  : fmt::format("(({2} * {0} + ky) * {0} + kx) * {1} + ic", s.kernel, s.in, oc));
  const std::string inner =
      s.depthwise ? term : fmt::format("for ic = 0 to {} {{\n{}\n}}", s.in, term);
  return fmt::format(
      "program p\n"
      "buffer in int8[{0}] input align 1 type int8[{0}] scale 1 zero_point 0\n"
      "buffer out int8[{1}] output align 1 type int8[{1}] scale 1 zero_point 0\n"
      "buffer w int8[{2}] constant align 4 data {3}\n"
      "buffer b int32[{4}] constant align 4 data {5}\n"
      "kernel conv(x: int8[{0}] read align 1, w: int8[{2}] constant align 1, bias: int32[{4}] "
      "constant align 4, y: int8[{1}] write align 1) \"\" {{\n"
      "for oy = 0 to {6} {{\nfor ox = 0 to {7} {{\n{11}"
      "let acc: int32 = bias[{12}]\n"
      "for ky = {8} {{\nfor kx = {9} {{\n{10}\n}}\n}}\n"
      "let scaled: int32 = acc >> 7\n"
      "y[(oy * {7} + ox) * {4} + {12}] = int8(min(max(scaled, -128), 127))\n"
      "{13}}}\n}}\n}}\nrun {{\ncall conv(in, w, b, out)\n}}\n",
      s.rows * s.columns * s.in, oh * ow * s.out, s.weights(), zeros(2 * s.weights()), s.out,
      zeros(8 * s.out), oh, ow, bounds(s, "oy", s.rows), bounds(s, "ox", s.columns), inner,
      is_loop ? fmt::format("for oc = 0 to {} {{\n", s.out) : "", oc, is_loop ? "}\n" : "");
}

// The same numbers everywhere.
class Numbers {
 public:
  Bytes bytes(int64_t count, int64_t magnitude) {
    std::vector<int8_t> all;
    for (int64_t i = 0; i < count; ++i) {
      all.push_back(static_cast<int8_t>(next() % (2 * magnitude) - magnitude));
    }
    return Bytes::of(all);
  }
  Bytes words(int64_t count) {
    std::vector<int32_t> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<int32_t>(next() % 8000 - 4000));
    return Bytes::of(all);
  }

 private:
  int64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int64_t>(state_ >> 33);
  }
  uint64_t state_ = 1;
};

inline loop::Program program_of(const ConvolutionShape& s, int64_t largest_weight = 128) {
  const Result<loop::Program> parsed = loop::parse(convolution(s));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error()[0].where + parsed.error()[0].what);
  loop::Program program = *parsed;
  Numbers numbers;
  program.buffers.at(2).data = numbers.bytes(s.weights(), largest_weight - 1);
  program.buffers.at(3).data = numbers.words(s.out);
  return program;
}

inline std::vector<std::vector<uint8_t>> run(const loop::Program& program) {
  const Bytes input = Numbers().bytes(program.buffers.at(0).num_elements, 128);
  const std::vector<std::vector<uint8_t>> inputs = {{input.view().begin(), input.view().end()}};
  return loop::interpret(program, inputs);
}

using Rule = std::function<std::optional<Rescheduled>(const loop::Kernel&, bool)>;

inline void expect_equal(const ConvolutionShape& s, const Rule& rule,
                         int64_t largest_weight = 128) {
  const loop::Program plain = program_of(s, largest_weight);
  const std::vector<std::vector<uint8_t>> expected = run(plain);
  const std::optional<Rescheduled> forward = rule(plain.kernels[0], false);
  for (const bool reverse : {false, true}) {
    std::optional<Rescheduled> r = rule(plain.kernels[0], reverse);
    ASSERT_TRUE(r && forward) << loop::print(plain.kernels[0]);
    // Both directions run with the constants that were made for the one.
    r->constants = forward->constants;
    ASSERT_TRUE(fits_all_calls(plain, "conv", *r));
    loop::Program program = plain;
    replace_kernel(program, "conv", *r);
    remove_unused_constants(program);
    for (const std::string& fault : loop::find_faults(program)) ADD_FAILURE() << fault;
    for (const loop::Unproved& access : loop::unproved_accesses(program)) {
      ADD_FAILURE() << access.access << ": " << access.reason;
    }
    EXPECT_EQ(run(program), expected) << loop::print(program.kernels[0]);
  }
}

inline constexpr ConvolutionShape kConvolutions[] = {
    // rows, columns, in, out, kernel, stride, before, after, x_offset
    {4, 5, 8, 8, 1, 1, 0, 0, 0},    {3, 7, 4, 16, 1, 1, 0, 0, 5},  {5, 5, 5, 4, 1, 1, 0, 0, 0},
    {2, 3, 7, 9, 1, 1, 0, 0, -3},   {3, 4, 3, 5, 1, 1, 0, 0, 0},   {4, 4, 1, 3, 1, 1, 0, 0, 1},
    {6, 6, 4, 8, 3, 1, 1, 1, 128},  {5, 7, 8, 8, 3, 1, 1, 1, 128}, {7, 8, 3, 8, 3, 2, 0, 1, 128},
    {8, 8, 1, 12, 3, 2, 1, 1, -77}, {9, 6, 1, 8, 4, 2, 1, 1, -83}, {6, 5, 5, 6, 3, 1, 1, 1, 9},
    {5, 9, 2, 2, 3, 1, 1, 1, 4},    {4, 4, 16, 1, 3, 1, 0, 0, 0},  {6, 6, 12, 4, 2, 2, 0, 0, 100},
    {3, 3, 4, 4, 3, 1, 1, 1, 128},  {5, 6, 3, 9, 3, 1, 1, 1, 128}, {6, 5, 2, 8, 5, 1, 2, 2, -127},
    {7, 4, 1, 11, 3, 2, 0, 2, 77},  {6, 8, 3, 8, 2, 2, 0, 0, 0},   {4, 9, 1, 8, 7, 1, 3, 3, 128},
    {6, 7, 3, 1, 3, 1, 1, 1, 5},    {1, 1, 21, 1, 1, 1, 0, 0, 3},
};

inline constexpr ConvolutionShape kDepthwise[] = {
    {4, 5, 8, 8, 3, 1, 1, 1, 128, true}, {6, 7, 4, 4, 3, 2, 0, 1, 128, true},
    {5, 5, 7, 7, 3, 1, 1, 1, -5, true},  {3, 3, 6, 6, 3, 1, 1, 1, 128, true},
    {8, 8, 9, 9, 2, 1, 0, 0, 0, true},   {9, 9, 4, 4, 7, 1, 3, 3, 77, true},
    {3, 3, 8, 8, 3, 1, 1, 1, 128, true}, {5, 6, 16, 16, 3, 2, 0, 1, -127, true},
    {2, 2, 9, 9, 3, 1, 1, 1, 5, true},   {4, 4, 8, 8, 5, 1, 2, 2, 77, true},
    {6, 3, 12, 12, 3, 1, 1, 1, 0, true},
};

// Kernels larger than the image, and padding wider than the kernel: schedules may leave these
// alone.
inline constexpr ConvolutionShape kOdd[] = {
    {3, 4, 8, 8, 7, 1, 3, 3, 128, true}, {1, 7, 8, 8, 3, 1, 1, 1, 128, true},
    {5, 4, 8, 8, 2, 1, 2, 2, 128, true}, {1, 5, 3, 8, 3, 1, 1, 1, 128},
    {4, 3, 3, 8, 2, 1, 2, 2, 128},       {2, 3, 4, 8, 5, 1, 2, 2, 9},
};

}  // namespace ingot
