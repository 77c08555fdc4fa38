// SPDX-License-Identifier: Apache-2.0
// The writer against what it is asked to write, read back from the bytes.
#include "tests/support/tflite_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TensorType int8(const Shape& shape, float scale = 0.5F, int64_t zero_point = 3) {
  return {DType::kInt8, shape, per_tensor(scale, zero_point)};
}

const format::OperatorT& only_operator(const format::ModelT& model) {
  return *model.subgraphs.at(0)->operators.at(0);
}

TEST(TfliteWriter, WritesWhatIsStated) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 4}), {-1, 4});
  const int64_t weights =
      w.constant("weights", {DType::kInt8, {2, 4}, Quantization{{0.25F, 0.125F}, {0, 0}, 0}},
                 std::vector<int8_t>{1, -2, 3, -4, 5, -6, 7, -8});
  w.output(w.fully_connected("y", x, weights, kAbsent, per_tensor(0.125F, -7), Activation::RELU));
  w.metadata("origin", Bytes({1, 2, 3}));
  w.description("two by four");

  const std::unique_ptr<format::ModelT> model = unpack(w.bytes());
  EXPECT_EQ(model->version, 3U);
  EXPECT_EQ(model->description, "two by four");
  ASSERT_EQ(model->subgraphs.size(), 1U);
  const format::SubGraphT& graph = *model->subgraphs[0];
  EXPECT_EQ(graph.name, "main");
  EXPECT_THAT(graph.inputs, ElementsAre(0));
  EXPECT_THAT(graph.outputs, ElementsAre(2));
  ASSERT_EQ(graph.tensors.size(), 3U);
  EXPECT_THAT(graph.tensors[0]->shape_signature, ElementsAre(-1, 4));
  EXPECT_EQ(graph.tensors[0]->type, format::TensorType::INT8);
  EXPECT_THAT(graph.tensors[1]->quantization->scale, ElementsAre(0.25F, 0.125F));
  EXPECT_THAT(model->buffers.at(graph.tensors[1]->buffer)->data,
              ElementsAre(1, 254, 3, 252, 5, 250, 7, 248));
  EXPECT_EQ(graph.tensors[2]->name, "y");
  EXPECT_THAT(graph.tensors[2]->shape, ElementsAre(1, 2));
  EXPECT_THAT(graph.tensors[2]->quantization->zero_point, ElementsAre(-7));
  const format::OperatorT& op = only_operator(*model);
  EXPECT_THAT(op.inputs, ElementsAre(0, 1, -1));
  ASSERT_TRUE(op.builtin_options.AsFullyConnectedOptions());
  EXPECT_EQ(op.builtin_options.AsFullyConnectedOptions()->fused_activation_function,
            Activation::RELU);
  EXPECT_EQ(model->metadata.at(0)->name, "origin");
  EXPECT_THAT(model->buffers.at(model->metadata[0]->buffer)->data, ElementsAre(1, 2, 3));
  EXPECT_THAT(model->buffers.at(0)->data, IsEmpty());
}

TEST(TfliteWriter, EqualCallsGiveEqualBytes) {
  const auto file = [] {
    TfliteWriter w;
    w.output(w.tanh("y", w.input("x", int8({3, 5}))));
    return w.bytes();
  };
  EXPECT_EQ(file(), file());
  EXPECT_EQ(serialize(*unpack(file())), file());
}

TEST(TfliteWriter, OperatorCodesInEachForm) {
  const struct {
    OpcodeForm form;
    BuiltinOperator code;
    int old_field, new_field;
  } rows[] = {
      {OpcodeForm::kBoth, BuiltinOperator::SOFTMAX, 25, 25},
      {OpcodeForm::kBoth, BuiltinOperator::CUMSUM, 127, 128},
      {OpcodeForm::kDeprecatedOnly, BuiltinOperator::SOFTMAX, 25, 0},
      {OpcodeForm::kExtendedOnly, BuiltinOperator::SOFTMAX, 0, 25},
      {OpcodeForm::kExtendedOnly, BuiltinOperator::GELU, 0, 150},
  };
  for (const auto& row : rows) {
    TfliteWriter w(row.form);
    const int64_t x = w.input("x", int8({2}));
    w.op(row.code, {x}, {w.tensor("y", int8({2}))});
    w.op(row.code, {x}, {w.tensor("z", int8({2}))});
    const std::unique_ptr<format::ModelT> model = unpack(w.bytes());
    ASSERT_EQ(model->operator_codes.size(), 1U);
    EXPECT_EQ(model->operator_codes[0]->deprecated_builtin_code, row.old_field);
    EXPECT_EQ(static_cast<int>(model->operator_codes[0]->builtin_code), row.new_field);
  }
}

TEST(TfliteWriter, CustomOperatorsAndSubgraphs) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({2}));
  w.custom("Fourier", {x, kAbsent}, {w.tensor("y", int8({2}))}, {9, 8});
  EXPECT_EQ(w.subgraph("body"), 1);
  EXPECT_EQ(w.input("inner", int8({7})), 0);
  const std::unique_ptr<format::ModelT> model = unpack(w.bytes());
  EXPECT_EQ(model->operator_codes.at(0)->custom_code, "Fourier");
  EXPECT_EQ(model->operator_codes.at(0)->builtin_code, BuiltinOperator::CUSTOM);
  EXPECT_THAT(only_operator(*model).custom_options, ElementsAre(9, 8));
  ASSERT_EQ(model->subgraphs.size(), 2U);
  EXPECT_EQ(model->subgraphs[1]->tensors.at(0)->name, "inner");
}

// The type each operator gives its result.
TEST(TfliteWriter, ResultTypes) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 7, 5, 6}));
  const auto filter = [&](const Shape& shape) { return w.tensor("filter", int8(shape, 0.1F, 0)); };
  const Quantization q = per_tensor(0.25F, -9);
  const auto type = [](const Shape& shape, float scale, int64_t zero_point) {
    return print(int8(shape, scale, zero_point));
  };
  const struct {
    int64_t tensor;
    std::string expected;
  } rows[] = {
      {w.conv_2d("", x, filter({4, 3, 3, 6}), kAbsent, {.stride_h = 2, .stride_w = 3}, q),
       type({1, 4, 2, 4}, 0.25F, -9)},
      {w.conv_2d("", x, filter({9, 3, 2, 2}), kAbsent,
                 {.stride_h = 2, .dilation_h = 2, .padding = Padding::VALID}, std::nullopt),
       type({1, 2, 4, 9}, 0.5F, 3)},
      {w.depthwise_conv_2d("", x, filter({1, 3, 3, 12}), kAbsent, {.padding = Padding::VALID}, q),
       type({1, 5, 3, 12}, 0.25F, -9)},
      {w.fully_connected("", x, filter({8, 6}), kAbsent, q), type({35, 8}, 0.25F, -9)},
      {w.fully_connected("", x, filter({8, 6}), kAbsent, q, Activation::NONE, true),
       type({1, 7, 5, 8}, 0.25F, -9)},
      {w.average_pool_2d("", x, {.filter_h = 3, .filter_w = 2, .stride_h = 2, .stride_w = 1}),
       type({1, 3, 4, 6}, 0.5F, 3)},
      {w.max_pool_2d("", x, {.filter_h = 7, .filter_w = 5, .padding = Padding::SAME}),
       type({1, 7, 5, 6}, 0.5F, 3)},
      {w.add("", x, w.tensor("b", int8({5, 1})), q), type({1, 7, 5, 6}, 0.25F, -9)},
      {w.sub("", w.tensor("a", int8({6})), x, q), type({1, 7, 5, 6}, 0.25F, -9)},
      {w.mul("", x, w.tensor("b", int8({})), q), type({1, 7, 5, 6}, 0.25F, -9)},
      {w.pad("", x, {{0, 0}, {1, 2}, {0, 3}, {0, 0}}), type({1, 10, 8, 6}, 0.5F, 3)},
      {w.mean("", x, {1, -2}, false, q), type({1, 6}, 0.25F, -9)},
      {w.mean("", x, {1, 2}, true, q), type({1, 1, 1, 6}, 0.25F, -9)},
      {w.reshape("", x, {-1, 10}), type({21, 10}, 0.5F, 3)},
      {w.squeeze("", x, {}), type({7, 5, 6}, 0.5F, 3)},
      {w.squeeze("", x, {-4}), type({7, 5, 6}, 0.5F, 3)},
      {w.expand_dims("", x, -1), type({1, 7, 5, 6, 1}, 0.5F, 3)},
      {w.expand_dims("", x, 1), type({1, 1, 7, 5, 6}, 0.5F, 3)},
      {w.concatenation("", {x, x, w.tensor("c", int8({1, 7, 2, 6}))}, 2),
       type({1, 7, 12, 6}, 0.5F, 3)},
      {w.softmax("", x), type({1, 7, 5, 6}, 1.0F / 256, -128)},
      {w.logistic("", x), type({1, 7, 5, 6}, 1.0F / 256, -128)},
      {w.tanh("", x), type({1, 7, 5, 6}, 1.0F / 128, 0)},
      {w.relu("", x, q), type({1, 7, 5, 6}, 0.25F, -9)},
      {w.relu6("", x, std::nullopt), type({1, 7, 5, 6}, 0.5F, 3)},
      {w.relu_n1_to_1("", x, q), type({1, 7, 5, 6}, 0.25F, -9)},
      {w.quantize("", x, DType::kInt16, per_tensor(0.5F, 0)),
       "int16[1,7,5,6] scale 0.5 zero_point 0"},
      {w.dequantize("", x), "float32[1,7,5,6]"},
  };
  for (const auto& row : rows) EXPECT_EQ(print(w.type_of(row.tensor)), row.expected);
  EXPECT_TRUE(verifies(w.bytes()));
  EXPECT_EQ(w.graph().operators.size(), std::size(rows));
}

TEST(TfliteWriter, AnyFieldCanBeChanged) {
  TfliteWriter w;
  w.output(w.softmax("y", w.input("x", int8({2, 3}))));
  w.tensor_at(0).buffer = 9999;
  w.last_operator().builtin_options.AsSoftmaxOptions()->beta = -1.0F;
  w.model().version = 2;
  const std::unique_ptr<format::ModelT> model = unpack(w.bytes());
  EXPECT_EQ(model->version, 2U);
  EXPECT_EQ(model->subgraphs[0]->tensors[0]->buffer, 9999U);
  EXPECT_EQ(only_operator(*model).builtin_options.AsSoftmaxOptions()->beta, -1.0F);
}

TEST(TfliteWriter, ConstantsAreAlignedTo16Bytes) {
  TfliteWriter w;
  w.constant("a", int8({3}), std::vector<int8_t>{1, 2, 3});
  w.constant("b", int8({5}), std::vector<int8_t>{1, 2, 3, 4, 5});
  const std::vector<uint8_t> file = w.bytes();
  for (const format::Buffer* buffer : *format::GetModel(file.data())->buffers()) {
    if (!buffer->data()) continue;
    EXPECT_EQ((buffer->data()->data() - file.data()) % 16, 0);
  }
}

// Computed apart, with unbounded integers, from the published definition of the generator.
TEST(Random, SameNumbersOnEveryPlatform) {
  Random random(1);
  EXPECT_THAT(std::vector<uint32_t>({random.next(), random.next(), random.next()}),
              ElementsAre(1412771199U, 1791099446U, 124312908U));
  EXPECT_NE(Random(2).next(), Random(1).next());
}

TEST(Random, KeepsToItsRange) {
  Random random(7);
  int64_t lowest_seen = 100;
  int64_t highest_seen = -100;
  for (int i = 0; i < 1000; ++i) {
    const int64_t number = random.integer(-3, 4);
    lowest_seen = std::min(lowest_seen, number);
    highest_seen = std::max(highest_seen, number);
    const float real = random.real(-0.5F, 2.0F);
    EXPECT_TRUE(-0.5F <= real && real <= 2.0F);
  }
  EXPECT_EQ(lowest_seen, -3);
  EXPECT_EQ(highest_seen, 4);
}

}  // namespace
}  // namespace ingot::testing
