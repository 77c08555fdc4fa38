// SPDX-License-Identifier: Apache-2.0
// The operator set. One struct per operator holds exactly its attributes, its name and the list of
// its fields, from which printing, parsing and JSON follow; what an operator *does* is in
// ops/<name>.cpp, reached through its `rules`.
//
// Two things are not attributes. Quantised arithmetic follows from the tensors' types: a conv_2d
// whose input and output are int8 with scales means accumulation in int32, bias, requantisation and
// saturation; float input and output with int8 weights mean that the input is quantised at run
// time, row by row (ops/hybrid.h). Activations are a `clamp` of their own; a pass fuses it into its
// producer.
//
// To add an operator: declare its struct here, add it to `Op`, write ops/<name>.cpp, and teach an
// importer to produce it. The linker names what you forgot.
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot {

struct OpRules;  // ops/rules.h

// Cells added around the two spatial dimensions of an NHWC tensor. All at least 0.
struct Padding {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
  bool operator==(const Padding&) const = default;
};

// y = conv(x, filter) + bias. x: [N,H,W,C]; filter: [O,KH,KW,C/groups]; bias: [O] or absent;
// y: [N,Ho,Wo,O] with Ho = (H + top + bottom - (KH-1)*dilation_h - 1) / stride_h + 1. Padding cells
// contribute nothing (they hold the zero point). Inputs: x, filter, bias.
struct Conv2D {
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  int64_t dilation_h = 1;
  int64_t dilation_w = 1;
  Padding padding;
  int64_t groups = 1;
  // The bias already holds -zero_point(x) * sum(filter): the accumulation takes x as it is.
  bool zero_point_in_bias = false;
  // Hybrid only: x is quantised with a zero point.
  bool asymmetric_inputs = false;

  static constexpr std::string_view name = "conv_2d";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("dilation_h", self.dilation_h);
    visit("dilation_w", self.dilation_w);
    visit("padding", self.padding);
    visit("groups", self.groups);
    visit("zero_point_in_bias", self.zero_point_in_bias);
    visit("asymmetric_inputs", self.asymmetric_inputs);
  }
  bool operator==(const Conv2D&) const = default;
};

// As conv_2d with each input channel on its own: output channel c*m + k reads input channel c,
// where m = O / C is the multiplier. filter: [1,KH,KW,O]. Inputs: x, filter, bias.
struct DepthwiseConv2D {
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  int64_t dilation_h = 1;
  int64_t dilation_w = 1;
  Padding padding;
  bool zero_point_in_bias = false;
  bool asymmetric_inputs = false;

  static constexpr std::string_view name = "depthwise_conv_2d";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("dilation_h", self.dilation_h);
    visit("dilation_w", self.dilation_w);
    visit("padding", self.padding);
    visit("zero_point_in_bias", self.zero_point_in_bias);
    visit("asymmetric_inputs", self.asymmetric_inputs);
  }
  bool operator==(const DepthwiseConv2D&) const = default;
};

// y = x * weights^T + bias. x: any shape whose elements divide into rows of I; weights: [O,I];
// bias: [O] or absent; y: [rows,O], or x's shape with the last extent O if keep_dims.
// Inputs: x, weights, bias.
struct FullyConnected {
  bool keep_dims = false;
  bool zero_point_in_bias = false;
  bool asymmetric_inputs = false;

  static constexpr std::string_view name = "fully_connected";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("keep_dims", self.keep_dims);
    visit("zero_point_in_bias", self.zero_point_in_bias);
    visit("asymmetric_inputs", self.asymmetric_inputs);
  }
  bool operator==(const FullyConnected&) const = default;
};

// Each output cell is the average or maximum of the window's cells inside the image. NHWC.
struct Pool2D {
  enum class Kind : uint8_t { kAverage, kMax };
  Kind kind = Kind::kAverage;
  int64_t kernel_h = 1;
  int64_t kernel_w = 1;
  int64_t stride_h = 1;
  int64_t stride_w = 1;
  Padding padding;

  static constexpr std::string_view name = "pool_2d";
  static constexpr std::string_view kinds[] = {"average", "max"};
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("kind", self.kind);
    visit("kernel_h", self.kernel_h);
    visit("kernel_w", self.kernel_w);
    visit("stride_h", self.stride_h);
    visit("stride_w", self.stride_w);
    visit("padding", self.padding);
  }
  bool operator==(const Pool2D&) const = default;
};

// y = x op z, elementwise, shapes broadcast as numpy does (aligned at the right). Inputs: x, z.
struct Binary {
  enum class Kind : uint8_t { kAdd, kSub, kMul };
  Kind kind = Kind::kAdd;

  static constexpr std::string_view name = "binary";
  static constexpr std::string_view kinds[] = {"add", "sub", "mul"};
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("kind", self.kind); }
  bool operator==(const Binary&) const = default;
};

// y = f(x), elementwise, through the rounding that the reference prescribes for f.
struct Unary {
  enum class Kind : uint8_t { kLogistic, kTanh };
  Kind kind = Kind::kLogistic;

  static constexpr std::string_view name = "unary";
  static constexpr std::string_view kinds[] = {"logistic", "tanh"};
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("kind", self.kind); }
  bool operator==(const Unary&) const = default;
};

// y = min(max(x, low), high), elementwise, in units of the element (for quantised tensors the
// stored integer). Input and output have equal types. Infinite bounds are none.
struct Clamp {
  double low = 0;
  double high = 0;

  static constexpr std::string_view name = "clamp";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("low", self.low);
    visit("high", self.high);
  }
  bool operator==(const Clamp&) const = default;
};

// The same real values on another integer scale: y = zero_point(y) + round((x - zero_point(x)) *
// scale(x) / scale(y)), saturated.
struct Requantize {
  // The ratio of the scales is taken in float32 before it becomes a multiplier (TFLM's RELU does
  // so).
  bool ratio_in_float32 = false;

  static constexpr std::string_view name = "requantize";
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("ratio_in_float32", self.ratio_in_float32); }
  bool operator==(const Requantize&) const = default;
};

// y = zero_point + round(x / scale), saturated; x float, y quantised integer.
struct Quantize {
  static constexpr std::string_view name = "quantize";
  static const OpRules rules;
  static void fields(auto& /*self*/, auto /*visit*/) {}
  bool operator==(const Quantize&) const = default;
};

// y = scale * (x - zero_point); x quantised integer, y float.
struct Dequantize {
  static constexpr std::string_view name = "dequantize";
  static const OpRules rules;
  static void fields(auto& /*self*/, auto /*visit*/) {}
  bool operator==(const Dequantize&) const = default;
};

// x surrounded by cells that hold `value` (in units of the element). One extent per dimension of x.
struct Pad {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  double value = 0;

  static constexpr std::string_view name = "pad";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("before", self.before);
    visit("after", self.after);
    visit("value", self.value);
  }
  bool operator==(const Pad&) const = default;
};

// The mean over `axes` (distinct, ascending, non-negative).
struct Reduce {
  enum class Kind : uint8_t { kMean };
  Kind kind = Kind::kMean;
  std::vector<int64_t> axes;
  bool keep_dims = false;

  static constexpr std::string_view name = "reduce";
  static constexpr std::string_view kinds[] = {"mean"};
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("kind", self.kind);
    visit("axes", self.axes);
    visit("keep_dims", self.keep_dims);
  }
  bool operator==(const Reduce&) const = default;
};

// The same elements in the same order under another shape (fully resolved, no -1). Reshape,
// squeeze, expand_dims and flatten are all this.
struct Reshape {
  std::vector<int64_t> shape;

  static constexpr std::string_view name = "reshape";
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("shape", self.shape); }
  bool operator==(const Reshape&) const = default;
};

// All inputs one after the other along `axis` (non-negative). Inputs on another scale than the
// output are rescaled.
struct Concat {
  int64_t axis = 0;

  static constexpr std::string_view name = "concat";
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("axis", self.axis); }
  bool operator==(const Concat&) const = default;
};

// y_i = exp(beta * x_i) / sum_j exp(beta * x_j) along the last dimension.
struct Softmax {
  double beta = 1;

  static constexpr std::string_view name = "softmax";
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("beta", self.beta); }
  bool operator==(const Softmax&) const = default;
};

// y = x. What a model needs where one value must stand in two of the caller's buffers.
struct Copy {
  static constexpr std::string_view name = "copy";
  static const OpRules rules;
  static void fields(auto& /*self*/, auto /*visit*/) {}
  bool operator==(const Copy&) const = default;
};

// Every stride-th element of x from `begin` on, `size` of them in each dimension. Strides are not
// 0; below 0 they go backwards. One number per dimension of x.
struct Slice {
  std::vector<int64_t> begin;
  std::vector<int64_t> size;
  std::vector<int64_t> strides;

  static constexpr std::string_view name = "slice";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("begin", self.begin);
    visit("size", self.size);
    visit("strides", self.strides);
  }
  bool operator==(const Slice&) const = default;
};

// Dimension d of y is dimension permutation[d] of x.
struct Transpose {
  std::vector<int64_t> permutation;

  static constexpr std::string_view name = "transpose";
  static const OpRules rules;
  static void fields(auto& self, auto visit) { visit("permutation", self.permutation); }
  bool operator==(const Transpose&) const = default;
};

// Each cell of y is the nearest one of x, along the two spatial dimensions of an NHWC tensor.
struct ResizeNearest {
  int64_t height = 1;
  int64_t width = 1;
  bool align_corners = false;
  bool half_pixel_centers = false;

  static constexpr std::string_view name = "resize_nearest";
  static const OpRules rules;
  static void fields(auto& self, auto visit) {
    visit("height", self.height);
    visit("width", self.width);
    visit("align_corners", self.align_corners);
    visit("half_pixel_centers", self.half_pixel_centers);
  }
  bool operator==(const ResizeNearest&) const = default;
};

using Op = std::variant<Conv2D, DepthwiseConv2D, FullyConnected, Pool2D, Binary, Unary, Clamp,
                        Requantize, Quantize, Dequantize, Pad, Reduce, Reshape, Concat, Softmax,
                        Copy, Slice, Transpose, ResizeNearest>;

inline std::string_view name_of(const Op& op) {
  return std::visit([](const auto& o) { return o.name; }, op);
}
// The kind for families ("add", "max"), else the name: the `kind` of NAME.json's operators is
// name_of for operators of their own and kind_of for members of a family, with pooling spelt
// "average_pool_2d" and "max_pool_2d".
std::string display_name(const Op& op);

}  // namespace ingot
