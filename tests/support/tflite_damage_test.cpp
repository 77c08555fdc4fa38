// SPDX-License-Identifier: Apache-2.0
// Damage is done, can be repeated, and covers what it claims to.
#include "tests/support/tflite_damage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/sample_models.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;

TEST(Damage, MutantsVerifyAndCanBeRepeated) {
  const std::unique_ptr<format::ModelT> original = unpack(depthwise_separable().file);
  std::set<std::string> done;
  int64_t unchanged = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    format::ModelT mutant = *original;
    format::ModelT again = *original;
    const std::string what = mutate(mutant, seed);
    EXPECT_EQ(mutate(again, seed), what);
    const std::vector<uint8_t> file = serialize(mutant);
    EXPECT_EQ(serialize(again), file) << what;
    EXPECT_TRUE(verifies(file)) << what;
    if (mutant == *original) ++unchanged;
    done.insert(what.substr(0, what.find_first_of("0123456789-")));
  }
  EXPECT_LT(unchanged, 50);
  EXPECT_GT(done.size(), 40U) << "few kinds of damage";
}

TEST(Damage, EmptyModelsCanBeMutated) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    format::ModelT model;
    EXPECT_FALSE(mutate(model, seed).empty());
    EXPECT_TRUE(verifies(serialize(model)));
  }
}

// Several mutations after each other, as fuzzers do.
TEST(Damage, MutantsCanBeMutated) {
  const std::unique_ptr<format::ModelT> model = unpack(two_branches().file);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string what = mutate(*model, seed);
    EXPECT_TRUE(verifies(serialize(*model))) << what;
  }
}

TEST(Damage, OfBytes) {
  const std::vector<uint8_t> file = {1, 2, 3, 4};
  EXPECT_THAT(truncated(file, 2), ElementsAre(1, 2));
  EXPECT_THAT(truncated(file, 0), ElementsAre());
  EXPECT_THAT(with_bytes(file, 1, {9, 8}), ElementsAre(1, 9, 8, 4));
  EXPECT_THAT(size_prefixed(file), ElementsAre(4, 0, 0, 0, 1, 2, 3, 4));
  EXPECT_EQ(corrupted(file, 5, 1), corrupted(file, 5, 1));
  EXPECT_NE(corrupted(file, 5, 1), file);
  EXPECT_EQ(corrupted(file, 5, 1).size(), file.size());
}

// Cutting a file off makes the verifier refuse it, but for the padding at the end.
TEST(Damage, TruncatedFilesDoNotVerify) {
  const std::vector<uint8_t> file = dense_chain().file;
  int64_t accepted = 0;
  for (int64_t size = 0; size < std::ssize(file); ++size) {
    if (verifies(truncated(file, size))) ++accepted;
  }
  EXPECT_LT(accepted, 16);
}

}  // namespace
}  // namespace ingot::testing
