// SPDX-License-Identifier: Apache-2.0
#include "tests/import/tflite_fault_rows.h"

#include <limits>

namespace ingot::testing {
namespace {

const Quantization kQ = per_tensor(0.5F, 3);
constexpr int64_t kX = 0;
constexpr int64_t kFilter = 1;
constexpr int64_t kConvResult = 3;

format::QuantizationParametersT& quantization(TfliteWriter& w, int64_t tensor) {
  return *w.tensor_at(tensor).quantization;
}

std::vector<FaultRow> structure_rows() {
  return {
      {"no subgraph", [](auto& w) { w.model().subgraphs.clear(); }, "the model has no subgraph"},
      {"version 2", [](auto& w) { w.model().version = 2; },
       "model-version: : the model is of version 2, only 3 is supported"},
      {"no outputs", [](auto& w) { w.graph().outputs.clear(); }, "the model has no outputs"},
      {"unknown operator code",
       [](auto& w) { w.model().operator_codes.at(0)->builtin_code = BuiltinOperator(999); },
       "operator-unsupported: operator code 999 \"conv\" (operator 0): the operator is not "
       "supported"},
      {"negative operator code",
       [](auto& w) {
         w.model().operator_codes.at(0)->builtin_code = BuiltinOperator(-5);
         w.model().operator_codes.at(0)->deprecated_builtin_code = -3;
       },
       "operator code -3 \"conv\""},
      // K06.
      {"an input twice",
       [](auto& w) {
         w.graph().inputs = {0, 0};
       },
       "model-graph: tensor \"x\" (index 0): the tensor is an input of the model twice"},
      {"a constant is an input",
       [](auto& w) {
         w.graph().inputs = {0, 2};
       },
       "tensor \"bias\" (index 2): the tensor is an input of the model and a constant"},
      {"an input is not stated", [](auto& w) { w.graph().inputs.clear(); },
       "\"x\" (index 0): CONV_2D \"conv\" (operator 0) reads it, but it has no data"},
      {"an operator writes an input",
       [](auto& w) {
         w.graph().inputs = {0, kConvResult};
       },
       "CONV_2D \"conv\" (operator 0) writes an input of the model"},
      {"an operator writes a constant",
       [](auto& w) {
         w.tensor_at(kConvResult).buffer = w.tensor_at(kFilter).buffer;
         w.tensor_at(kConvResult).shape = {24};
         w.tensor_at(kConvResult).shape_signature = {};
       },
       "CONV_2D \"conv\" (operator 0) writes a constant"},
      {"two operators write a tensor",
       [](auto& w) { w.append(w.opcode(BuiltinOperator::RELU, "", 1), {0}, {kConvResult}); },
       "CONV_2D \"conv\" (operator 0) and RELU \"conv\" (operator 5) both write it"},
      {"one operator writes a tensor twice",
       [](auto& w) {
         operator_at(w, 0).outputs = {kConvResult, kConvResult};
       },
       "both write it"},
      {"a weight without data", [](auto& w) { w.tensor_at(kFilter).buffer = 0; },
       "tensor \"filter\" (index 1): CONV_2D \"conv\" (operator 0) reads it, but it has no data"},
      {"an output of nobody",
       [](auto& w) {
         w.output(w.tensor("loose", {DType::kInt8, {1}, kQ}));
       },
       "the caller reads it, but it has no data"},
      // K07.
      {"an operator reads itself", [](auto& w) { operator_at(w, 1).inputs = {4}; },
       "model-graph: MAX_POOL_2D \"pooled\" (operator 1): the operator waits for its own result"},
      {"a ring",
       [](auto& w) {
         operator_at(w, 0).inputs = {6, 1, 2};
       },
       "waits for its own result"},
  };
}

std::vector<FaultRow> tensor_rows() {
  const auto dims = [](std::vector<int32_t> shape) {
    return [=](TfliteWriter& w) {
      for (const int64_t tensor : {kX, kConvResult}) {
        w.tensor_at(tensor).shape = shape;
        w.tensor_at(tensor).shape_signature = {};
        w.graph().outputs = {0};
        w.graph().operators.clear();
      }
    };
  };
  const auto type = [](format::TensorType t) {
    return [=](TfliteWriter& w) { w.tensor_at(kX).type = t; };
  };
  const auto scale = [](float value) {
    return [=](TfliteWriter& w) { quantization(w, kX).scale = {value}; };
  };
  return {
      {"strings", type(format::TensorType::STRING),
       "tensor-unsupported: tensor \"x\" (index 0): elements of type STRING are not supported"},
      // Q19.
      {"int4", type(format::TensorType::INT4), "elements of type INT4"},
      {"no type", type(format::TensorType(100)), "elements of type number 100"},
      // Z13, K13.
      {"sparse",
       [](auto& w) {
         w.tensor_at(kFilter).sparsity = std::make_unique<format::SparsityParametersT>();
       },
       "tensor-unsupported: tensor \"filter\" (index 1): sparse tensors are not supported"},
      {"variable", [](auto& w) { w.tensor_at(kX).is_variable = true; }, "variables (tensors that"},
      {"external", [](auto& w) { w.tensor_at(kFilter).external_buffer = 1; },
       "data in a file of their own"},
      // Z05.
      {"rank 300", dims(std::vector<int32_t>(300, 1)),
       "model-limit: tensor \"x\" (index 0): the rank is 300, at most 8"},
      {"rank 9", dims(std::vector<int32_t>(9, 1)), "the rank is 9"},
      // Z03, K03.
      {"65536 x 65536", dims({65536, 65536}), "int8[65536,65536] is larger than 2147483648 bytes"},
      {"2^31 x 2 x 2", dims({2147483647, 2, 2}), "is larger than"},
      {"product beyond int64", dims({2147483647, 2147483647, 2147483647}), "is larger than"},
      {"a zero hides it", dims({2147483647, 0, 2147483647, 2147483647}), "is larger than"},
      {"negative extent", dims({1, -2}),
       "tensor-malformed: tensor \"x\" (index 0): extent 1 is -2"},
      {"signature of another rank",
       [](auto& w) {
         w.tensor_at(kX).shape_signature = {-1, 4};
       },
       "the shape has rank 4, its signature has rank 2"},
      // Z12, K10.
      {"data too short",
       [](auto& w) { w.model().buffers.at(w.tensor_at(kFilter).buffer)->data.pop_back(); },
       "constant-size: tensor \"filter\" (index 1): its data are 23 bytes, int8[3,2,2,2] asks for "
       "24"},
      {"data too long",
       [](auto& w) { w.model().buffers.at(w.tensor_at(kFilter).buffer)->data.push_back(0); },
       "its data are 25 bytes"},
      {"data beyond the file",
       [](auto& w) {
         auto& buffer = *w.model().buffers.at(w.tensor_at(kFilter).buffer);
         buffer.offset = uint64_t{1} << 63;
         buffer.size = uint64_t{1} << 63;
       },
       "model-index: tensor \"filter\" (index 1): its data are 9223372036854775808 bytes at"},
      // K12.
      {"scale 0", scale(0), "quantization-malformed: tensor \"x\" (index 0): the scale 0 is not"},
      {"scale negative", scale(-1), "the scale -1 is not finite and above 0"},
      {"scale infinite", scale(std::numeric_limits<float>::infinity()), "the scale inf"},
      {"scale no number", scale(std::numeric_limits<float>::quiet_NaN()), "the scale nan"},
      {"zero point beyond int8", [](auto& w) { quantization(w, kX).zero_point = {128}; },
       "the zero point 128 is not in the range of int8"},
      {"no zero point", [](auto& w) { quantization(w, kX).zero_point = {}; },
       "there are 0 zero points for 1 scales"},
      {"two zero points",
       [](auto& w) {
         quantization(w, kX).zero_point = {1, 1};
       },
       "there are 2 zero points for 1 scales"},
      {"too few scales",
       [](auto& w) {
         quantization(w, kFilter).scale = {1, 1};
         quantization(w, kFilter).zero_point = {0, 0};
       },
       "there are 2 scales for an extent of 3"},
      {"quantised dimension beyond the rank",
       [](auto& w) { quantization(w, kFilter).quantized_dimension = 4; },
       "the quantised dimension is 4, the rank is 4"},
      {"quantised dimension negative",
       [](auto& w) { quantization(w, kFilter).quantized_dimension = -1; },
       "the quantised dimension is -1"},
      {"blockwise quantisation",
       [](auto& w) { quantization(w, kFilter).details.Set(format::BlockwiseQuantizationT()); },
       "the quantisation \"BlockwiseQuantization\" is not supported"},
  };
}

std::vector<FaultRow> operator_rows() {
  using format::Conv2DOptionsT;
  using format::Pool2DOptionsT;
  const auto conv = [](auto Conv2DOptionsT::*field, auto value) {
    return [=](TfliteWriter& w) {
      options_at<Conv2DOptionsT>(w, 0).*field =
          static_cast<std::remove_cvref_t<decltype(options_at<Conv2DOptionsT>(w, 0).*field)>>(
              value);
    };
  };
  return {
      {"custom operator",
       [](auto& w) {
         w.custom("Ethos\n\"U\"", {0}, {w.tensor("z", {DType::kInt8, {1}, kQ})});
       },
       "operator-unsupported: CUSTOM \"Ethos\\x0a\\\"U\\\"\" \"z\" (operator 5): the operator is "
       "not supported"},
      // Z09, K07.
      {"calling itself",
       [](auto& w) {
         format::WhileOptionsT loop;
         w.op(BuiltinOperator::WHILE, {0}, {w.tensor("z", {DType::kInt8, {1}, kQ})}, loop);
       },
       "WHILE \"z\" (operator 5): the operator is not supported"},
      // Z08, K04.
      {"stride 0", conv(&Conv2DOptionsT::stride_h, 0),
       "operator-malformed: CONV_2D \"conv\" (operator 0): the stride is 0x1, at least 1x1"},
      {"stride negative", conv(&Conv2DOptionsT::stride_w, -2147483647),
       "the stride is 1x-2147483647"},
      {"dilation 0", conv(&Conv2DOptionsT::dilation_w_factor, 0), "the dilation is 1x0"},
      {"padding of no kind", conv(&Conv2DOptionsT::padding, 9), "the padding is of unknown kind 9"},
      {"fused tanh", conv(&Conv2DOptionsT::fused_activation_function, 4),
       "operator-unsupported: CONV_2D \"conv\" (operator 0): the fused activation TANH is not "
       "supported for int8[1,4,4,3]"},
      {"empty window", [](auto& w) { options_at<Pool2DOptionsT>(w, 1).filter_height = 0; },
       "the window is 0x2, at least 1x1 is needed"},
      {"empty filter",
       [](auto& w) {
         w.tensor_at(kFilter).shape = {3, 0, 2, 2};
         w.model().buffers.at(w.tensor_at(kFilter).buffer)->data.clear();
       },
       "the window is 0x2"},
      {"filter of other channels",
       [](auto& w) {
         w.tensor_at(kFilter).shape = {3, 1, 2, 4};
       },
       "the input has 2 channels, which is no multiple of the filter's 4"},
      {"filter without channels",
       [](auto& w) {
         w.tensor_at(kFilter).shape = {3, 1, 2, 0};
         w.model().buffers.at(w.tensor_at(kFilter).buffer)->data.clear();
       },
       "no multiple of the filter's 0"},
      {"filter of rank 3",
       [](auto& w) {
         w.tensor_at(kFilter).shape = {3, 4, 2};
       },
       "the filter has rank 3 instead of 4"},
      {"input of rank 3",
       [](auto& w) {
         w.tensor_at(kX).shape = {4, 4, 2};
       },
       "the input has rank 3 instead of 4"},
      // K14.
      {"options of another operator",
       [](auto& w) { operator_at(w, 0).builtin_options.Set(Pool2DOptionsT()); },
       "its options are Pool2DOptions, of another operator"},
      {"multiplier",
       [](auto& w) {
         const int64_t f =
             w.constant("f", {DType::kInt8, {1, 1, 1, 2}, kQ}, std::vector<int8_t>(2));
         w.depthwise_conv_2d("z", 0, f, kAbsent, {}, kQ);
         options_at<format::DepthwiseConv2DOptionsT>(w, 5).depth_multiplier = 3;
       },
       "2 channels times the multiplier 3 are not the filter's 2"},
      {"shuffled weights",
       [](auto& w) {
         options_at<format::FullyConnectedOptionsT>(w, 2).weights_format =
             format::FullyConnectedWeightsFormat::SHUFFLED4x16INT8;
       },
       "shuffled weights are not supported"},
      {"two outputs",
       [](auto& w) {
         operator_at(w, 1).outputs.push_back(
             static_cast<int32_t>(w.tensor("z", {DType::kInt8, {1}, kQ})));
       },
       "operator-malformed: MAX_POOL_2D \"pooled\" (operator 1): it has 2 outputs instead of 1"},
      {"too many inputs",
       [](auto& w) {
         operator_at(w, 1).inputs = {0, 0};
       },
       "it has 2 inputs, at most 1 make sense"},
      {"no filter", [](auto& w) { operator_at(w, 0).inputs = {0}; }, "input 1 is missing"},
      {"no input",
       [](auto& w) {
         operator_at(w, 0).inputs = {-1, 1, 2};
       },
       "input 0 is missing"},
      {"a gap in a concatenation",
       [](auto& w) {
         w.concatenation("z", {0, 0}, 1);
         operator_at(w, 5).inputs = {0, -1, 0};
       },
       "input 1 is missing"},
      {"a concatenation of nothing",
       [](auto& w) {
         w.concatenation("z", {0, 0}, 1);
         operator_at(w, 5).inputs = {};
       },
       "input 0 is missing"},
      {"axes computed",
       [](auto& w) {
         operator_at(w, 4).inputs.at(1) =
             static_cast<int32_t>(w.input("a", {DType::kInt32, {1}, std::nullopt}));
       },
       "operator-unsupported: MEAN \"y\" (operator 4): the list of axes is not constant"},
      {"axes of type int8", [](auto& w) { operator_at(w, 4).inputs.at(1) = 5; },
       "the list of axes is of type int8 instead of int32"},
      // K17.
      {"thousands of axes", [](auto& w) { set_integers(w, "y/axes", std::vector<int32_t>(1000)); },
       "the list of axes has 1000 elements, at most 64 make sense"},
      {"new shape of other size", [](auto& w) { set_integers(w, "flat/shape", {3}); },
       "the new shape [3] does not hold 2 elements"},
      {"two open extents",
       [](auto& w) {
         set_integers(w, "flat/shape", {-1, -1});
       },
       "the new shape [-1,-1] makes no sense"},
      // Z05.
      {"new shape of 64 extents",
       [](auto& w) { set_integers(w, "flat/shape", std::vector<int32_t>(64, 1)); },
       "does not hold 2 elements"},
      {"new shape as a long option",
       [](auto& w) {
         operator_at(w, 3).inputs = {6};
         options_at<format::ReshapeOptionsT>(w, 3).new_shape = std::vector<int32_t>(65, 1);
       },
       "its options list 65 dimensions"},
      {"squeezing an extent of 4",
       [](auto& w) {
         w.squeeze("z", 0, {0});
         options_at<format::SqueezeOptionsT>(w, 5).squeeze_dims = {1};
       },
       "dimension 1 of [1,4,4,2] is not one of extent 1"},
      {"squeezing beyond",
       [](auto& w) {
         w.squeeze("z", 0, {0});
         options_at<format::SqueezeOptionsT>(w, 5).squeeze_dims = {4};
       },
       "dimension 4 of [1,4,4,2] is not"},
      {"expanding beyond",
       [](auto& w) {
         w.expand_dims("z", 0, 0);
         set_integers(w, "z/axis", {5});
       },
       "the axis is beyond the rank 4"},
      {"too few paddings",
       [](auto& w) {
         w.pad("z", 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}});
         set_integers(w, "z/paddings", {1, 2});
       },
       "there are 2 paddings for an input of rank 4"},
      {"negative padding",
       [](auto& w) {
         w.pad("z", 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}});
         set_integers(w, "z/paddings", {0, 0, 0, -1, 0, 0, 0, 0});
       },
       "a padding of -1 makes no sense"},
      {"padding value of another type",
       [](auto& w) {
         const int64_t p =
             w.constant("p", {DType::kInt32, {4, 2}, std::nullopt}, std::vector<int32_t>(8));
         const int64_t v =
             w.constant("v", {DType::kInt8, {1}, per_tensor(1, 0)}, std::vector<int8_t>(1));
         w.op(BuiltinOperator::PADV2, {0, p, v}, {w.tensor("z", {DType::kInt8, {1}, kQ})});
       },
       "the padding value is no single element of the input's type"},
      {"padding value computed",
       [](auto& w) {
         const int64_t p =
             w.constant("p", {DType::kInt32, {4, 2}, std::nullopt}, std::vector<int32_t>(8));
         const int64_t v = w.input("v", {DType::kInt8, {1}, kQ});
         w.op(BuiltinOperator::PADV2, {0, p, v}, {w.tensor("z", {DType::kInt8, {1}, kQ})});
       },
       "the padding value is not constant"},
      {"padding value of odd type",
       [](auto& w) {
         const int64_t x = w.input("h", {DType::kInt64, {1}, std::nullopt});
         const int64_t p =
             w.constant("p", {DType::kInt32, {1, 2}, std::nullopt}, std::vector<int32_t>(2));
         const int64_t v =
             w.constant("v", {DType::kInt64, {1}, std::nullopt}, std::vector<int64_t>(1));
         w.op(BuiltinOperator::PADV2, {x, p, v},
              {w.tensor("z", {DType::kInt64, {1}, std::nullopt})});
       },
       "the padding value of type int64 is not supported"},
      {"beta 0", [](auto& w) { w.softmax("z", 0, 0.0F); }, "SOFTMAX \"z\" (operator 5): beta is 0"},
      {"beta no number",
       [](auto& w) { w.softmax("z", 0, std::numeric_limits<float>::quiet_NaN()); }, "beta is nan"},
      {"relu per channel",
       [](auto& w) {
         const int64_t z = w.tensor("z", {DType::kInt8, {2}, Quantization{{1, 2}, {0, 0}, 0}});
         w.op(BuiltinOperator::RELU, {0}, {z});
       },
       "int8[2] is not supported as output"},
  };
}

}  // namespace

TfliteWriter good_model() {
  TfliteWriter w;
  const auto zeros = [](int64_t count) { return Bytes(std::vector<uint8_t>(size_t(count))); };
  const int64_t x = w.input("x", {DType::kInt8, {1, 4, 4, 2}, kQ});
  const int64_t filter = w.constant(
      "filter", {DType::kInt8, {3, 2, 2, 2}, Quantization{{1, 1, 2}, {0, 0, 0}, 0}}, zeros(24));
  const int64_t bias = w.constant("bias", {DType::kInt32, {3}, std::nullopt}, zeros(12));
  const int64_t conv = w.conv_2d("conv", x, filter, bias, {}, kQ);
  const int64_t pooled = w.max_pool_2d("pooled", conv, {2, 2, 2, 2});
  const int64_t weights =
      w.constant("weights", {DType::kInt8, {2, 12}, per_tensor(1, 0)}, zeros(24));
  const int64_t dense = w.fully_connected("dense", pooled, weights, kAbsent, kQ);
  const int64_t flat = w.reshape("flat", dense, {2, 1});
  w.output(w.mean("y", flat, {0}, false, kQ));
  return w;
}
void set_integers(TfliteWriter& w, const std::string& tensor, const std::vector<int32_t>& data) {
  for (auto& t : w.graph().tensors) {
    if (t->name != tensor) continue;
    t->shape = {static_cast<int32_t>(data.size())};
    const Bytes bytes = Bytes::of(data);
    w.model().buffers.at(t->buffer)->data.assign(bytes.view().begin(), bytes.view().end());
  }
}

const std::vector<FaultRow>& fault_rows() {
  static const std::vector<FaultRow> all = [] {
    std::vector<FaultRow> list = structure_rows();
    for (const auto& more : {tensor_rows(), operator_rows()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

}  // namespace ingot::testing
