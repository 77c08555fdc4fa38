// SPDX-License-Identifier: Apache-2.0
#include "target/target.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ingot {
namespace {

TEST(Targets, AreThoseOfTheCommandLine) {
  const std::vector<std::string> expected = {
      "c99",        "cortex-m0plus", "cortex-m4", "cortex-m7", "cortex-m33",
      "cortex-m55", "rv32imc",       "aarch64",   "x86-64-v3", "x86-64-avx512vnni"};
  std::vector<std::string> names;
  for (const Target& target : all_targets()) {
    names.push_back(target.name);
    EXPECT_EQ(find_target(target.name), &target);
    EXPECT_NE(std::ranges::find(target.compile_flags, "-O2"), target.compile_flags.end());
    EXPECT_EQ(target.is_portable(), target.name == "c99");
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(find_target("cortex-m99"), nullptr);
  EXPECT_EQ(find_target("c99")->compile_flags, std::vector<std::string>{"-O2"});
}

TEST(Targets, HaveTheFeaturesOfTheirCores) {
  EXPECT_FALSE(find_target("cortex-m0plus")->features.has_dsp);
  EXPECT_TRUE(find_target("cortex-m4")->features.has_dsp);
  EXPECT_TRUE(find_target("cortex-m55")->features.has_mve);
  EXPECT_FALSE(find_target("rv32imc")->features.has_unaligned_access);
  EXPECT_TRUE(find_target("x86-64-avx512vnni")->features.has_avx512_vnni);
}

}  // namespace
}  // namespace ingot
