// SPDX-License-Identifier: Apache-2.0
// Models described in JSON: what is described is what the file says, and mistakes are reported.
#include "tests/support/tflite_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/tflite_json_data.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<format::ModelT> model_of(const std::string& text) {
  return unpack(tflite_from_json(text, ::testing::TempDir()));
}

TEST(TfliteJson, EqualsTheWriter) {
  const std::string text = R"({
    "description": "a conv",
    "metadata": {"origin": "tests", "blob": {"base64": "AQID"}},
    "tensors": [
      {"name": "x", "dtype": "int8", "shape": [1, 5, 4, 2], "shape_signature": [-1, 5, 4, 2],
       "scale": 0.5, "zero_point": 3},
      {"name": "w", "dtype": "INT8", "shape": [2, 1, 1, 2], "scale": [0.25, 0.125],
       "zero_point": [0, 0], "axis": 0, "data": [[[[1, -2]]], [[[3, -128]]]]},
      {"name": "b", "dtype": "int32", "shape": [2], "scale": [0.125, 0.0625], "axis": 0,
       "data": {"base64": "AQAAAP////8="}},
      {"name": "y", "dtype": "int8", "shape": [1, 3, 4, 2], "scale": 0.75, "zero_point": -4},
      {"name": "z", "dtype": "int8", "shape": [1, 3, 4, 2], "scale": 0.00390625,
       "zero_point": -128}],
    "operators": [
      {"op": "CONV_2D", "version": 3, "inputs": ["x", 1, "b"], "outputs": ["y"],
       "options": {"padding": "SAME", "stride_w": 1, "stride_h": 2,
                   "fused_activation_function": "RELU6"}},
      {"op": "logistic", "version": 2, "inputs": ["y"], "outputs": ["z"]}],
    "inputs": ["x"], "outputs": ["z", "y"]})";

  TfliteWriter w;
  w.description("a conv");
  const int64_t x = w.input("x", {DType::kInt8, {1, 5, 4, 2}, per_tensor(0.5F, 3)}, {-1, 5, 4, 2});
  const int64_t weights =
      w.constant("w", {DType::kInt8, {2, 1, 1, 2}, Quantization{{0.25F, 0.125F}, {0, 0}, 0}},
                 std::vector<int8_t>{1, -2, 3, -128});
  const int64_t bias =
      w.constant("b", {DType::kInt32, {2}, Quantization{{0.125F, 0.0625F}, {0, 0}, 0}},
                 std::vector<int32_t>{1, -1});
  const int64_t y =
      w.conv_2d("y", x, weights, bias, {.stride_h = 2, .activation = Activation::RELU6},
                per_tensor(0.75F, -4));
  w.output(w.logistic("z", y));
  w.output(y);
  w.metadata("blob", Bytes({1, 2, 3}));
  w.metadata("origin", Bytes({'t', 'e', 's', 't', 's'}));
  EXPECT_EQ(*model_of(text), w.model());
}

TEST(TfliteJson, OptionsOfManyOperators) {
  const auto options = [](const std::string& op) {
    const std::unique_ptr<format::ModelT> model = model_of(
        R"({"tensors": [], "inputs": [], "outputs": [], "operators":
            [{"inputs": [-1], "outputs": [], )" +
        op + "}]}");
    return model->subgraphs.at(0)->operators.at(0)->builtin_options;
  };
  const format::BuiltinOptionsUnion pool =
      options(R"("op": "MAX_POOL_2D", "options": {"filter_width": 3, "padding": "VALID"})");
  ASSERT_TRUE(pool.AsPool2DOptions());
  EXPECT_EQ(pool.AsPool2DOptions()->filter_width, 3);
  EXPECT_EQ(pool.AsPool2DOptions()->padding, Padding::VALID);
  const format::BuiltinOptionsUnion mean =
      options(R"("op": "MEAN", "options": {"keep_dims": true})");
  ASSERT_TRUE(mean.AsReducerOptions());
  EXPECT_TRUE(mean.AsReducerOptions()->keep_dims);
  const format::BuiltinOptionsUnion reshape =
      options(R"("op": "RESHAPE", "options": {"new_shape": [1, -1]})");
  ASSERT_TRUE(reshape.AsReshapeOptions());
  EXPECT_THAT(reshape.AsReshapeOptions()->new_shape, ElementsAre(1, -1));
  EXPECT_EQ(options(R"("op": 25)").type, format::BuiltinOptions::SoftmaxOptions);
  EXPECT_EQ(options(R"("op": "ADD", "options": null)").type, format::BuiltinOptions::NONE);
  EXPECT_EQ(options(R"("op": "ADD", "options_type": "MulOptions")").type,
            format::BuiltinOptions::MulOptions);
  EXPECT_EQ(options(R"("op": {"custom": "Mine"}, "custom_options": {"base64": "AQ=="})").type,
            format::BuiltinOptions::NONE);
}

TEST(TfliteJson, Subgraphs) {
  const std::unique_ptr<format::ModelT> model =
      model_of(R"({"version": 2, "opcode_form": "extended",
    "subgraphs": [
      {"tensors": [{"name": "c", "dtype": "bool", "shape": []}], "inputs": ["c"], "outputs": [],
       "operators": [{"op": "IF", "inputs": ["c"], "outputs": [],
                      "options": {"then_subgraph_index": 1, "else_subgraph_index": 2}}]},
      {"name": "then", "tensors": [], "inputs": [], "outputs": [], "operators": []}]})");
  EXPECT_EQ(model->version, 2U);
  EXPECT_EQ(model->operator_codes.at(0)->deprecated_builtin_code, 0);
  ASSERT_EQ(model->subgraphs.size(), 2U);
  EXPECT_EQ(model->subgraphs[1]->name, "then");
  EXPECT_EQ(model->subgraphs[0]->operators[0]->builtin_options.AsIfOptions()->else_subgraph_index,
            2);
}

std::vector<uint8_t> data_of(const std::string& data, format::TensorType type, const Shape& shape) {
  const Bytes bytes = constant_data(nlohmann::json::parse(data), type, shape, ::testing::TempDir());
  return {bytes.view().begin(), bytes.view().end()};
}

TEST(TfliteJson, Data) {
  using Type = format::TensorType;
  EXPECT_THAT(data_of("7", Type::INT8, {}), ElementsAre(7));
  EXPECT_THAT(data_of("[[1], [-2]]", Type::INT16, {2}), ElementsAre(1, 0, 254, 255));
  EXPECT_THAT(data_of("[1.5]", Type::FLOAT32, {1}), ElementsAre(0, 0, 0xC0, 0x3F));
  EXPECT_THAT(data_of("[true, false]", Type::BOOL, {2}), ElementsAre(1, 0));
  EXPECT_THAT(data_of("[]", Type::INT8, {0, 3}), ElementsAre());
  EXPECT_EQ(data_of(R"({"random": 3})", Type::INT8, {4, 5}).size(), 20U);
  EXPECT_EQ(data_of(R"({"random": 3})", Type::FLOAT32, {4, 5}),
            data_of(R"({"random": 3, "low": -1, "high": 1})", Type::FLOAT32, {20}));
}

TEST(TfliteJson, NumPyFiles) {
  std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2), }";
  header.append(118 - header.size() - 1, ' ').append("\n");
  const std::string file =
      std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + std::string("\x05\x00\xFF\xFF", 4);
  std::ofstream(::testing::TempDir() + "ingot_json_test.npy", std::ios::binary) << file;
  const std::string data = R"({"file": "ingot_json_test.npy"})";
  EXPECT_THAT(data_of(data, format::TensorType::INT16, {1, 2}), ElementsAre(5, 0, 255, 255));
  EXPECT_THROW(data_of(data, format::TensorType::INT16, {2}), std::runtime_error);
  EXPECT_THROW(data_of(data, format::TensorType::UINT16, {1, 2}), std::runtime_error);
}

TEST(TfliteJson, Base64) {
  EXPECT_THAT(decode_base64(""), ElementsAre());
  EXPECT_THAT(decode_base64("+/8="), ElementsAre(0xFB, 0xFF));
  EXPECT_THAT(decode_base64("Zm9v"), ElementsAre('f', 'o', 'o'));
  for (const char* wrong : {"A", "AQ==AQ==", "A===", "AQ=A", "A*AA"}) {
    EXPECT_THROW(decode_base64(wrong), std::runtime_error) << wrong;
  }
}

TEST(TfliteJson, MistakesAreReported) {
  const struct {
    std::string tensor, op, message;
  } rows[] = {
      {R"("dtype": "int9", "shape": [])", "", "tensor \"t\": the format has no \"int9\""},
      {R"("dtype": "int8", "shape": [], "scales": 1)", "", "unknown key \"scales\""},
      {R"("dtype": "int8", "shape": [2], "data": [1])", "", "1 numbers, the shape asks for 2"},
      {R"("dtype": "int8", "shape": [], "data": 128)", "", "128 does not fit its dtype"},
      {R"("dtype": "uint8", "shape": [], "data": -1)", "", "-1 does not fit its dtype"},
      {R"("dtype": "int8", "shape": [], "data": 1.5)", "", "1.5 is no integer"},
      {R"("dtype": "int8", "shape": [], "data": {"file": "absent.npy"})", "", "absent.npy"},
      {R"("dtype": "float16", "shape": [], "data": 1)", "", "base64 or a file"},
      {R"("dtype": "int8", "shape": [])", R"("op": "CONV_4D", "inputs": [])",
       "the format has no \"CONV_4D\""},
      {R"("dtype": "int8", "shape": [])", R"("op": "ADD", "inputs": ["u"])",
       "there is no tensor \"u\""},
      {R"("dtype": "int8", "shape": [])", R"("op": "ADD", "inputs": [], "options": {"axis": 1})",
       "unknown field: axis"},
      {R"("dtype": "int8", "shape": [])", R"("op": "TANH", "inputs": [], "options": {"axis": 1})",
       "has no options"},
  };
  for (const auto& row : rows) {
    const std::string op = row.op.empty() ? "" : "{" + row.op + R"(, "outputs": []})";
    const std::string text = R"({"inputs": [], "outputs": [], "tensors": [{"name": "t", )" +
                             row.tensor + R"(}], "operators": [)" + op + "]}";
    try {
      tflite_from_json(text, ::testing::TempDir());
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message));
    }
  }
}

}  // namespace
}  // namespace ingot::testing
