// SPDX-License-Identifier: Apache-2.0
// Every operator of int8, with one tensor whose quantisation is missing or stated per channel: it
// is compiled or refused with a reason, by all commands alike. Nothing may rely on what a file
// leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/compile.h"
#include "exec/reference.h"
#include "import/tflite/import.h"
#include "tests/support/tflite_json.h"

namespace ingot::testing {
namespace {

using nlohmann::json;

struct Row {
  std::string op;
  std::string tensors;  // the last one is the result; those without data are inputs
  std::string options = "{}";
};

constexpr const char* kImage = R"({"name": "x", "dtype": "int8", "shape": [1, 4, 4, 2],
                                   "scale": 0.5, "zero_point": 3})";
constexpr const char* kRow = R"({"name": "x", "dtype": "int8", "shape": [1, 4],
                                 "scale": 0.5, "zero_point": 3})";
constexpr const char* kOtherRow = R"({"name": "z", "dtype": "int8", "shape": [1, 4],
                                      "scale": 0.5, "zero_point": 3})";

std::string list(const std::vector<std::string>& tensors) {
  std::string text = "[";
  for (const std::string& tensor : tensors) text += (text.size() > 1 ? "," : "") + tensor;
  return text + "]";
}
std::string result(const std::string& shape, const std::string& quantization) {
  return R"({"name": "y", "dtype": "int8", "shape": )" + shape + "," + quantization + "}";
}
std::string weights(const std::string& shape) {
  return R"({"name": "w", "dtype": "int8", "scale": 0.1, "zero_point": 0, "data": {"random": 1},
             "shape": )" +
         shape + "}";
}
std::string integers(const std::string& shape, const std::string& data) {
  return R"({"name": "i", "dtype": "int32", "shape": )" + shape + R"(, "data": )" + data + "}";
}

// A list of them, under another name.
std::string numbers(const std::string& name, const std::string& data) {
  const auto count = std::ranges::count(data, ',') + 1;
  return R"({"name": ")" + name + R"(", "dtype": "int32", "shape": [)" + std::to_string(count) +
         R"(], "data": )" + data + "}";
}

std::vector<Row> rows() {
  const std::string same = R"("scale": 0.5, "zero_point": 3)";
  const std::string other = R"("scale": 0.25, "zero_point": -9)";
  const std::string unit = R"("scale": 0.00390625, "zero_point": -128)";
  const std::string bias = R"({"name": "b", "dtype": "int32", "shape": [2], "scale": 0.05,
                               "zero_point": 0, "data": [1, 2]})";
  const std::string image = "[1, 4, 4, 2]";
  const std::string pool = R"({"filter_height": 2, "filter_width": 2, "stride_h": 2,
                               "stride_w": 2, "padding": "VALID"})";
  const std::string window = R"({"padding": "SAME", "stride_h": 1, "stride_w": 1})";
  const std::string deep = R"({"padding": "SAME", "stride_h": 1, "stride_w": 1,
                               "depth_multiplier": 1})";
  const std::string relu = R"({"fused_activation_function": "RELU"})";
  const std::string spread = integers("[4, 2]", "[0, 0, 1, 1, 0, 1, 0, 0]");
  const std::string value = R"({"name": "v", "dtype": "int8", "shape": [1], "scale": 0.5,
                                "zero_point": 3, "data": [7]})";
  const std::string column = R"({"name": "x", "dtype": "int8", "shape": [4, 1], "scale": 0.5,
                                 "zero_point": 3})";
  const std::string other_column = R"({"name": "z", "dtype": "int8", "shape": [4, 1],
                                       "scale": 0.25, "zero_point": -9})";
  const std::string real = R"({"name": "x", "dtype": "float32", "shape": [1, 4]})";
  const std::string real_result = R"({"name": "y", "dtype": "float32", "shape": [1, 4]})";
  const auto binary = [&](const std::string& op, const std::string& options) {
    return Row{op, list({kRow, kOtherRow, result("[1, 4]", other)}), options};
  };
  const auto unary = [&](const std::string& op, const std::string& quantization) {
    return Row{op, list({kRow, result("[1, 4]", quantization)})};
  };
  const std::string conv = list({kImage, weights("[2, 3, 3, 2]"), bias, result(image, other)});
  const std::string depthwise = list({kImage, weights("[1, 3, 3, 2]"), bias, result(image, other)});
  const std::string dense = list({kRow, weights("[2, 4]"), bias, result("[1, 2]", other)});
  return {
      {"CONV_2D", conv, window},
      {"DEPTHWISE_CONV_2D", depthwise, deep},
      {"FULLY_CONNECTED", dense, relu},
      {"AVERAGE_POOL_2D", list({kImage, result("[1, 2, 2, 2]", same)}), pool},
      {"MAX_POOL_2D", list({kImage, result("[1, 2, 2, 2]", same)}), pool},
      binary("ADD", "{}"),
      binary("ADD", relu),
      binary("SUB", "{}"),
      binary("MUL", "{}"),
      unary("LOGISTIC", unit),
      unary("TANH", R"("scale": 0.0078125, "zero_point": 0)"),
      {"SOFTMAX", list({kRow, result("[1, 4]", unit)}), R"({"beta": 1})"},
      unary("RELU", same),
      unary("RELU", other),
      unary("RELU6", same),
      unary("RELU_N1_TO_1", other),
      unary("QUANTIZE", other),
      {"QUANTIZE", list({real, result("[1, 4]", other)})},
      {"DEQUANTIZE", list({kRow, real_result})},
      {"PAD", list({kImage, spread, result("[1, 6, 5, 2]", same)})},
      {"PADV2", list({kImage, spread, value, result("[1, 6, 5, 2]", same)})},
      {"MEAN", list({kImage, integers("[2]", "[1, 2]"), result("[1, 2]", other)})},
      {"RESHAPE", list({kImage, integers("[2]", "[4, 8]"), result("[4, 8]", same)})},
      {"SQUEEZE", list({kImage, result("[4, 4, 2]", same)})},
      {"EXPAND_DIMS", list({kRow, integers("[1]", "[0]"), result("[1, 1, 4]", same)})},
      {"TRANSPOSE", list({kImage, integers("[4]", "[0, 3, 1, 2]"), result("[1, 2, 4, 4]", same)})},
      {"SLICE", list({kImage, integers("[4]", "[0, 1, 0, 0]"), numbers("j", "[1, 2, 4, 1]"),
                      result("[1, 2, 4, 1]", same)})},
      {"STRIDED_SLICE",
       list({kImage, integers("[4]", "[0, 3, 0, 0]"), numbers("j", "[1, -5, 4, 2]"),
             numbers("k", "[1, -2, 1, 1]"), result("[1, 2, 4, 2]", same)})},
      {"SPLIT", list({integers("[]", "1"), kImage, result("[1, 4, 4, 2]", same)}),
       R"({"num_splits": 1})"},
      {"SPLIT_V",
       list({kImage, numbers("j", "[4]"), integers("[]", "1"), result("[1, 4, 4, 2]", same)}),
       R"({"num_splits": 1})"},
      {"UNPACK", list({kRow, result("[4]", same)}), R"({"num": 1, "axis": 0})"},
      {"RESIZE_NEAREST_NEIGHBOR",
       list({kImage, integers("[2]", "[8, 2]"), result("[1, 8, 2, 2]", same)})},
      {"CONCATENATION", list({kRow, kOtherRow, result("[1, 8]", same)}), R"({"axis": 1})"},
      {"CONCATENATION", list({kRow, kOtherRow, result("[1, 8]", other)}),
       R"({"axis": 1, "fused_activation_function": "RELU6"})"},
      {"CONCATENATION", list({column, other_column, result("[4, 2]", same)}), R"({"axis": 1})"},
  };
}

std::vector<uint8_t> model_of(const Row& row, const json& tensors) {
  json model = {{"tensors", tensors}, {"inputs", json::array()}, {"outputs", {"y"}}};
  json operator_inputs = json::array();
  for (const json& tensor : tensors) {
    if (tensor.at("name") == "y") continue;
    operator_inputs.push_back(tensor.at("name"));
    if (!tensor.contains("data")) model["inputs"].push_back(tensor.at("name"));
  }
  model["operators"] = {{{"op", row.op},
                         {"inputs", operator_inputs},
                         {"outputs", {"y"}},
                         {"options", json::parse(row.options)}}};
  return tflite_from_json(model.dump(), "");
}

// Whether it is compiled. What a command refuses is refused by all, for the same reason.
bool is_compiled(const std::vector<uint8_t>& file) {
  bool any = false;
  for (const char* target : {"c99", "cortex-m55"}) {
    CompileOptions options;
    options.name = "m";
    options.target = target;
    const Result<ImportedModel> read = read_model(file, options);
    const Result<Compiled> compiled = compile(file, options);
    EXPECT_EQ(read.has_value(), compiled.has_value());
    if (!compiled) {
      const Diagnostic& fault = compiled.error().front();
      EXPECT_NE(fault.code, Code::kInternal) << fault.what;
      EXPECT_FALSE(fault.where.empty()) << fault.what;
      if (!read) {
        EXPECT_EQ(read.error().front().what, fault.what);
      }
      continue;
    }
    any = true;
    if (!read) continue;
    std::vector<TensorBytes> inputs;
    for (const ValueId id : read->graph.inputs) {
      inputs.emplace_back(static_cast<size_t>(read->graph[id].type.size_bytes()));
    }
    const ReferenceExecutor executor(read->graph, options.rounding);
    EXPECT_EQ(executor.run(inputs).size(), 1U);
  }
  return any;
}

// `tensor` without quantisation, and with that of each dimension's indices.
std::vector<json> variants(const json& tensor) {
  json plain = tensor;
  plain.erase("scale");
  plain.erase("zero_point");
  std::vector<json> all = {plain};
  for (size_t axis = 0; axis < tensor.at("shape").size(); ++axis) {
    const auto count = tensor.at("shape").at(axis).get<size_t>();
    json per_channel = tensor;
    per_channel["scale"] = std::vector<double>(count, tensor.at("scale").get<double>());
    per_channel["zero_point"] = std::vector<int64_t>(count, tensor.at("zero_point").get<int64_t>());
    per_channel["axis"] = axis;
    all.push_back(std::move(per_channel));
  }
  return all;
}

TEST(Quantization, RowsNameEveryOperator) {
  std::vector<std::string> missing;
  for (const std::string& name : supported_tflite_operators()) {
    bool found = false;
    for (const Row& row : rows()) found = found || row.op == name;
    if (!found) missing.push_back(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
}

TEST(Quantization, OneTensorWithoutItOrWithItPerChannel) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.op + row.options);
    const json tensors = json::parse(row.tensors);
    EXPECT_TRUE(is_compiled(model_of(row, tensors)));
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].contains("scale")) continue;
      for (const json& variant : variants(tensors[i])) {
        SCOPED_TRACE(variant.dump());
        json changed = tensors;
        changed[i] = variant;
        is_compiled(model_of(row, changed));
      }
    }
  }
}

// Both inputs of a concatenation, and its result, are quantised or none is.
TEST(Quantization, ConcatenationNeedsIt) {
  for (const Row& row : rows()) {
    if (row.op != "CONCATENATION") continue;
    for (size_t i = 0; i < 3; ++i) {
      json tensors = json::parse(row.tensors);
      tensors[i].erase("scale");
      tensors[i].erase("zero_point");
      const Result<Compiled> compiled = compile(model_of(row, tensors), {.name = "m"});
      ASSERT_FALSE(compiled) << tensors[i];
      EXPECT_EQ(compiled.error().front().code, Code::kOperatorQuantization);
    }
  }
}

}  // namespace
}  // namespace ingot::testing
