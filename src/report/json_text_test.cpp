// SPDX-License-Identifier: Apache-2.0
#include "report/json_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/elements.h"

namespace ingot {
namespace {

TEST(JsonText, ObjectsInLinesListsInOne) {
  const Json json = {{"z", 1}, {"a", {1, 2, 3}}, {"list", Json::array({{{"x", "y"}}})}, {"e", {}}};
  EXPECT_EQ(to_text(json), R"({
  "z": 1,
  "a": [1, 2, 3],
  "list": [
    {"x": "y"}
  ],
  "e": null
}
)");
}

TEST(JsonText, LongListsAreBroken) {
  Json list = Json::array();
  for (int i = 0; i < 100; ++i) list.push_back(i);
  const std::string text = to_text({{"list", list}});
  EXPECT_EQ(Json::parse(text)["list"], list);
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    EXPECT_LE(end - begin, 100U);
    begin = end + 1;
  }
}

TEST(JsonText, FloatsReadBackExactly) {
  for (const double value : {0.5847029089927673, 1.0 / 3, 1e-40, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(Json::parse(to_text({{"x", value}}))["x"].get<double>(), value);
  }
}

TEST(JsonText, AnyBytesMakeValidJson) {
  const std::string text = to_text({{"name", std::string("\xff\x00\"", 3)}});
  EXPECT_TRUE(Json::accept(text)) << text;
}

TEST(Elements, AsTextAndJson) {
  const std::vector<uint8_t> bytes = {0xFF, 0x00, 0x80, 0x7F};
  EXPECT_EQ(elements_text(DType::kInt8, bytes, 10), "-1 0 -128 127");
  EXPECT_EQ(elements_text(DType::kInt16, bytes, 1), "255 ... (2 elements)");
  EXPECT_EQ(elements_json(DType::kUInt8, bytes), Json({255, 0, 128, 127}));
  EXPECT_EQ(elements_json(DType::kBool, bytes), Json({true, false, true, true}));
}

// The values of IEEE 754's binary16: one, the least subnormal, the greatest, infinity, NaN.
TEST(Elements, Float16) {
  const std::vector<uint8_t> bytes = {0x00, 0x3C, 0x01, 0x80, 0xFF, 0x7B, 0x00, 0xFC, 0x01, 0x7C};
  EXPECT_EQ(elements_json(DType::kFloat16, bytes),
            Json({1.0, -std::ldexp(1.0, -24), 65504.0, "-inf", "nan"}));
}

}  // namespace
}  // namespace ingot
