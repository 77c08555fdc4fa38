// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "import/tflite/moves.h"

namespace ingot::tflite {
namespace {

using format::Activation;
using format::BuiltinOperator;

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
// The movement of a window over a feature map, as options of several operators have it.
struct Window {
  int64_t kernel_h = 1;
  int64_t kernel_w = 1;
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  int64_t dilation_h = 1;
  int64_t dilation_w = 1;
};

// The explicit padding; nullopt after a diagnostic, if the attributes make no sense.
std::optional<Padding> padding_of(OperatorReader& reader, format::Padding kind,
                                  const Window& window) {
  const auto at_least_one = [&](std::string_view what, int64_t h, int64_t w) {
    if (h >= 1 && w >= 1) return true;
    return reader.malformed(fmt::format("the {} is {}x{}, at least 1x1 is needed", what, h, w));
  };
  if (!at_least_one("stride", window.stride_h, window.stride_w) ||
      !at_least_one("dilation", window.dilation_h, window.dilation_w) ||
      !at_least_one("window", window.kernel_h, window.kernel_w)) {
    return std::nullopt;
  }
  if (kind == format::Padding::VALID) return Padding();
  if (kind != format::Padding::SAME) {
    reader.malformed(fmt::format("the padding is of unknown kind {}", static_cast<int64_t>(kind)));
    return std::nullopt;
  }
  const Shape& input = reader.input_type(0).shape;
  const AxisPadding rows =
      same_padding(input[1], window.kernel_h, window.stride_h, window.dilation_h);
  const AxisPadding columns =
      same_padding(input[2], window.kernel_w, window.stride_w, window.dilation_w);
  return Padding{rows.before, rows.after, columns.before, columns.after};
}

// Whether TFLite quantises the input of a layer of floats with int8 weights when it runs.
bool is_hybrid(OperatorReader& reader) {
  return reader.input_type(0).dtype == DType::kFloat32 &&
         reader.input_type(1).dtype == DType::kInt8;
}

bool read_conv_2d(OperatorReader& reader) {
  const auto options = reader.options<format::Conv2DOptions>();
  if (!options || !reader.has_rank(0, 4, "the input") || !reader.has_rank(1, 4, "the filter")) {
    return false;
  }
  const Shape& filter = reader.input_type(1).shape;
  Conv2D op;
  op.stride_h = options->stride_h;
  op.stride_w = options->stride_w;
  op.dilation_h = options->dilation_h_factor;
  op.dilation_w = options->dilation_w_factor;
  const std::optional<Padding> padding =
      padding_of(reader, options->padding,
                 {filter[1], filter[2], op.stride_h, op.stride_w, op.dilation_h, op.dilation_w});
  if (!padding) return false;
  op.padding = *padding;
  const int64_t channels = reader.input_type(0).shape[3];
  if (filter[3] < 1 || channels < 1 || channels % filter[3] != 0) {
    return reader.malformed(fmt::format(
        "the input has {} channels, which is no multiple of the filter's {}", channels, filter[3]));
  }
  op.groups = channels / filter[3];
  // TFLite has a kernel for filters of one scale, and one with zero points for all others.
  const std::optional<Quantization>& scales = reader.input_type(1).quantization;
  op.asymmetric_inputs = is_hybrid(reader) && (op.groups > 1 || (scales && !scales->per_tensor()));
  return reader.emit(op, {0, 1, 2}, options->fused_activation_function);
}

bool read_depthwise_conv_2d(OperatorReader& reader) {
  const auto options = reader.options<format::DepthwiseConv2DOptions>();
  if (!options || !reader.has_rank(0, 4, "the input") || !reader.has_rank(1, 4, "the filter")) {
    return false;
  }
  const Shape& filter = reader.input_type(1).shape;
  DepthwiseConv2D op;
  op.stride_h = options->stride_h;
  op.stride_w = options->stride_w;
  op.dilation_h = options->dilation_h_factor;
  op.dilation_w = options->dilation_w_factor;
  const std::optional<Padding> padding =
      padding_of(reader, options->padding,
                 {filter[1], filter[2], op.stride_h, op.stride_w, op.dilation_h, op.dilation_w});
  if (!padding) return false;
  op.padding = *padding;
  op.asymmetric_inputs = is_hybrid(reader);
  // The multiplier follows from the shapes; files may leave it at 0.
  const int64_t channels = reader.input_type(0).shape[3];
  if (options->depth_multiplier != 0 && channels * options->depth_multiplier != filter[3]) {
    return reader.malformed(
        fmt::format("{} channels times the multiplier {} are not the filter's {}", channels,
                    options->depth_multiplier, filter[3]));
  }
  return reader.emit(op, {0, 1, 2}, options->fused_activation_function);
}

bool read_fully_connected(OperatorReader& reader) {
  const auto options = reader.options<format::FullyConnectedOptions>();
  if (!options) return false;
  if (options->weights_format != format::FullyConnectedWeightsFormat::DEFAULT) {
    return reader.fail(Code::kOperatorUnsupported, "shuffled weights are not supported");
  }
  FullyConnected op;
  op.keep_dims = options->keep_num_dims;
  op.asymmetric_inputs = is_hybrid(reader) && options->asymmetric_quantize_inputs;
  return reader.emit(op, {0, 1, 2}, options->fused_activation_function);
}

bool read_pool(OperatorReader& reader, Pool2D::Kind kind) {
  const auto options = reader.options<format::Pool2DOptions>();
  if (!options || !reader.has_rank(0, 4, "the input")) return false;
  Pool2D op;
  op.kind = kind;
  op.kernel_h = options->filter_height;
  op.kernel_w = options->filter_width;
  op.stride_h = options->stride_h;
  op.stride_w = options->stride_w;
  const std::optional<Padding> padding = padding_of(
      reader, options->padding, {op.kernel_h, op.kernel_w, op.stride_h, op.stride_w, 1, 1});
  if (!padding) return false;
  op.padding = *padding;
  return reader.emit(op, {0}, options->fused_activation_function);
}
bool read_average_pool(OperatorReader& reader) { return read_pool(reader, Pool2D::Kind::kAverage); }
bool read_max_pool(OperatorReader& reader) { return read_pool(reader, Pool2D::Kind::kMax); }

template <class Options, Binary::Kind kKind>
bool read_binary(OperatorReader& reader) {
  const auto options = reader.options<Options>();
  return options && reader.emit(Binary{kKind}, {0, 1}, options->fused_activation_function);
}

template <Unary::Kind kKind>
bool read_unary(OperatorReader& reader) {
  return reader.emit(Unary{kKind}, {0});
}

template <Activation kActivation>
bool read_relu(OperatorReader& reader) {
  const TensorType& input = reader.input_type(0);
  const TensorType& output = reader.output_type();
  const std::optional<Clamp> clamp = clamp_of(kActivation, output);
  if (!clamp) {
    return reader.fail(Code::kOperatorUnsupported,
                       fmt::format("{} is not supported as output", print_plain(output)));
  }
  if (input.dtype == output.dtype && input.quantization == output.quantization) {
    return reader.emit(*clamp, {0});
  }
  // TFLite divides the scales of these operators in float before it makes a multiplier of them.
  return reader.emit_chain(Requantize{/*ratio_in_float32=*/true}, {0}, *clamp);
}

// The value of padding cells, in units of the element; PADV2 has it as a third input.
std::optional<double> padding_value(OperatorReader& reader) {
  const TensorType& output = reader.output_type();
  if (reader.op().code != BuiltinOperator::PADV2) {
    const bool has_zero_point = output.quantization && output.quantization->per_tensor();
    return has_zero_point ? static_cast<double>(output.zero_point()) : 0.0;
  }
  const TensorType& type = reader.input_type(2);
  if (type.num_elements() != 1 || type.dtype != reader.input_type(0).dtype ||
      type.quantization != reader.input_type(0).quantization) {
    reader.malformed("the padding value is no single element of the input's type");
    return std::nullopt;
  }
  return reader.element(2, "the padding value");
}

bool read_pad(OperatorReader& reader) {
  const int64_t rank = reader.input_type(0).rank();
  const auto amounts = reader.integers(1, "the list of paddings", 2 * kMostDimensions);
  const std::optional<double> value = padding_value(reader);
  if (!amounts || !value) return false;
  if (static_cast<int64_t>(amounts->size()) != 2 * rank) {
    return reader.malformed(
        fmt::format("there are {} paddings for an input of rank {}", amounts->size(), rank));
  }
  Pad op;
  op.value = *value;
  for (size_t i = 0; i < amounts->size(); ++i) {
    const int64_t amount = amounts->at(i);
    if (amount < 0 || amount > std::numeric_limits<int32_t>::max()) {
      return reader.malformed(fmt::format("a padding of {} makes no sense", amount));
    }
    (i % 2 == 0 ? op.before : op.after).push_back(amount);
  }
  return reader.emit(op, {0});
}

bool read_mean(OperatorReader& reader) {
  const auto options = reader.options<format::ReducerOptions>();
  const auto axes = reader.integers(1, "the list of axes", kMostDimensions);
  if (!options || !axes) return false;
  Reduce op;
  op.keep_dims = options->keep_dims;
  const int64_t rank = reader.input_type(0).rank();
  for (const int64_t axis : *axes) {
    const std::optional<int64_t> resolved = resolved_axis(axis, rank);
    if (!resolved) {
      return reader.malformed(fmt::format("the axis is {}, the rank of the input {}", axis, rank));
    }
    op.axes.push_back(*resolved);
  }
  std::ranges::sort(op.axes);
  op.axes.erase(std::unique(op.axes.begin(), op.axes.end()), op.axes.end());
  return reader.emit(op, {0});
}

// The new shape is the second input, however its dimensions are stored; else it is an option.
std::optional<std::vector<int64_t>> new_shape(OperatorReader& reader) {
  const auto options = reader.options<format::ReshapeOptions>();
  if (!options) return std::nullopt;
  const bool is_option = !options->new_shape.empty();
  if (reader.has_input(1) && (reader.is_constant(1) || !is_option)) {
    return reader.integers(1, "the new shape", kMostDimensions);
  }
  // Before shapes could be inputs, [0] stood for a scalar.
  if (options->new_shape == std::vector<int32_t>{0}) return std::vector<int64_t>();
  return std::vector<int64_t>(options->new_shape.begin(), options->new_shape.end());
}

bool read_reshape(OperatorReader& reader) {
  const std::optional<std::vector<int64_t>> wanted = new_shape(reader);
  if (!wanted) return false;
  std::string fault;
  const std::optional<Shape> shape =
      resolved_shape(*wanted, reader.input_type(0).num_elements(), fault);
  return shape ? reader.emit(Reshape{*shape}, {0}) : reader.malformed(fault);
}

bool read_squeeze(OperatorReader& reader) {
  const auto options = reader.options<format::SqueezeOptions>();
  if (!options) return false;
  const Shape& input = reader.input_type(0).shape;
  std::vector<bool> is_dropped(input.size());
  for (const int64_t dimension : options->squeeze_dims) {
    const std::optional<int64_t> axis = resolved_axis(dimension, reader.input_type(0).rank());
    if (!axis || input[static_cast<size_t>(*axis)] != 1) {
      return reader.malformed(
          fmt::format("dimension {} of {} is not one of extent 1", dimension, print(input)));
    }
    is_dropped[static_cast<size_t>(*axis)] = true;
  }
  Reshape op;
  for (size_t i = 0; i < input.size(); ++i) {
    const bool is_kept = options->squeeze_dims.empty() ? input[i] != 1 : !is_dropped[i];
    if (is_kept) op.shape.push_back(input[i]);
  }
  return reader.emit(op, {0});
}

bool read_expand_dims(OperatorReader& reader) {
  const auto axes = reader.integers(1, "the axis", 1);
  if (!axes) return false;
  const int64_t rank = reader.input_type(0).rank();
  const std::optional<int64_t> axis =
      axes->size() == 1 ? resolved_axis(axes->front(), rank + 1) : std::nullopt;
  if (!axis) return reader.malformed(fmt::format("the axis is beyond the rank {}", rank));
  Reshape op{reader.input_type(0).shape};
  op.shape.insert(op.shape.begin() + *axis, 1);
  return reader.emit(op, {0});
}

bool read_concatenation(OperatorReader& reader) {
  const auto options = reader.options<format::ConcatenationOptions>();
  if (!options) return false;
  const int64_t rank = reader.input_type(0).rank();
  const std::optional<int64_t> axis = resolved_axis(options->axis, rank);
  if (!axis) {
    return reader.malformed(
        fmt::format("the axis is {}, the rank of the inputs {}", options->axis, rank));
  }
  std::vector<int64_t> positions(static_cast<size_t>(reader.num_inputs()));
  std::iota(positions.begin(), positions.end(), 0);
  return reader.emit(Concat{*axis}, positions, options->fused_activation_function);
}

bool read_softmax(OperatorReader& reader) {
  const auto options = reader.options<format::SoftmaxOptions>();
  if (!options) return false;
  if (!std::isfinite(options->beta) || options->beta <= 0) {
    return reader.malformed(fmt::format("beta is {}, it must be above 0", options->beta));
  }
  return reader.emit(Softmax{static_cast<double>(options->beta)}, {0});
}

bool read_quantize(OperatorReader& reader) {
  if (is_float(reader.input_type(0).dtype)) return reader.emit(Quantize{}, {0});
  return reader.emit(Requantize{}, {0});
}

bool read_dequantize(OperatorReader& reader) { return reader.emit(Dequantize{}, {0}); }

constexpr auto kRows = std::to_array<OperatorRow>({
    {BuiltinOperator::ADD, 2, 2, read_binary<format::AddOptions, Binary::Kind::kAdd>},
    {BuiltinOperator::AVERAGE_POOL_2D, 1, 1, read_average_pool},
    {BuiltinOperator::CONCATENATION, 1, kAnyNumber, read_concatenation},
    {BuiltinOperator::CONV_2D, 2, 3, read_conv_2d},
    {BuiltinOperator::DEPTHWISE_CONV_2D, 2, 3, read_depthwise_conv_2d},
    {BuiltinOperator::DEQUANTIZE, 1, 1, read_dequantize},
    {BuiltinOperator::FULLY_CONNECTED, 2, 3, read_fully_connected},
    {BuiltinOperator::LOGISTIC, 1, 1, read_unary<Unary::Kind::kLogistic>},
    {BuiltinOperator::MAX_POOL_2D, 1, 1, read_max_pool},
    {BuiltinOperator::MUL, 2, 2, read_binary<format::MulOptions, Binary::Kind::kMul>},
    {BuiltinOperator::RELU, 1, 1, read_relu<Activation::RELU>},
    {BuiltinOperator::RELU_N1_TO_1, 1, 1, read_relu<Activation::RELU_N1_TO_1>},
    {BuiltinOperator::RELU6, 1, 1, read_relu<Activation::RELU6>},
    {BuiltinOperator::RESHAPE, 1, 2, read_reshape},
    {BuiltinOperator::SOFTMAX, 1, 1, read_softmax},
    {BuiltinOperator::TANH, 1, 1, read_unary<Unary::Kind::kTanh>},
    {BuiltinOperator::PAD, 2, 2, read_pad},
    {BuiltinOperator::TRANSPOSE, 2, 2, read_transpose},
    {BuiltinOperator::MEAN, 2, 2, read_mean},
    {BuiltinOperator::SUB, 2, 2, read_binary<format::SubOptions, Binary::Kind::kSub>},
    {BuiltinOperator::SQUEEZE, 1, 1, read_squeeze},
    {BuiltinOperator::STRIDED_SLICE, 4, 4, read_strided_slice},
    {BuiltinOperator::SPLIT, 2, 2, read_split, true},
    {BuiltinOperator::PADV2, 3, 3, read_pad},
    {BuiltinOperator::SLICE, 3, 3, read_slice},
    {BuiltinOperator::EXPAND_DIMS, 2, 2, read_expand_dims},
    {BuiltinOperator::UNPACK, 1, 1, read_unpack, true},
    {BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, 2, 2, read_resize_nearest_neighbor},
    {BuiltinOperator::SPLIT_V, 3, 3, read_split_v, true},
    {BuiltinOperator::QUANTIZE, 1, 1, read_quantize},
});

const OperatorRow* find_row(BuiltinOperator code) {
  const auto* row = std::ranges::find(kRows, code, &OperatorRow::code);
  return row == kRows.end() ? nullptr : row;
}

// Whether the operator has the inputs and outputs of its row; a diagnostic if not.
bool has_arity(OperatorReader& reader, const OperatorRow& row) {
  if (reader.num_outputs() != 1 && (!row.has_many_outputs || reader.num_outputs() == 0)) {
    return reader.malformed(fmt::format("it has {} outputs instead of 1", reader.num_outputs()));
  }
  if (reader.num_inputs() > row.most_inputs) {
    return reader.malformed(fmt::format("it has {} inputs, at most {} make sense",
                                        reader.num_inputs(), row.most_inputs));
  }
  const int64_t num_required = row.most_inputs == kAnyNumber
                                   ? std::max<int64_t>(reader.num_inputs(), 1)
                                   : row.num_required_inputs;
  for (int64_t i = 0; i < num_required; ++i) {
    if (!reader.has_input(i)) return reader.malformed(fmt::format("input {} is missing", i));
  }
  return true;
}

}  // namespace

std::span<const OperatorRow> operator_rows() { return kRows; }

bool is_supported(GraphBuilder& builder, const Operator& op) {
  if (find_row(op.code)) return true;
  return OperatorReader(builder, op)
      .fail(Code::kOperatorUnsupported, "the operator is not supported",
            "`ingot ops` lists the operators that are");
}

void read_operator(GraphBuilder& builder, const Operator& op) {
  const auto is_usable = [&](int64_t tensor) {
    return tensor < 0 || builder.tensor(tensor).usable;
  };
  if (!std::ranges::all_of(op.inputs, is_usable) || !std::ranges::all_of(op.outputs, is_usable)) {
    return;
  }
  const OperatorRow* row = find_row(op.code);
  CHECK(row);
  OperatorReader reader(builder, op);
  if (has_arity(reader, *row)) row->read(reader);
}

}  // namespace ingot::tflite
