// SPDX-License-Identifier: Apache-2.0
#include "emit/unused.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot {
namespace {

constexpr const char* kText = R"(/* both(1) is called, fallback too. */
static inline int both(int a) {
  return a;
}

static inline int fallback(int a) {
  return a;
}

static inline int nested(int a) {
#if defined(__ARM_FEATURE_DSP)
  return instruction(a);
#else
  return fallback(a) + both(a); /* under
  conditions */
#endif
}

static void kernel(void) {
  nested(both(2));
}
)";

TEST(Unused, FunctionsThatAreCalledUnderConditionsAlone) {
  EXPECT_THAT(conditional_functions(kText), testing::ElementsAre("fallback"));
  EXPECT_THAT(conditional_functions(""), testing::IsEmpty());
}

TEST(Unused, TheirHeadsGetTheAttribute) {
  const std::string text = with_attribute(kText, {"fallback"}, "KWS_UNUSED");
  EXPECT_THAT(text, testing::HasSubstr("\nstatic inline KWS_UNUSED int fallback(int a) {\n"));
  EXPECT_EQ(text.size(), std::string(kText).size() + std::string("KWS_UNUSED ").size());
  EXPECT_EQ(with_attribute(kText, {}, "KWS_UNUSED"), kText);
}

}  // namespace
}  // namespace ingot
