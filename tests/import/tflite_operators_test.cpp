// SPDX-License-Identifier: Apache-2.0
// What each operator of a .tflite model becomes, as text. Where a row does not concern inference,
// the shapes that the file states are believed.
#include <functional>

#include "import/tflite/operators.h"
#include "tests/import/import_testing.h"
#include "tests/import/small_models.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The statement in the graph's text that yields `y`, without `y: TYPE = `.
std::string statement(const Graph& graph, const std::string& name = "y") {
  const std::string text = "\n" + print(graph);
  const size_t begin = text.find("\n" + name + ": ");
  if (begin == std::string::npos) return text;
  const size_t equals = text.find(" = ", begin);
  return text.substr(equals + 3, text.find('\n', equals) - equals - 3);
}

struct Row {
  Build build;
  const char* statement;
};

void expect_statements(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(statement(imported(model_of(row.build))), std::string(row.statement) + " sources 0");
  }
}

TEST(TfliteOperators, WindowsBecomeExplicit) {
  const auto conv = [](Shape x, Shape filter, Window window) {
    return [=](TfliteWriter& w) {
      const int64_t input = w.input("x", int8_type(x));
      return w.conv_2d("y", input, weights(w, filter), kAbsent, window, kY);
    };
  };
  const auto depthwise = [](Shape x, Shape filter, Window window) {
    return [=](TfliteWriter& w) {
      const int64_t input = w.input("x", int8_type(x));
      return w.depthwise_conv_2d("y", input, weights(w, filter), bias(w, filter[3]), window, kY);
    };
  };
  const auto pool = [](bool is_max, Pool options) {
    return [=](TfliteWriter& w) {
      const int64_t x = w.input("x", int8_type({1, 5, 4, 2}));
      return is_max ? w.max_pool_2d("y", x, options) : w.average_pool_2d("y", x, options);
    };
  };
  expect_statements({
      {conv({1, 5, 4, 2}, {3, 3, 2, 2}, {.padding = Padding::VALID}), "conv_2d x, w, _"},
      {conv({1, 5, 4, 2}, {3, 3, 2, 2}, {.stride_h = 2, .stride_w = 3}),
       "conv_2d(stride_h=2, stride_w=3, padding={1,1,0,1}) x, w, _"},
      {conv({1, 5, 4, 2}, {3, 3, 2, 2}, {.dilation_h = 2, .dilation_w = 3}),
       "conv_2d(dilation_h=2, dilation_w=3, padding={2,2,1,2}) x, w, _"},
      // A stride beyond the kernel: no padding is negative.
      {conv({1, 7, 7, 2}, {3, 1, 1, 2}, {.stride_h = 4, .stride_w = 3}),
       "conv_2d(stride_h=4, stride_w=3) x, w, _"},
      {conv({1, 3, 3, 6}, {4, 1, 1, 2}, {}), "conv_2d(groups=3) x, w, _"},
      {depthwise({1, 5, 4, 2}, {1, 3, 3, 4}, {.stride_h = 2, .stride_w = 2}),
       "depthwise_conv_2d(stride_h=2, stride_w=2, padding={1,1,0,1}) x, w, b"},
      {pool(true, {3, 2, 2, 2, Padding::SAME}),
       "pool_2d(kind=max, kernel_h=3, kernel_w=2, stride_h=2, stride_w=2, padding={1,1,0,0}) x"},
      {pool(false, {5, 4, 1, 1, Padding::VALID}),
       "pool_2d(kind=average, kernel_h=5, kernel_w=4) x"},
  });
}

TEST(TfliteOperators, Elementwise) {
  const auto x = [](TfliteWriter& w) { return w.input("x", int8_type({2, 3})); };
  const auto z = [](TfliteWriter& w) { return w.input("z", int8_type({3}, kY)); };
  expect_statements({
      {[=](auto& w) { return w.add("y", x(w), z(w), kY); }, "binary(kind=add) x, z"},
      {[=](auto& w) { return w.sub("y", x(w), z(w), kY); }, "binary(kind=sub) x, z"},
      {[=](auto& w) { return w.mul("y", x(w), z(w), kY); }, "binary(kind=mul) x, z"},
      {[=](auto& w) { return w.logistic("y", x(w)); }, "unary(kind=logistic) x"},
      {[=](auto& w) { return w.tanh("y", x(w)); }, "unary(kind=tanh) x"},
      {[=](auto& w) { return w.softmax("y", x(w), 0.5F); }, "softmax(beta=0.5) x"},
      {[=](auto& w) { return w.quantize("y", x(w), DType::kInt8, kY); }, "requantize x"},
      {[=](auto& w) { return w.dequantize("y", x(w)); }, "dequantize x"},
      {[=](auto& w) { return w.quantize("y", w.input("x", float_type({2})), DType::kInt8, kY); },
       "quantize x"},
      {[=](auto& w) {
         return w.concatenation("y", {x(w), x(w)}, -1);
       },
       "concat(axis=1) x, x_1"},
  });
}

// Which of TFLite's kernels for float inputs and int8 weights a layer gets: their inputs are
// quantised with a zero point or without.
TEST(TfliteOperators, HybridLayers) {
  const Quantization channels{{0.5F, 0.25F}, {0, 0}, 0};
  const Quantization last{{0.5F, 0.25F}, {0, 0}, 3};
  const auto filter = [](TfliteWriter& w, const Shape& shape, const Quantization& q) {
    const TensorType type = int8_type(shape, q);
    return w.constant("w", type, std::vector<int8_t>(static_cast<size_t>(type.num_elements()), 1));
  };
  const auto image = [](TfliteWriter& w) { return w.input("x", float_type({1, 2, 2, 2})); };
  const Quantization whole = per_tensor(0.5F, 0);
  const Window valid{.padding = Padding::VALID};
  const auto dense = [=](TfliteWriter& w, bool asymmetric) {
    const int64_t y = w.fully_connected("y", w.input("x", float_type({1, 3})), weights(w, {4, 3}),
                                        kAbsent, std::nullopt);
    w.last_operator().builtin_options.AsFullyConnectedOptions()->asymmetric_quantize_inputs =
        asymmetric;
    return y;
  };
  expect_statements({
      {[=](auto& w) { return dense(w, false); }, "fully_connected x, w, _"},
      {[=](auto& w) { return dense(w, true); }, "fully_connected(asymmetric_inputs=true) x, w, _"},
      {[=](auto& w) {
         return w.conv_2d("y", image(w), filter(w, {2, 1, 1, 2}, whole), kAbsent, valid, {});
       },
       "conv_2d x, w, _"},
      {[=](auto& w) {
         return w.conv_2d("y", image(w), filter(w, {2, 1, 1, 2}, channels), kAbsent, valid, {});
       },
       "conv_2d(asymmetric_inputs=true) x, w, _"},
      {[=](auto& w) {
         return w.conv_2d("y", image(w), filter(w, {2, 1, 1, 1}, whole), kAbsent, valid, {});
       },
       "conv_2d(groups=2, asymmetric_inputs=true) x, w, _"},
      {[=](auto& w) {
         return w.depthwise_conv_2d("y", image(w), filter(w, {1, 1, 1, 2}, whole), kAbsent, valid,
                                    {});
       },
       "depthwise_conv_2d(asymmetric_inputs=true) x, w, _"},
      {[=](auto& w) {
         return w.depthwise_conv_2d("y", image(w), filter(w, {1, 1, 1, 2}, last), kAbsent, valid,
                                    {});
       },
       "depthwise_conv_2d(asymmetric_inputs=true) x, w, _"},
  });
}

TEST(TfliteOperators, DenseAndMovement) {
  const auto x = [](TfliteWriter& w, const Shape& shape) { return w.input("x", int8_type(shape)); };
  expect_statements({
      {[=](auto& w) {
         return w.fully_connected("y", x(w, {2, 3}), weights(w, {4, 3}), bias(w, 4), kY);
       },
       "fully_connected x, w, b"},
      {[=](auto& w) {
         return w.fully_connected("y", x(w, {2, 2, 3}), weights(w, {4, 3}), kAbsent, kY,
                                  Activation::NONE, true);
       },
       "fully_connected(keep_dims=true) x, w, _"},
      {[=](auto& w) {
         return w.pad("y", x(w, {2, 3}), {{1, 0}, {2, 3}});
       },
       "pad(before={1,2}, after={0,3}, value=3) x"},
      {[=](auto& w) {
         return w.mean("y", x(w, {1, 4, 5, 2}), {-2, 1, 2}, true, kY);
       },
       "reduce(kind=mean, axes={1,2}, keep_dims=true) x"},
      {[=](auto& w) {
         return w.reshape("y", x(w, {2, 6}), {3, -1});
       },
       "reshape(shape={3,4}) x"},
      {[=](auto& w) {
         return w.squeeze("y", x(w, {1, 3, 1}), {-1});
       },
       "reshape(shape={1,3}) x"},
      {[=](auto& w) {
         return w.squeeze("y", x(w, {1, 3, 1}), {});
       },
       "reshape(shape={3}) x"},
      {[=](auto& w) {
         return w.expand_dims("y", x(w, {2, 3}), -1);
       },
       "reshape(shape={2,3,1}) x"},
      {[=](auto& w) {
         return w.expand_dims("y", x(w, {2, 3}), 0);
       },
       "reshape(shape={1,2,3}) x"},
  });
}

TEST(TfliteOperators, PadV2HasItsOwnValue) {
  const auto padded = [](const TensorType& type, auto value) {
    return [=](TfliteWriter& w) {
      const int64_t x = w.input("x", type);
      const int64_t amounts =
          w.constant("p", {DType::kInt64, {1, 2}, std::nullopt}, std::vector<int64_t>{1, 2});
      TensorType scalar = type;
      scalar.shape = {};
      const int64_t v = w.constant("v", scalar, std::vector{value});
      TensorType result = type;
      result.shape = {6};
      const int64_t y = w.tensor("y", result);
      w.op(BuiltinOperator::PADV2, {x, amounts, v}, {y}, format::PadV2OptionsT{});
      return y;
    };
  };
  expect_statements({
      {padded(int8_type({3}), int8_t{-128}), "pad(before={1}, after={2}, value=-128) x"},
      {padded(float_type({3}), 0.5F), "pad(before={1}, after={2}, value=0.5) x"},
      {padded({DType::kInt16, {3}, per_tensor(1, 0)}, int16_t{-300}),
       "pad(before={1}, after={2}, value=-300) x"},
      {padded({DType::kUInt8, {3}, per_tensor(1, 0)}, uint8_t{200}),
       "pad(before={1}, after={2}, value=200) x"},
      {padded({DType::kInt32, {3}, std::nullopt}, int32_t{70000}),
       "pad(before={1}, after={2}, value=70000) x"},
  });
}

// The new shape as an input of any form, or as an option, old and new.
// D01.
TEST(TfliteOperators, ReshapeTakesItsShapeFromAnywhere) {
  const struct {
    const char* title;
    std::optional<TensorType> tensor;
    std::vector<int32_t> data;
    std::vector<int32_t> option;
    Shape x;
    const char* statement;
  } rows[] = {
      {"vector", TensorType{DType::kInt32, {2}, {}}, {2, -1}, {}, {6}, "reshape(shape={2,3}) x"},
      {"matrix", TensorType{DType::kInt32, {1, 2}, {}}, {2, -1}, {}, {6}, "reshape(shape={2,3}) x"},
      {"scalar", TensorType{DType::kInt32, {}, {}}, {6}, {}, {2, 3}, "reshape(shape={6}) x"},
      {"empty", TensorType{DType::kInt32, {0}, {}}, {}, {}, {1}, "reshape x"},
      {"option", std::nullopt, {}, {3, 2}, {6}, "reshape(shape={3,2}) x"},
      {"input before option",
       TensorType{DType::kInt32, {1}, {}},
       {6},
       {3, 2},
       {6},
       "reshape(shape={6}) x"},
      {"[0] is a scalar", std::nullopt, {}, {0}, {1}, "reshape x"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    const auto build = [&](TfliteWriter& w) {
      std::vector<int64_t> inputs = {w.input("x", int8_type(row.x))};
      if (row.tensor) inputs.push_back(w.constant("s", *row.tensor, row.data));
      const int64_t y = w.tensor("y", int8_type(row.x));
      format::ReshapeOptionsT options;
      options.new_shape = row.option;
      w.op(BuiltinOperator::RESHAPE, inputs, {y}, options);
      return y;
    };
    EXPECT_EQ(statement(imported(model_of(build))), std::string(row.statement) + " sources 0");
  }
  // A shape that is computed stands back behind the option.
  const auto computed = [](TfliteWriter& w) {
    const int64_t shape = w.input("s", {DType::kInt32, {1}, std::nullopt});
    const int64_t y = w.tensor("y", int8_type({6}));
    format::ReshapeOptionsT options;
    options.new_shape = {6};
    w.op(BuiltinOperator::RESHAPE, {w.input("x", int8_type({2, 3})), shape}, {y}, options);
    return y;
  };
  EXPECT_EQ(statement(imported(model_of(computed))), "reshape(shape={6}) x sources 0");
}

// E20: each operator with a fused activation, times each activation.
TEST(TfliteOperators, FusedActivationsBecomeClamps) {
  const struct {
    Activation activation;
    const char* clamp;
  } activations[] = {
      {Activation::RELU, "clamp(low=-7, high=127)"},
      {Activation::RELU6, "clamp(low=-7, high=17)"},
      {Activation::RELU_N1_TO_1, "clamp(low=-11, high=-3)"},
  };
  const auto map = [](TfliteWriter& w) { return w.input("x", int8_type({1, 4, 4, 2}, kY)); };
  using Fused = std::function<int64_t(TfliteWriter&, Activation)>;
  const struct {
    Fused build;
    const char* producer;
  } operators[] = {
      {[=](auto& w, auto a) {
         return w.conv_2d("y", map(w), weights(w, {2, 1, 1, 2}), kAbsent, {.activation = a}, kY);
       },
       "conv_2d x, w, _"},
      {[=](auto& w, auto a) {
         return w.depthwise_conv_2d("y", map(w), weights(w, {1, 1, 1, 2}), kAbsent,
                                    {.activation = a}, kY);
       },
       "depthwise_conv_2d x, w, _"},
      {[=](auto& w, auto a) {
         return w.fully_connected("y", map(w), weights(w, {2, 32}), kAbsent, kY, a);
       },
       "fully_connected x, w, _"},
      {[=](auto& w, auto a) { return w.average_pool_2d("y", map(w), {.activation = a}); },
       "pool_2d(kind=average) x"},
      {[=](auto& w, auto a) { return w.max_pool_2d("y", map(w), {.activation = a}); },
       "pool_2d(kind=max) x"},
      {[=](auto& w, auto a) {
         const int64_t x = map(w);
         return w.add("y", x, x, kY, a);
       },
       "binary(kind=add) x, x"},
      {[=](auto& w, auto a) {
         const int64_t x = map(w);
         return w.sub("y", x, x, kY, a);
       },
       "binary(kind=sub) x, x"},
      {[=](auto& w, auto a) {
         const int64_t x = map(w);
         return w.mul("y", x, x, kY, a);
       },
       "binary(kind=mul) x, x"},
      {[=](auto& w, auto a) {
         const int64_t y = w.concatenation("y", {map(w)}, 3);
         w.last_operator().builtin_options.AsConcatenationOptions()->fused_activation_function = a;
         return y;
       },
       "concat(axis=3) x"},
  };
  for (const auto& op : operators) {
    for (const auto& activation : activations) {
      const Graph graph =
          imported(model_of([&](TfliteWriter& w) { return op.build(w, activation.activation); }));
      ASSERT_EQ(graph.nodes.size(), 2U);
      EXPECT_EQ(statement(graph, "y/pre_activation"),
                std::string(op.producer) + " node \"y\" sources 0");
      EXPECT_EQ(statement(graph), std::string(activation.clamp) + " y/pre_activation sources 0");
      EXPECT_EQ(graph[graph.nodes[0].outputs[0]].type, graph[graph.nodes[1].outputs[0]].type);
    }
    for (const auto activation : {Activation::TANH, Activation::SIGN_BIT, Activation{99}}) {
      EXPECT_THAT(faults_of(model_of([&](TfliteWriter& w) { return op.build(w, activation); })),
                  ElementsAre(HasSubstr("the fused activation")));
    }
  }
}

TEST(TfliteOperators, LoneActivations) {
  const auto x = [](TfliteWriter& w) { return w.input("x", int8_type({2})); };
  expect_statements({
      {[=](auto& w) { return w.relu("y", x(w), kX); }, "clamp(low=3, high=127) x"},
      {[=](auto& w) { return w.relu6("y", x(w), kX); }, "clamp(low=3, high=15) x"},
      {[=](auto& w) { return w.relu_n1_to_1("y", x(w), kX); }, "clamp(low=1, high=5) x"},
      {[=](auto& w) { return w.relu("y", w.input("x", float_type({2})), std::nullopt); },
       "clamp(high=inf) x"},
  });
  const Graph graph = imported(model_of([=](auto& w) { return w.relu("y", x(w), kY); }));
  EXPECT_EQ(statement(graph, "y/pre_activation"),
            "requantize(ratio_in_float32=true) x node \"y\" sources 0");
  EXPECT_EQ(statement(graph), "clamp(low=-7, high=127) y/pre_activation sources 0");
}

// K05: without a table of options the format's defaults hold, where they make sense.
TEST(TfliteOperators, MissingOptionsAreTheDefaults) {
  const auto without_options = [](const Build& build) {
    return [=](TfliteWriter& w) {
      const int64_t y = build(w);
      w.last_operator().builtin_options.Reset();
      return y;
    };
  };
  const auto x = [](TfliteWriter& w) { return w.input("x", int8_type({1, 2, 2, 1}, kY)); };
  expect_statements({
      {without_options([=](auto& w) {
         const int64_t same = x(w);
         return w.add("y", same, same, kY, Activation::RELU);
       }),
       "binary(kind=add) x, x"},
      {without_options([=](auto& w) { return w.concatenation("y", {x(w)}, 3); }), "concat x"},
      {without_options([=](auto& w) {
         return w.fully_connected("y", x(w), weights(w, {2, 4}), kAbsent, kY);
       }),
       "fully_connected x, w, _"},
      {without_options([=](auto& w) { return w.reshape("y", x(w), {4}); }), "reshape(shape={4}) x"},
  });
  EXPECT_THAT(faults_of(model_of(without_options([=](auto& w) {
                return w.conv_2d("y", x(w), weights(w, {1, 1, 1, 1}), kAbsent, {}, kY);
              }))),
              ElementsAre(HasSubstr("the stride is 0x0, at least 1x1 is needed")));
  EXPECT_THAT(faults_of(model_of(without_options([=](auto& w) { return w.softmax("y", x(w)); }))),
              ElementsAre(HasSubstr("beta is 0")));
}

TEST(TfliteOperators, EveryRowIsAnOperatorOnceInOrder) {
  const auto rows = tflite::operator_rows();
  EXPECT_EQ(rows.size(), 30U);
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1].code, rows[i].code);
}

}  // namespace
}  // namespace ingot::testing
