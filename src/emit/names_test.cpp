// SPDX-License-Identifier: Apache-2.0
#include "emit/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "emit/reserved_names.h"

namespace ingot {
namespace {

// X03: keywords and names of libraries.
TEST(Names, FollowTheRule) {
  const struct {
    std::string name;
    std::string expected;
  } rows[] = {
      {"input_1", "input_1"},
      {"Identity", "identity"},
      {"layer1.weight", "layer1_weight"},
      {"serving_default_x:0", "serving_default_x_0"},
      {"a  b//c", "a_b_c"},
      {"__x__", "x"},
      {"1234", "t_1234"},
      {"", "t"},
      {":0", "t_0"},
      {"\xc3\xa9", "t"},
      {std::string("a\0b", 3), "a_b"},
      {"*/ int x; /*", "int_x"},
      {"int", "t_int"},
      {"free", "t_free"},
      {"main", "t_main"},
      {"class", "t_class"},
      {"NULL", "t_null"},
      {"I", "i"},
      {"errno", "t_errno"},
      {"INFINITY", "infinity"},
      {"linux", "t_linux"},
      {"_Bool", "t_bool"},
      {"int8_t", "t_int8_t"},
      {std::string(31, 'a'), std::string(31, 'a')},
      {std::string(32, 'a'), std::string(22, 'a') + "_4d504c25"},
      {std::string(22, 'a') + "_2345678901", std::string(22, 'a') + "_1a92be5f"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(c_name(row.name), row.expected) << row.name;
    EXPECT_EQ(NameTable().add(row.name), row.expected) << row.name;
  }
}

// X01, K15.
TEST(Names, OfOneTableDifferAndAreIdentifiers) {
  std::vector<std::string> names = {"a",  "A",       "a_2", "a.",   "a:",   "",        "",
                                    "\n", "int",     "INT", "1",    "1.0",  "t_1",     "t",
                                    "é",  "t_int_2", "é2",  "x y ", "x\ty", "x__y",    "do",
                                    "DO", "Do",      "if",  "or",   "and",  "restrict"};
  for (int i = 0; i < 50; ++i) {
    names.push_back(std::string(5000, 'n'));
    names.push_back(std::string(4999, 'n') + static_cast<char>(i));
    names.push_back("b");
  }
  const std::vector<std::string> result = c_names(names);
  ASSERT_EQ(result.size(), names.size());
  std::set<std::string> seen;
  for (const std::string& name : result) {
    std::string upper = name;
    std::ranges::transform(upper, upper.begin(), [](char c) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    EXPECT_TRUE(seen.insert(upper).second) << name;
    EXPECT_LE(name.size(), 31u) << name;
    EXPECT_FALSE(is_reserved_c_name(name)) << name;
    EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(name.front()))) << name;
    EXPECT_TRUE(std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    })) << name;
    EXPECT_EQ(name.find("__"), std::string::npos) << name;
  }
  EXPECT_EQ(c_names(names), result);
}

TEST(Names, ThatAreTakenGetANumber) {
  const std::vector<std::string> expected = {"a", "a_2", "a_3", "a_2_2"};
  EXPECT_EQ(c_names({"a", "A", "a", "a_2"}), expected);
  NameTable table({"x"});
  EXPECT_EQ(table.add_identifier("x"), "x_2");
  EXPECT_EQ(table.add_identifier("Y"), "Y");
  EXPECT_EQ(table.add_identifier("while"), "t_while");
}

TEST(Names, OfTheSameTextTakeNearLinearTime) {
  const std::vector<std::string> result = c_names(std::vector<std::string>(20000, "same"));
  EXPECT_EQ(result.back(), "same_20000");
}

TEST(Names, ReservedListsAreSorted) {
  EXPECT_TRUE(std::ranges::is_sorted(kReservedNames));
  EXPECT_TRUE(std::ranges::is_sorted(kHeaderNames));
}

TEST(Names, OfModelsComeFromFileNames) {
  const struct {
    std::string file;
    std::string expected;
  } rows[] = {
      {"kws.tflite", "kws"},
      {"/a/b.c/Net-v1.2.onnx", "net_v1_2"},
      {"C:\\models\\net.tflite", "net"},
      {"2nd.tflite", "model_2nd"},
      {".tflite", "model"},
      {"", "model"},
      {"é.onnx", "model"},
      {"math.tflite", "model_math"},
      {"string", "model_string"},
      {"int.onnx", "model_int"},
      {"net_weights.tflite", "net_weights_model"},
      {"net_tvm.tflite", "net_tvm_model"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(model_name(row.file), row.expected) << row.file;
    EXPECT_TRUE(is_model_name(row.expected)) << row.file;
  }
  for (const char* bad : {"", "1a", "_a", "a__b", "a-b", "int", "math", "Math", "a b", "a_", "é",
                          "net_weights", "Net_Weights", "a_tvm", "a_tvm_abi"}) {
    EXPECT_FALSE(is_model_name(bad)) << bad;
  }
  EXPECT_TRUE(is_model_name("MyNet_2"));
  EXPECT_FALSE(is_model_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace ingot
