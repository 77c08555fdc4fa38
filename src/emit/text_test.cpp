// SPDX-License-Identifier: Apache-2.0
#include "emit/text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace ingot {
namespace {

// K15: text of a model ends no comment, and begins no other line.
TEST(Text, CommentsCannotBeLeft) {
  EXPECT_EQ(model_text("conv/w:0 -1.5_a"), "conv/w:0 -1.5_a");
  EXPECT_EQ(model_text("*/ \"x\"\\\n?\?/<\xc3\xa9>"), "_/ _x_____/____");
  EXPECT_EQ(model_text(std::string(5000, 'a')), std::string(60, 'a') + "...");
  EXPECT_EQ(comment_text("x */ y /* z ?\?/"), "x * / y / * z ? ?/");
  EXPECT_EQ(comment_text("a\\\nb"), "a__b");
  EXPECT_EQ(comment_text("**//"), "** //");
}

TEST(Text, LongLinesBreakAfterCommasAtTheLeastDepth) {
  CText out;
  out.open("void f(void)");
  std::string call = "kernel_of_some_length(";
  for (int i = 0; i < 12; ++i) {
    call += (i == 0 ? "" : ", ") + std::string("argument(") + std::to_string(i) + ", 1)";
  }
  out.line(call + ");");
  out.close();
  EXPECT_EQ(
      out.str(),
      "void f(void) {\n"
      "  kernel_of_some_length(argument(0, 1), argument(1, 1), argument(2, 1), argument(3, 1),\n"
      "      argument(4, 1), argument(5, 1), argument(6, 1), argument(7, 1), argument(8, 1),\n"
      "      argument(9, 1), argument(10, 1), argument(11, 1));\n"
      "}\n");
}

TEST(Text, NoLineIsLongerThanTheLimit) {
  CText out;
  out.comment(std::string(300, 'x') + " " + std::string(150, 'y') + " z");
  std::string sum = "x = 0";
  for (int i = 0; i < 100; ++i) sum += " + (a[" + std::to_string(i) + "] * b)";
  out.line(sum + ";");
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace ingot
