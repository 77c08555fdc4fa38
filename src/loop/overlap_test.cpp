// SPDX-License-Identifier: Apache-2.0
// The judge of derived distances is a run of the kernel: from the trace of its accesses, every pair
// of a write and a later read is compared.
#include "loop/overlap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "loop/interpret.h"
#include "loop/random_nest.h"
#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

// A kernel that reads x and writes y.
struct Nest {
  std::string input;   // "int8[12]"
  std::string output;  // likewise
  std::string body;
};

Program program_of(const Nest& nest) {
  const std::string text = fmt::format(
      "program p\nkernel k(x: {} read align 1, y: {} write align 1) \"\" {{\n{}}}\n"
      "run {{\n}}\n",
      nest.input, nest.output, nest.body);
  Result<Program> program = parse(text);
  if (!program) throw InternalError(program.error()[0].what + "\n" + text);
  return *std::move(program);
}

int64_t bytes_of(const Param& param) { return param.num_elements * size_in_bytes(param.dtype); }

// The least distance as the trace of a run tells it; nullopt if no read follows a write.
std::optional<int64_t> traced_distance(const Program& program, Side side) {
  const Kernel& kernel = program.kernels[0];
  std::vector<std::vector<uint8_t>> memory;
  std::vector<std::span<uint8_t>> spans;
  for (const Param& p : kernel.params) memory.emplace_back(static_cast<size_t>(bytes_of(p)));
  for (std::vector<uint8_t>& m : memory) spans.emplace_back(m);
  std::optional<int64_t> written;  // how far, seen from where the output starts or ends
  std::optional<int64_t> distance;
  interpret(program, kernel, spans, {.on_access = [&](const MemoryAccess& access) {
              const int64_t size =
                  size_in_bytes(kernel.params[static_cast<size_t>(access.param)].dtype);
              const int64_t begin = access.element * size;
              const int64_t end = begin + access.lanes * size;
              if (access.param == 1) {
                const int64_t reach = side == Side::kBefore ? end : -begin;
                written = std::max(written.value_or(reach), reach);
              } else if (written) {
                const int64_t d = *written - (side == Side::kBefore ? begin : -end);
                distance = std::max(distance.value_or(d), d);
              }
            }});
  return distance;
}

int64_t expected_distance(const Program& program, Side side) {
  const int64_t x = bytes_of(program.kernels[0].params[0]);
  const int64_t y = bytes_of(program.kernels[0].params[1]);
  const int64_t lower = side == Side::kBefore ? y : x;
  const int64_t other = side == Side::kBefore ? x : y;
  return std::clamp(traced_distance(program, side).value_or(-other), -other, lower);
}

void expect_least(const Nest& nest) {
  const Program program = program_of(nest);
  for (const Side side : {Side::kBefore, Side::kBehind}) {
    EXPECT_EQ(least_distance(program.kernels[0], "y", "x", side), expected_distance(program, side))
        << print(program.kernels[0]);
  }
}

// "for i = a to b { body }", from the last to the first if `reverse`.
std::string loop(const std::string& variable, const std::string& begin, const std::string& end,
                 bool reverse, const std::string& body) {
  return fmt::format("for {} = {} to {}{} {{\n{}}}\n", variable, begin, end,
                     reverse ? " reverse" : "", body);
}

struct Shape2D {
  int64_t h, w, channels, outputs, kernel, stride, before;
};

// A convolution that computes `block` output channels at once.
Nest convolution(const Shape2D& s, int64_t block, bool reverse) {
  const int64_t oh = (s.h + 2 * s.before - s.kernel) / s.stride + 1;
  const int64_t ow = (s.w + 2 * s.before - s.kernel) / s.stride + 1;
  const auto taps = [&](const std::string& position, int64_t image) {
    return std::pair(
        fmt::format("max({} - {} * {}, 0)", s.before, position, s.stride),
        fmt::format("min({} - {} * {}, {})", image + s.before, position, s.stride, s.kernel));
  };
  std::string sums;
  std::string stores;
  for (int64_t b = 0; b < block; ++b) {
    sums += fmt::format("let a{}: int32 = 0\n", b);
    stores +=
        fmt::format("y[(oy * {} + ox) * {} + oc + {}] = int8(a{} & 1)\n", ow, s.outputs, b, b);
  }
  const std::string add = fmt::format(
      "let v: int32 = int32(x[((oy * {1} + ky - {2}) * {0} + (ox * {1} + kx - {2})) * {3} + ic])\n"
      "a0 = a0 + v\n",
      s.w, s.stride, s.before, s.channels);
  const auto [ky0, ky1] = taps("oy", s.h);
  const auto [kx0, kx1] = taps("ox", s.w);
  const std::string window =
      loop("ky", ky0, ky1, false,
           loop("kx", kx0, kx1, false, loop("ic", "0", std::to_string(s.channels), false, add)));
  const std::string channels = fmt::format("for oc = 0 to {} step {}{} {{\n{}{}{}}}\n", s.outputs,
                                           block, reverse ? " reverse" : "", sums, window, stores);
  return {fmt::format("int8[{}]", s.h * s.w * s.channels),
          fmt::format("int8[{}]", oh * ow * s.outputs),
          loop("oy", "0", std::to_string(oh), reverse,
               loop("ox", "0", std::to_string(ow), reverse, channels))};
}

TEST(LeastDistance, OfConvolutionsIsThatOfTheirTrace) {
  const Shape2D shapes[] = {{5, 4, 4, 4, 1, 1, 0}, {5, 4, 2, 8, 1, 1, 0}, {5, 4, 8, 4, 1, 1, 0},
                            {6, 5, 4, 4, 3, 1, 1}, {6, 5, 2, 4, 3, 2, 1}, {7, 7, 3, 8, 3, 2, 0},
                            {9, 6, 4, 4, 5, 1, 2}, {8, 8, 1, 4, 5, 3, 2}, {3, 3, 4, 8, 7, 1, 3},
                            {2, 9, 4, 4, 4, 1, 2}, {6, 6, 4, 4, 2, 2, 0}, {1, 1, 6, 4, 1, 1, 0}};
  for (const Shape2D& shape : shapes) {
    for (const int64_t block : {1, 2, 4}) {
      for (const bool reverse : {false, true}) expect_least(convolution(shape, block, reverse));
    }
  }
}

TEST(LeastDistance, KnowsTheFigures) {
  const auto distance = [](const Nest& nest, Side side) {
    return least_distance(program_of(nest).kernels[0], "y", "x", side);
  };
  // One row and one pixel of the image and what of a pixel is not yet written.
  EXPECT_EQ(distance(convolution({25, 5, 64, 64, 3, 1, 1}, 4, false), Side::kBefore),
            6 * 64 + 64 - 4);
  EXPECT_EQ(distance(convolution({25, 5, 64, 64, 1, 1, 0}, 4, false), Side::kBefore), 64 - 4);
  // Twice the channels: run from behind, the input lies at the start of the output.
  EXPECT_EQ(distance(convolution({48, 48, 8, 16, 1, 1, 0}, 4, true), Side::kBehind), 8 - 4);
}

TEST(LeastDistance, OfOtherNestsIsThatOfTheirTrace) {
  const Nest nests[] = {
      // elementwise, and from wider to narrower and back
      {"int8[9]", "int8[9]", "for i = 0 to 9 {\ny[i] = x[i]\n}\n"},
      {"int8[9]", "int8[9]", "for i = 0 to 9 reverse {\ny[i] = x[i]\n}\n"},
      {"int32[9]", "int8[9]", "for i = 0 to 9 {\ny[i] = int8(x[i])\n}\n"},
      {"int8[9]", "int32[9]", "for i = 0 to 9 reverse {\ny[i] = int32(x[i])\n}\n"},
      {"int8[9]", "int32[9]", "for i = 0 to 9 {\ny[i] = int32(x[i])\n}\n"},
      // several passes, the last of which writes
      {"int8[12]", "int8[12]",
       "for r = 0 to 3 {\nlet m: int32 = 0\nfor i = 0 to 4 {\nm = max(m, int32(x[r * 4 + i]))\n}\n"
       "for j = 0 to 4 {\ny[r * 4 + j] = int8(m - int32(x[r * 4 + j]))\n}\n}\n"},
      // a dense layer: everything is read for every output
      {"int8[10]", "int8[6]",
       "for o = 0 to 6 step 2 {\nlet a: int32 = 0\nfor i = 0 to 10 {\na = a + int32(x[i])\n}\n"
       "y[o] = int8(a)\ny[o + 1] = int8(a)\n}\n"},
      // the mean over rows
      {"int8[12]", "int8[4]",
       "for c = 0 to 4 {\nlet a: int32 = 0\nfor i = 0 to 3 {\na = a + int32(x[i * 4 + c])\n}\n"
       "y[c] = int8(a)\n}\n"},
      // transpose
      {"int8[15]", "int8[15]",
       "for i = 0 to 5 {\nfor j = 0 to 3 {\ny[i * 3 + j] = x[j * 5 + i]\n}\n}\n"},
      // concatenation: this input's part between others
      {"int8[8]", "int8[20]",
       "for n = 0 to 2 {\nfor i = 0 to 3 {\ny[n * 10 + i] = 1:int8\n}\nfor j = 0 to 4 {\n"
       "y[n * 10 + 3 + j] = x[n * 4 + j]\n}\nfor k = 0 to 3 {\ny[n * 10 + 7 + k] = 1:int8\n}\n}\n"},
      // padding by conditions, by selection, and by parts
      {"int8[12]", "int8[30]",
       "for r = 0 to 5 {\nfor c = 0 to 6 {\nif (1 <= r) & (r <= 3) & (1 <= c) & (c <= 4) {\n"
       "y[r * 6 + c] = x[(r - 1) * 4 + c - 1]\n} else {\ny[r * 6 + c] = 0:int8\n}\n}\n}\n"},
      {"int8[12]", "int8[30]",
       "for r = 0 to 5 reverse {\nfor c = 0 to 6 reverse {\n"
       "y[r * 6 + c] = select((1 <= r) & (r <= 3) & (1 <= c) & (c <= 4), x[(r - 1) * 4 + c - 1], "
       "0:int8)\n"
       "}\n}\n"},
      // nearest neighbours, twice and 5/3 as large, from both ends
      {"int8[8]", "int8[16]", "for i = 0 to 16 reverse {\ny[i] = x[floordiv(i, 2)]\n}\n"},
      {"int8[24]", "int8[60]",
       "for i = 0 to 10 {\nfor j = 0 to 2 {\nfor c = 0 to 3 {\n"
       "y[(i * 2 + j) * 3 + c] = x[(div(i * 3, 5) + j) * 3 + c]\n}\n}\n}\n"},
      // blocks whose end is a minimum
      {"int8[20]", "int8[20]",
       "for b = 0 to 20 step 6 {\nfor i = b to min(b + 6, 20) {\ny[i] = x[19 - i]\n}\n}\n"},
      // a triangle
      {"int8[9]", "int8[9]", "for i = 0 to 9 {\nfor j = i to 9 {\ny[i] = x[j]\n}\n}\n"},
      // windows of several elements
      {"int8[24]", "int8[24]",
       "for i = 0 to 6 {\nlet v: int8p4 = x[i * 4]:int8p4 align 4\ny[i * 4]:int8p4 align 4 = "
       "v\n}\n"},
      // nothing is read after a write; nothing happens
      {"int8[4]", "int8[4]", "let a: int8 = x[3]\ny[0] = a\n"},
      {"int8[4]", "int8[4]", ""},
  };
  for (const Nest& nest : nests) expect_least(nest);
}

TEST(LeastDistance, GivesUpOnData) {
  const auto distances = [](const std::string& body) {
    const Program program = program_of({"int8[9]", "int8[5]", body});
    return std::pair(least_distance(program.kernels[0], "y", "x", Side::kBefore),
                     least_distance(program.kernels[0], "y", "x", Side::kBehind));
  };
  EXPECT_EQ(distances("for i = 0 to 5 {\ny[i] = x[int32(x[i]) & 7]\n}\n"), std::pair(5L - 1, 9L));
  EXPECT_EQ(distances("let n: int32 = 0\nfor i = 0 to 5 {\nn = n + 1\ny[n - 1] = x[i]\n}\n"),
            std::pair(5L - 1, 5L));
}

TEST(LeastDistance, TakesLittleTime) {
  // Too many iterations to look at each, and more corners than the budget has.
  const Nest large = {"int8[1000000000]", "int8[1000000000]",
                      "for i = 0 to 1000000000 {\ny[i] = x[i]\n}\n"};
  EXPECT_EQ(least_distance(program_of(large).kernels[0], "y", "x", Side::kBefore), 0);
  const Nest steps = {"int8[1000000]", "int8[1000000]",
                      "for i = 0 to 999999 {\ny[i] = x[floordiv(i * 3, 7)]\n}\n"};
  EXPECT_EQ(least_distance(program_of(steps).kernels[0], "y", "x", Side::kBefore, 100), 1000000);
}

// A statement of a random nest that stores a constant, as one that moves an element of x.
std::string with_reads(const std::string& body, uint32_t seed) {
  const std::string marks[] = {"{0} * 2 - 5", "20 - ({0})", "floordiv({0} * 5, 3)", "{0}", "7"};
  std::string result;
  size_t at = 0;
  for (size_t count = seed;; ++count) {
    const size_t begin = body.find("y[", at);
    if (begin == std::string::npos) break;
    const size_t end = body.find("] = 1:int8\n", begin);
    const std::string index = body.substr(begin + 2, end - begin - 2);
    const std::string read =
        fmt::format(fmt::runtime(marks[count % std::size(marks)]), "(" + index + ")");
    result += body.substr(at, begin - at);
    result += fmt::format("y[min(max({}, 0), 39)] = x[min(max({}, 0), 29)]\n", index, read);
    at = end + 11;
  }
  return result + body.substr(at);
}

TEST(LeastDistance, IsNeverTooSmallForRandomNests) {
  int64_t exact = 0;
  int64_t compared = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Nest nest = {"int8[30]", "int8[40]", with_reads(RandomNest(seed).body(3), seed)};
    const Program program = program_of(nest);
    for (const Side side : {Side::kBefore, Side::kBehind}) {
      const int64_t derived = least_distance(program.kernels[0], "y", "x", side);
      const int64_t expected = expected_distance(program, side);
      ASSERT_GE(derived, expected) << seed << "\n" << print(program.kernels[0]);
      exact += derived == expected ? 1 : 0;
      ++compared;
    }
  }
  // What is assigned in loops is not followed.
  EXPECT_GT(exact * 10, compared * 8) << exact << " of " << compared;
}

}  // namespace
}  // namespace ingot::loop
