// SPDX-License-Identifier: Apache-2.0
#include "plan/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot::plan {
namespace {

using testing::HasSubstr;

TEST(Csv, ReadsWhatMiniMallocReads) {
  const char* texts[] = {
      "id,lower,upper,size\nb1,0,3,4\nb2,3,9,5\n",
      "id,lower,upper,size\r\nb1,0,3,4\r\n\r\nb2,3,9,5",
      " size , upper,lower,id \n4,3,0,b1\n 5,9, 3 ,b2 \n",
      "\xef\xbb\xbfid,lower,upper,size,hint,gaps,alignment\nb1,0,3,4,-1,,\nb2,3,9,5,0,,1\n",
  };
  for (const char* text : texts) {
    const Result<CsvProblem> csv = read_csv(text);
    ASSERT_TRUE(csv) << text;
    EXPECT_EQ(write_csv(csv->problem), "id,lower,upper,size\nb1,0,3,4\nb2,3,9,5\n");
  }
}

TEST(Csv, PlansRoundTrip) {
  const char* text = "id,lower,upper,size,alignment,fixed,offset\na,0,3,4,4,,8\nb,1,3,4,1,12,12\n";
  const Result<CsvProblem> csv = read_csv(text);
  ASSERT_TRUE(csv);
  Plan plan;
  plan.offsets = csv->offsets;
  EXPECT_EQ(write_csv(csv->problem, &plan), text);
}

TEST(Csv, SaysWhatIsWrong) {
  const struct {
    std::string text;
    const char* what;
  } rows[] = {
      {"", "there is no header line"},
      {"id,lower,upper\n", "there is no column \"size\""},
      {"id,id,lower,upper,size\n", "column \"id\" occurs twice"},
      {"id,lower,upper,size,colour\n", "unknown column \"colour\""},
      {"id,lower,upper,size\na,0,1\n", "3 fields, the header has 4"},
      {"id,lower,upper,size\na,0,1,x\n", "\"x\" is not an integer"},
      {"id,lower,upper,size\na,0,1,\n", "\"\" is not an integer"},
      {"id,lower,upper,size\na,0,1,0x10\n", "\"0x10\" is not an integer"},
      {"id,lower,upper,size\na,0,1,99999999999999999999\n", "is out of range"},
      {"id,lower,upper,size\na,0,1,-4\n", "\"a\" has a negative size"},
      {"id,lower,upper,size\na,5,1,4\n", "\"a\" dies before it is born"},
      {"id,lower,upper,size\na,0,1,4\na,0,1,4\n", "id \"a\" occurs twice"},
      {"id,lower,upper,size,gaps\na,0,9,4,2-3\n", "gaps in their lifetime"},
      {"id,lower,upper,size\na,0,1,9223372036854775807\nb,0,1,4\n", "\"a\" is too large"},
      {std::string("\0\0,", 3), "unknown column"},
  };
  for (const auto& row : rows) {
    const Result<CsvProblem> csv = read_csv(row.text);
    ASSERT_FALSE(csv) << row.text;
    EXPECT_THAT(csv.error().front().what, HasSubstr(row.what));
  }
}

TEST(Csv, NamesTheLineOfEachFault) {
  const Result<CsvProblem> csv =
      read_csv("id,lower,upper,size\na,5,1,4\nb,0,1,4\nc,0,1,-4\nd,0,4611686018427387905,1\n");
  ASSERT_FALSE(csv);
  ASSERT_EQ(csv.error().size(), 3U);
  EXPECT_EQ(csv.error()[0].where, "line 2");
  EXPECT_EQ(csv.error()[0].what, "\"a\" dies before it is born");
  EXPECT_EQ(csv.error()[1].where, "line 4");
  EXPECT_EQ(csv.error()[2].what, "\"d\" lives at a time point out of range");
}

TEST(Csv, ReportsAtMostTenLines) {
  std::string text = "id,lower,upper,size\n";
  for (int i = 0; i < 1000; ++i) text += "x\n";
  EXPECT_EQ(read_csv(text).error().size(), 10U);
}

}  // namespace
}  // namespace ingot::plan
