// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "support/arithmetic.h"
#include "support/diagnostic.h"
#include "support/file.h"

namespace ingot {
namespace {

TEST(Arithmetic, DivisionRoundsDown) {
  const struct {
    int64_t a, b, quotient, remainder;
  } rows[] = {{7, 3, 2, 1}, {-7, 3, -3, 2}, {-6, 3, -2, 0}, {0, 5, 0, 0}};
  for (const auto& row : rows) {
    EXPECT_EQ(floor_div(row.a, row.b), row.quotient) << row.a;
    EXPECT_EQ(floor_mod(row.a, row.b), row.remainder) << row.a;
  }
  EXPECT_EQ(ceil_div(7, 3), 3);
  EXPECT_EQ(ceil_div(-7, 3), -2);
  EXPECT_EQ(round_up(17, 16), 32);
}

TEST(Arithmetic, ProductsAreChecked) {
  const int64_t wrapping[] = {65536, 65536, 65536, 65536};
  EXPECT_EQ(checked_product(wrapping), std::nullopt);
  const int64_t fine[] = {3, 4};
  EXPECT_EQ(checked_product(fine), 12);
}

TEST(Diagnostic, CodesRoundTrip) {
  for (const Code code : all_codes()) {
    EXPECT_EQ(find_code(spelling(code)), code);
    EXPECT_GT(explanation(code).size(), 40U) << spelling(code);
  }
}

TEST(Diagnostic, QuotedIsSafeToPrint) {
  EXPECT_EQ(quote("a\"b\n\xc3"), "\"a\\\"b\\x0a\\xc3\"");
  EXPECT_LT(quote(std::string(100000, 'x')).size(), 300U);
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "ingot.XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, WrittenWholeAndReadBack) {
  ASSERT_TRUE(write_files(folder_ / "new", {{"a.c", "text"}, {"sub/b.c", ""}}));
  const auto bytes = read_file(folder_ / "new/a.c");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()), "text");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "new/sub/b.c"));
}

TEST_F(Files, FailureLeavesNothing) {
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_FALSE(write_files(folder_, {{"a.c", "text"}, {"file/b.c", "text"}}));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    left.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(left, testing::ElementsAre("file"));
}

TEST_F(Files, RefusesWhatIsNoRegularFileOrTooLarge) {
  EXPECT_EQ(read_file(folder_).error()[0].code, Code::kFileUnreadable);
  EXPECT_EQ(read_file(folder_ / "absent").error()[0].code, Code::kFileUnreadable);
  ASSERT_TRUE(write_files(folder_, {{"a", "12345"}}));
  EXPECT_EQ(read_file(folder_ / "a", 4).error()[0].code, Code::kFileTooLarge);
}

}  // namespace
}  // namespace ingot
