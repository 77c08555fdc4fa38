// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest.h"

#include <gtest/gtest.h>

namespace ingot::cli {
namespace {

TEST(Nearest, TakesTheFewestChanges) {
  const std::vector<std::string> targets = {"c99", "cortex-m4", "cortex-m7", "rv32imc"};
  const struct {
    const char* word;
    const char* expected;
  } rows[] = {
      {"cortex-m4", "cortex-m4"},
      {"cortx-m4", "cortex-m4"},
      {"corteks-m7", "cortex-m7"},
      {"cortex_m9", "cortex-m4"},
      {"c9", "c99"},
      {"c98", "c99"},
      {"rv23imc", "rv32imc"},
      {"arm", ""},
      {"", ""},
      {"x", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(nearest(row.word, targets), row.expected) << row.word;
  EXPECT_EQ(nearest(std::string(101, 'x'), {std::string(101, 'x')}), "");
  EXPECT_EQ(did_you_mean("cortx-m4", targets), "did you mean \"cortex-m4\"?");
  EXPECT_EQ(did_you_mean("arm", targets), "");
}

}  // namespace
}  // namespace ingot::cli
