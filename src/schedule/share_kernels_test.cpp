// SPDX-License-Identifier: Apache-2.0
// Kernels that differ in literals only: merged as text, equal in value, apart where they must be.
#include "schedule/share_kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace ingot {
namespace {

using testing::HasSubstr;

loop::Program parse(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) throw std::runtime_error(program.error()[0].what);
  return *std::move(program);
}

// Two kernels over int32[8], called one after the other, with these bodies.
loop::Program two_kernels(const std::string& first, const std::string& second) {
  return parse(
      fmt::format("program net\n"
                  "buffer x int32[8] input align 4 tensor \"x\" type int32[8]\n"
                  "buffer y int32[8] output align 4 tensor \"y\" type int32[8]\n"
                  "buffer t int32[8] arena align 4 offset 0\n"
                  "function twice(n: int32, extra: int32) -> int32 \"\" {{\n"
                  "  return n * 2 + extra\n"
                  "}}\n"
                  "kernel a(x: int32[8] read align 4, y: int32[8] write align 4) \"\" {{\n"
                  "  for i = 0 to 8 {{ {} }}\n"
                  "}}\n"
                  "kernel b(x: int32[8] read align 4, y: int32[8] write align 4) \"\" {{\n"
                  "  for i = 0 to 8 {{ {} }}\n"
                  "}}\n"
                  "run {{\n"
                  "  call a(x, t)\n"
                  "  call b(t, y)\n"
                  "}}\n",
                  first, second));
}

std::vector<std::vector<uint8_t>> run(const loop::Program& program) {
  std::vector<uint8_t> x(32, 0);
  for (size_t i = 0; i < 8; ++i) x[4 * i] = static_cast<uint8_t>(10 * i);
  const std::vector<std::vector<uint8_t>> inputs = {x};
  return loop::interpret(program, inputs);
}

TEST(ShareKernels, PassesWhatDiffersAndKeepsWhatDoesNot) {
  const loop::Program program =
      two_kernels("y[i] = min(twice(x[i] + 5, 7), 100)", "y[i] = min(twice(x[i] + 5, -9), 90)");
  const loop::Program shared = share_kernels(program);
  ASSERT_EQ(shared.kernels.size(), 1U);
  EXPECT_EQ(loop::print(shared.kernels[0]),
            "kernel a(x: int32[8] read align 4, y: int32[8] write align 4; extra: int32, "
            "highest: int32) \"\" {\n"
            "  for i = 0 to 8 {\n"
            "    y[i] = min(twice(x[i] + 5, extra), highest)\n"
            "  }\n"
            "}\n");
  const std::string text = loop::print(shared);
  EXPECT_THAT(text, HasSubstr("call a(x, t; 7, 100)"));
  EXPECT_THAT(text, HasSubstr("call a(t, y; -9, 90)"));
  EXPECT_EQ(run(shared), run(program));
  EXPECT_THAT(loop::find_faults(shared), testing::IsEmpty());
  EXPECT_TRUE(loop::equal(parse(text), shared));
}

TEST(ShareKernels, OneScalarForLiteralsThatAreAlwaysEqual) {
  const loop::Program program =
      two_kernels("let k: int32 = 3 y[i] = x[i] * k + 3", "let k: int32 = 4 y[i] = x[i] * k + 4");
  const loop::Program shared = share_kernels(program);
  ASSERT_EQ(shared.kernels.size(), 1U);
  EXPECT_EQ(shared.kernels[0].scalars.size(), 1U);
  EXPECT_EQ(run(shared), run(program));
}

TEST(ShareKernels, TypesAreNotMixed) {
  const loop::Program program = two_kernels("y[i] = int32(min(int64(x[i]), 3:int64))",
                                            "y[i] = int32(min(int64(x[i]), 4:int64))");
  const loop::Program shared = share_kernels(program);
  ASSERT_EQ(shared.kernels.size(), 1U);
  EXPECT_EQ(shared.kernels[0].scalars[0].type, loop::kInt64);
  EXPECT_EQ(run(shared), run(program));
}

TEST(ShareKernels, LiteralsThatReachAnIndexKeepKernelsApart) {
  const loop::Program indexed =
      two_kernels("let k: int32 = 3 y[i] = x[k] + i", "let k: int32 = 4 y[i] = x[k] + i");
  EXPECT_TRUE(loop::equal(share_kernels(indexed), indexed));
  // A group that cannot be merged does not keep another apart.
  loop::Program both = two_kernels("y[i] = x[i] + 3", "y[i] = x[i] + 4");
  both.kernels.insert(both.kernels.end(), indexed.kernels.begin(), indexed.kernels.end());
  both.kernels[2].name = "c";
  both.kernels[3].name = "d";
  EXPECT_EQ(share_kernels(both).kernels.size(), 3U);
}

TEST(ShareKernels, OtherBoundsOrConditionsAreOtherKernels) {
  const loop::Program bounds =
      two_kernels("for k = 0 to 2 { y[i] = x[i] + 1 }", "for k = 0 to 3 { y[i] = x[i] + 1 }");
  EXPECT_TRUE(loop::equal(share_kernels(bounds), bounds));
  const loop::Program conditions = two_kernels("if i < 2 { y[i] = x[i] } else { y[i] = 0 }",
                                               "if i < 3 { y[i] = x[i] } else { y[i] = 0 }");
  EXPECT_TRUE(loop::equal(share_kernels(conditions), conditions));
}

}  // namespace
}  // namespace ingot
