// SPDX-License-Identifier: Apache-2.0
// The operators of TfliteWriter by name: options, versions and the types of the results, as the
// usual converter writes them.
#include <algorithm>

#include "support/arithmetic.h"
#include "support/check.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

int32_t narrow_one(int64_t number) { return narrow({number}).front(); }

// How many places a window of `filter` taps has along an extent.
int64_t places(int64_t extent, int64_t filter, int64_t stride, int64_t dilation, Padding padding) {
  CHECK(stride > 0);
  if (padding == Padding::SAME) return ceil_div(extent, stride);
  return ceil_div(extent - dilation * (filter - 1), stride);
}

Shape windowed(const Shape& x, int64_t filter_h, int64_t filter_w, const Window& window,
               int64_t channels) {
  CHECK(x.size() == 4);
  return {x[0], places(x[1], filter_h, window.stride_h, window.dilation_h, window.padding),
          places(x[2], filter_w, window.stride_w, window.dilation_w, window.padding), channels};
}

Shape broadcast(Shape a, Shape b) {
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    CHECK(a[i] == b[i] || a[i] == 1 || b[i] == 1);
    if (a[i] == 1) a[i] = b[i];
  }
  return a;
}

// The place of an axis that may be counted from the end, in a list of `rank` axes.
size_t place(int64_t axis, int64_t rank) {
  CHECK(-rank <= axis && axis < rank);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

int64_t product(const Shape& shape) {
  return TensorType{DType::kInt8, shape, std::nullopt}.num_elements();
}

}  // namespace

int64_t TfliteWriter::result(const std::string& name, int64_t input, const Shape& shape,
                             const MaybeQuantization& quantization) {
  TensorType type = type_of(input);
  type.shape = shape;
  if (quantization) type.quantization = quantization;
  return tensor(name, type);
}

int64_t TfliteWriter::indices(const std::string& name, const Shape& shape,
                              const std::vector<int64_t>& values) {
  return constant(name, {DType::kInt32, shape, std::nullopt}, narrow(values));
}

int64_t TfliteWriter::conv_2d(const std::string& name, int64_t x, int64_t filter, int64_t bias,
                              const Window& window, const MaybeQuantization& quantization) {
  const Shape taps = type_of(filter).shape;
  const Shape shape = windowed(type_of(x).shape, taps.at(1), taps.at(2), window, taps.at(0));
  const int64_t y = result(name, x, shape, quantization);
  format::Conv2DOptionsT options;
  options.padding = window.padding;
  options.stride_h = narrow_one(window.stride_h);
  options.stride_w = narrow_one(window.stride_w);
  options.dilation_h_factor = narrow_one(window.dilation_h);
  options.dilation_w_factor = narrow_one(window.dilation_w);
  options.fused_activation_function = window.activation;
  op(BuiltinOperator::CONV_2D, {x, filter, bias}, {y}, options, 3);
  return y;
}

int64_t TfliteWriter::depthwise_conv_2d(const std::string& name, int64_t x, int64_t filter,
                                        int64_t bias, const Window& window,
                                        const MaybeQuantization& quantization) {
  const Shape taps = type_of(filter).shape;
  const Shape from = type_of(x).shape;
  const int64_t y =
      result(name, x, windowed(from, taps.at(1), taps.at(2), window, taps.at(3)), quantization);
  format::DepthwiseConv2DOptionsT options;
  options.padding = window.padding;
  options.stride_h = narrow_one(window.stride_h);
  options.stride_w = narrow_one(window.stride_w);
  options.depth_multiplier = narrow_one(taps.at(3) / from.at(3));
  options.dilation_h_factor = narrow_one(window.dilation_h);
  options.dilation_w_factor = narrow_one(window.dilation_w);
  options.fused_activation_function = window.activation;
  op(BuiltinOperator::DEPTHWISE_CONV_2D, {x, filter, bias}, {y}, options, 3);
  return y;
}

int64_t TfliteWriter::fully_connected(const std::string& name, int64_t x, int64_t filter,
                                      int64_t bias, const MaybeQuantization& quantization,
                                      Activation activation, bool keep_num_dims) {
  const Shape from = type_of(x).shape;
  const Shape taps = type_of(filter).shape;
  Shape shape = {product(from) / taps.at(1), taps.at(0)};
  if (keep_num_dims) {
    shape = from;
    shape.back() = taps.at(0);
  }
  const int64_t y = result(name, x, shape, quantization);
  format::FullyConnectedOptionsT options;
  options.fused_activation_function = activation;
  options.keep_num_dims = keep_num_dims;
  op(BuiltinOperator::FULLY_CONNECTED, {x, filter, bias}, {y}, options, keep_num_dims ? 5 : 4);
  return y;
}

int64_t TfliteWriter::pooled(BuiltinOperator code, const std::string& name, int64_t x,
                             const Pool& pool) {
  const Shape from = type_of(x).shape;
  const Window window{
      .stride_h = pool.stride_h, .stride_w = pool.stride_w, .padding = pool.padding};
  const int64_t y = result(
      name, x, windowed(from, pool.filter_h, pool.filter_w, window, from.at(3)), std::nullopt);
  format::Pool2DOptionsT options;
  options.padding = pool.padding;
  options.stride_h = narrow_one(pool.stride_h);
  options.stride_w = narrow_one(pool.stride_w);
  options.filter_height = narrow_one(pool.filter_h);
  options.filter_width = narrow_one(pool.filter_w);
  options.fused_activation_function = pool.activation;
  op(code, {x}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::average_pool_2d(const std::string& name, int64_t x, const Pool& pool) {
  return pooled(BuiltinOperator::AVERAGE_POOL_2D, name, x, pool);
}

int64_t TfliteWriter::max_pool_2d(const std::string& name, int64_t x, const Pool& pool) {
  return pooled(BuiltinOperator::MAX_POOL_2D, name, x, pool);
}

int64_t TfliteWriter::add(const std::string& name, int64_t a, int64_t b,
                          const MaybeQuantization& quantization, Activation activation) {
  const int64_t y = result(name, a, broadcast(type_of(a).shape, type_of(b).shape), quantization);
  format::AddOptionsT options;
  options.fused_activation_function = activation;
  op(BuiltinOperator::ADD, {a, b}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::sub(const std::string& name, int64_t a, int64_t b,
                          const MaybeQuantization& quantization, Activation activation) {
  const int64_t y = result(name, a, broadcast(type_of(a).shape, type_of(b).shape), quantization);
  format::SubOptionsT options;
  options.fused_activation_function = activation;
  op(BuiltinOperator::SUB, {a, b}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::mul(const std::string& name, int64_t a, int64_t b,
                          const MaybeQuantization& quantization, Activation activation) {
  const int64_t y = result(name, a, broadcast(type_of(a).shape, type_of(b).shape), quantization);
  format::MulOptionsT options;
  options.fused_activation_function = activation;
  op(BuiltinOperator::MUL, {a, b}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::pad(const std::string& name, int64_t x,
                          const std::vector<std::pair<int64_t, int64_t>>& paddings) {
  Shape shape = type_of(x).shape;
  CHECK(paddings.size() == shape.size());
  std::vector<int64_t> flat;
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] += paddings[i].first + paddings[i].second;
    flat.insert(flat.end(), {paddings[i].first, paddings[i].second});
  }
  const int64_t amounts = indices(name + "/paddings", {std::ssize(shape), 2}, flat);
  const int64_t y = result(name, x, shape, std::nullopt);
  op(BuiltinOperator::PAD, {x, amounts}, {y}, format::PadOptionsT{}, 2);
  return y;
}

int64_t TfliteWriter::mean(const std::string& name, int64_t x, const std::vector<int64_t>& axes,
                           bool keep_dims, const MaybeQuantization& quantization) {
  const Shape from = type_of(x).shape;
  std::vector<bool> reduced(from.size(), false);
  for (const int64_t axis : axes) reduced[place(axis, std::ssize(from))] = true;
  Shape shape;
  for (size_t i = 0; i < from.size(); ++i) {
    if (!reduced[i]) shape.push_back(from[i]);
    if (reduced[i] && keep_dims) shape.push_back(1);
  }
  const int64_t along = indices(name + "/axes", {std::ssize(axes)}, axes);
  const int64_t y = result(name, x, shape, quantization);
  format::ReducerOptionsT options;
  options.keep_dims = keep_dims;
  op(BuiltinOperator::MEAN, {x, along}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::reshape(const std::string& name, int64_t x, const Shape& new_shape) {
  Shape shape = new_shape;
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    *open = type_of(x).num_elements() / product(shape);
  }
  const int64_t wanted = indices(name + "/shape", {std::ssize(new_shape)}, new_shape);
  const int64_t y = result(name, x, shape, std::nullopt);
  format::ReshapeOptionsT options;
  options.new_shape = narrow(new_shape);
  op(BuiltinOperator::RESHAPE, {x, wanted}, {y}, options);
  return y;
}

int64_t TfliteWriter::squeeze(const std::string& name, int64_t x,
                              const std::vector<int64_t>& dimensions) {
  const Shape from = type_of(x).shape;
  std::vector<bool> dropped(from.size(), false);
  for (const int64_t axis : dimensions) dropped[place(axis, std::ssize(from))] = true;
  Shape shape;
  for (size_t i = 0; i < from.size(); ++i) {
    if (dimensions.empty() ? from[i] != 1 : !dropped[i]) shape.push_back(from[i]);
  }
  const int64_t y = result(name, x, shape, std::nullopt);
  format::SqueezeOptionsT options;
  options.squeeze_dims = narrow(dimensions);
  op(BuiltinOperator::SQUEEZE, {x}, {y}, options);
  return y;
}

int64_t TfliteWriter::expand_dims(const std::string& name, int64_t x, int64_t axis) {
  Shape shape = type_of(x).shape;
  const size_t where = place(axis, std::ssize(shape) + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(where), 1);
  const int64_t along = indices(name + "/axis", {1}, {axis});
  const int64_t y = result(name, x, shape, std::nullopt);
  op(BuiltinOperator::EXPAND_DIMS, {x, along}, {y}, format::ExpandDimsOptionsT{});
  return y;
}

int64_t TfliteWriter::concatenation(const std::string& name, const std::vector<int64_t>& inputs,
                                    int64_t axis, const MaybeQuantization& quantization) {
  CHECK(!inputs.empty());
  Shape shape = type_of(inputs.front()).shape;
  int64_t& extent = shape[place(axis, std::ssize(shape))];
  extent = 0;
  for (const int64_t input : inputs) {
    extent += type_of(input).shape.at(place(axis, std::ssize(shape)));
  }
  const int64_t y = result(name, inputs.front(), shape, quantization);
  format::ConcatenationOptionsT options;
  options.axis = narrow_one(axis);
  op(BuiltinOperator::CONCATENATION, inputs, {y}, options, 2);
  return y;
}

// A result with the values [least, greatest) spread over the whole range of its integers.
int64_t TfliteWriter::squashed(const std::string& name, int64_t x, float least, float greatest) {
  const TensorType from = type_of(x);
  if (!from.quantization) return result(name, x, from.shape, std::nullopt);
  const auto steps = static_cast<float>(highest(from.dtype) - lowest(from.dtype) + 1);
  const float scale = (greatest - least) / steps;
  if (from.dtype == DType::kInt16) {
    return result(name, x, from.shape, per_tensor(greatest / 32768.0F, 0));
  }
  const int64_t zero_point = lowest(from.dtype) - static_cast<int64_t>(least / scale);
  return result(name, x, from.shape, per_tensor(scale, zero_point));
}

int64_t TfliteWriter::softmax(const std::string& name, int64_t x, float beta) {
  const int64_t y = squashed(name, x, 0.0F, 1.0F);
  format::SoftmaxOptionsT options;
  options.beta = beta;
  op(BuiltinOperator::SOFTMAX, {x}, {y}, options, 2);
  return y;
}

int64_t TfliteWriter::logistic(const std::string& name, int64_t x) {
  const int64_t y = squashed(name, x, 0.0F, 1.0F);
  append(opcode(BuiltinOperator::LOGISTIC, "", 2), {x}, {y});
  return y;
}

int64_t TfliteWriter::tanh(const std::string& name, int64_t x) {
  const int64_t y = squashed(name, x, -1.0F, 1.0F);
  append(opcode(BuiltinOperator::TANH, "", 2), {x}, {y});
  return y;
}

int64_t TfliteWriter::activated(BuiltinOperator code, const std::string& name, int64_t x,
                                const MaybeQuantization& quantization) {
  const int64_t y = result(name, x, type_of(x).shape, quantization);
  append(opcode(code, "", 2), {x}, {y});
  return y;
}

int64_t TfliteWriter::relu(const std::string& name, int64_t x,
                           const MaybeQuantization& quantization) {
  return activated(BuiltinOperator::RELU, name, x, quantization);
}

int64_t TfliteWriter::relu6(const std::string& name, int64_t x,
                            const MaybeQuantization& quantization) {
  return activated(BuiltinOperator::RELU6, name, x, quantization);
}

int64_t TfliteWriter::relu_n1_to_1(const std::string& name, int64_t x,
                                   const MaybeQuantization& quantization) {
  return activated(BuiltinOperator::RELU_N1_TO_1, name, x, quantization);
}

int64_t TfliteWriter::quantize(const std::string& name, int64_t x, DType dtype,
                               const Quantization& quantization) {
  const int64_t y = tensor(name, {dtype, type_of(x).shape, quantization});
  op(BuiltinOperator::QUANTIZE, {x}, {y}, format::QuantizeOptionsT{}, 2);
  return y;
}

int64_t TfliteWriter::dequantize(const std::string& name, int64_t x) {
  const int64_t y = tensor(name, {DType::kFloat32, type_of(x).shape, std::nullopt});
  op(BuiltinOperator::DEQUANTIZE, {x}, {y}, format::DequantizeOptionsT{}, 2);
  return y;
}

}  // namespace ingot::testing
