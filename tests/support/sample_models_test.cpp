// SPDX-License-Identifier: Apache-2.0
// The sample networks are well-formed and are what their names say.
#include "tests/support/sample_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/sample_network.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

std::vector<SampleModel> all_models() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  return models;
}

format::SubGraphT graph_of(const SampleModel& model) { return *unpack(model.file)->subgraphs[0]; }

int64_t bytes_of(const format::SubGraphT& graph, int32_t index) {
  const format::TensorT& tensor = *graph.tensors.at(static_cast<size_t>(index));
  const Shape shape(tensor.shape.begin(), tensor.shape.end());
  return TensorType{*to_dtype(tensor.type), shape, std::nullopt}.size_bytes();
}

TEST(SampleModels, NamesAreUniqueAndBytesReproducible) {
  std::set<std::string> names;
  const std::vector<SampleModel> first = all_models();
  const std::vector<SampleModel> second = all_models();
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(names.insert(first[i].name).second) << first[i].name;
    EXPECT_EQ(first[i].file, second[i].file) << first[i].name;
  }
  EXPECT_EQ(names.size(), 26U);
}

// Operators read what was made before them, write each tensor once, and every tensor is used.
TEST(SampleModels, AreInOrderAndComplete) {
  for (const SampleModel& model : all_models()) {
    SCOPED_TRACE(model.name);
    const std::unique_ptr<format::ModelT> whole = unpack(model.file);
    const format::SubGraphT& graph = *whole->subgraphs.at(0);
    std::set<int32_t> known(graph.inputs.begin(), graph.inputs.end());
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      const uint32_t buffer = graph.tensors[i]->buffer;
      if (buffer == 0) continue;
      known.insert(static_cast<int32_t>(i));
      EXPECT_EQ(std::ssize(whole->buffers.at(buffer)->data),
                bytes_of(graph, static_cast<int32_t>(i)));
    }
    std::set<int32_t> read(graph.outputs.begin(), graph.outputs.end());
    for (const auto& op : graph.operators) {
      for (const int32_t input : op->inputs) {
        if (input == -1) continue;
        EXPECT_TRUE(known.contains(input)) << input;
        read.insert(input);
      }
      for (const int32_t output : op->outputs) EXPECT_TRUE(known.insert(output).second) << output;
    }
    EXPECT_EQ(known.size(), graph.tensors.size());
    EXPECT_EQ(read.size(), graph.tensors.size());
  }
}

// Zero points that are 0 hide mistakes; only weights, biases, tanh and types wider than int8 have
// them.
TEST(SampleModels, ZeroPointsAreNotZero) {
  for (const SampleModel& model : all_models()) {
    SCOPED_TRACE(model.name);
    const format::SubGraphT graph = graph_of(model);
    for (const auto& tensor : graph.tensors) {
      const bool inner = tensor->buffer == 0 && tensor->type == format::TensorType::INT8;
      if (!inner || tensor->name == "value") continue;
      ASSERT_EQ(tensor->quantization->zero_point.size(), 1U) << tensor->name;
      EXPECT_NE(tensor->quantization->zero_point[0], 0) << tensor->name;
    }
  }
}

// What a dense layer of SampleNetwork computes on even noise: it fills the range of int8, and few
// of its results saturate.
TEST(SampleNetwork, LayersFillTheirRange) {
  int64_t saturated = 0;
  int64_t all = 0;
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SampleNetwork net(seed);
    TfliteWriter& w = net.writer();
    const int64_t x = net.input("x", {1, 37});
    const TensorType y = w.type_of(net.dense("y", x, 50));
    const format::OperatorT& op = w.last_operator();
    const auto constant = [&](size_t input) {
      return Bytes(w.model().buffers.at(w.tensor_at(op.inputs[input]).buffer)->data);
    };
    const std::vector<int8_t> weights = constant(1).as<int8_t>();
    const std::vector<int32_t> bias = constant(2).as<int32_t>();
    const double scale = double{w.type_of(x).scale()} * w.type_of(op.inputs[1]).scale();
    const std::vector<int8_t> noise = net.random().integers<int8_t>(37, -128, 127);
    for (size_t unit = 0; unit < 50; ++unit) {
      int64_t sum = bias[unit];
      for (size_t i = 0; i < 37; ++i) {
        sum += (noise[i] - w.type_of(x).zero_point()) * weights[unit * 37 + i];
      }
      const double real = static_cast<double>(sum) * scale / double{y.scale()};
      const int64_t rounded = std::lround(real) + y.zero_point();
      if (rounded < -128 || rounded > 127) ++saturated;
      seen.insert(rounded);
      ++all;
    }
  }
  EXPECT_LT(saturated, all / 10);
  EXPECT_GT(saturated, 0);
  EXPECT_GT(seen.size(), 200U);
}

TEST(SampleModels, UseEveryOperatorOfTheWriter) {
  std::set<BuiltinOperator> used;
  for (const SampleModel& model : all_models()) {
    const std::unique_ptr<format::ModelT> whole = unpack(model.file);
    for (const auto& code : whole->operator_codes) used.insert(code->builtin_code);
  }
  using Op = BuiltinOperator;
  for (const Op code : {Op::ADD,
                        Op::AVERAGE_POOL_2D,
                        Op::CONCATENATION,
                        Op::CONV_2D,
                        Op::DEPTHWISE_CONV_2D,
                        Op::DEQUANTIZE,
                        Op::EXPAND_DIMS,
                        Op::FULLY_CONNECTED,
                        Op::LOGISTIC,
                        Op::MAX_POOL_2D,
                        Op::MEAN,
                        Op::MUL,
                        Op::PAD,
                        Op::QUANTIZE,
                        Op::RELU,
                        Op::RELU6,
                        Op::RELU_N1_TO_1,
                        Op::RESHAPE,
                        Op::RESIZE_NEAREST_NEIGHBOR,
                        Op::SLICE,
                        Op::SOFTMAX,
                        Op::SPLIT,
                        Op::SPLIT_V,
                        Op::SQUEEZE,
                        Op::STRIDED_SLICE,
                        Op::SUB,
                        Op::TANH,
                        Op::TRANSPOSE,
                        Op::UNPACK}) {
    EXPECT_TRUE(used.contains(code)) << format::EnumNameBuiltinOperator(code);
  }
}

TEST(SampleModels, GuaranteesAreWhatTheirNamesSay) {
  const auto reads = [](const format::SubGraphT& graph, int32_t tensor) {
    int64_t count = 0;
    for (const auto& op : graph.operators) {
      count += std::count(op->inputs.begin(), op->inputs.end(), tensor);
    }
    return count;
  };
  for (const SampleModel& model :
       {narrow_output_after_int16(), narrow_output_after_int32(), narrow_output_after_float()}) {
    const format::SubGraphT graph = graph_of(model);
    EXPECT_GT(bytes_of(graph, graph.operators.back()->inputs[0]), bytes_of(graph, graph.outputs[0]))
        << model.name;
  }
  const format::SubGraphT early = graph_of(output_read_later());
  EXPECT_EQ(reads(early, early.outputs.at(0)), 2);
  const format::SubGraphT returned = graph_of(input_is_output());
  EXPECT_EQ(returned.outputs.at(1), returned.inputs.at(0));
  const format::SubGraphT twice = graph_of(same_output_twice());
  EXPECT_EQ(twice.outputs.at(0), twice.outputs.at(2));
  const format::SubGraphT sizes = graph_of(outputs_of_different_sizes());
  EXPECT_EQ(bytes_of(sizes, sizes.outputs.at(0)), 2);
  EXPECT_EQ(bytes_of(sizes, sizes.outputs.at(1)), 315);
  const format::SubGraphT fixed = graph_of(constant_output());
  EXPECT_NE(fixed.tensors.at(static_cast<size_t>(fixed.outputs.at(1)))->buffer, 0U);
  const format::SubGraphT of_input = graph_of(output_is_view_of_input());
  EXPECT_EQ(of_input.operators.at(0)->inputs[0], of_input.inputs.at(0));
  EXPECT_EQ(of_input.operators.at(0)->outputs[0], of_input.outputs.at(0));
  const format::SubGraphT of_output = graph_of(output_is_view_of_output());
  EXPECT_EQ(of_output.operators.back()->inputs[0], of_output.outputs.at(0));
  const format::SubGraphT joined = graph_of(output_in_concatenation());
  EXPECT_EQ(reads(joined, joined.outputs.at(0)), 2);
}

}  // namespace
}  // namespace ingot::testing
