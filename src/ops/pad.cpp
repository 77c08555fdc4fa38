// SPDX-License-Identifier: Apache-2.0
// pad: a tensor surrounded by cells of one value. The kernel writes the output from front to back:
// per dimension a loop that fills, a loop over what lies between, a loop that fills; no test
// inside.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/lowering.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kMaxRank = 8;

Fault check_value(double value, DType dtype) {
  if (dtype == DType::kFloat32) {
    if (std::isnan(value)) return attribute_fault("its value is not a number");
    return std::nullopt;
  }
  constexpr double kExact = 9007199254740992;  // 2^53: below it doubles hold every integer
  const bool fits = value == std::floor(value) && std::abs(value) <= kExact &&
                    value >= static_cast<double>(lowest(dtype)) &&
                    value <= static_cast<double>(highest(dtype));
  if (fits) return std::nullopt;
  return attribute_fault(fmt::format("its value {} is not one of {}", value, name_of(dtype)));
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const Pad& pad = std::get<Pad>(op);
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (x.dtype == DType::kFloat16 || x.dtype == DType::kFloat64) {
    return type_fault("the input is " + std::string(name_of(x.dtype)) +
                      ", supported: integers, bool, float32");
  }
  if (Fault fault = check_value(pad.value, x.dtype)) return *fault;
  if (x.rank() > kMaxRank) {
    return shape_fault(
        fmt::format("the input has rank {}, at most {} is supported", x.rank(), kMaxRank));
  }
  if (pad.before.size() != x.shape.size() || pad.after.size() != x.shape.size()) {
    return attribute_fault(fmt::format("it pads {} and {} dimensions, the input has rank {}",
                                       pad.before.size(), pad.after.size(), x.rank()));
  }
  Shape shape = x.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (pad.before[d] < 0 || pad.after[d] < 0) {
      return attribute_fault(fmt::format("it pads dimension {} by {} and {}, at least 0 is needed",
                                         d, pad.before[d], pad.after[d]));
    }
    const std::optional<int64_t> cells = checked_add(pad.before[d], pad.after[d]);
    const std::optional<int64_t> sum = cells ? checked_add(*cells, shape[d]) : cells;
    if (!sum) return attribute_fault(fmt::format("its padding of dimension {} is too large", d));
    shape[d] = *sum;
  }
  return with_shape(declared[0], std::move(shape));
}

// Where only one of the two is quantised, nobody knows which integer the padding stands for.
constexpr Limit kLimits[] = {
    {"input and output have the same scale and zero point",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return inputs[0].type->quantization == outputs[0].quantization;
     }}};

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const Pad& pad = std::get<Pad>(op);
  const Shape& in = inputs[0].type->shape;
  const Shape& out = outputs[0].type->shape;
  for (int64_t i = 0; i < outputs[0].type->num_elements(); ++i) {
    // The output's index, digit by digit from the last dimension, and what it is in the input.
    bool is_inside = true;
    int64_t rest = i;
    int64_t from = 0;
    int64_t stride = 1;
    for (size_t d = out.size(); d-- > 0;) {
      const int64_t index = rest % out[d] - pad.before[d];
      rest /= out[d];
      is_inside = is_inside && index >= 0 && index < in[d];
      from += index * stride;
      stride *= in[d];
    }
    if (is_float(outputs[0].type->dtype)) {
      set_float(outputs[0], i, is_inside ? float_at(inputs[0], from) : to_float(pad.value));
    } else {
      set_int(outputs[0], i, is_inside ? int_at(inputs[0], from) : static_cast<int64_t>(pad.value));
    }
  }
}

// A dimension together with the following ones that are not padded, in elements.
struct Dim {
  int64_t before = 0;
  int64_t extent = 1;
  int64_t after = 0;
  int64_t padded() const { return before + extent + after; }
};

std::vector<Dim> collapsed_dims(const Pad& pad, const Shape& shape) {
  std::vector<Dim> dims = {{}};
  for (size_t d = 0; d < shape.size(); ++d) {
    if (pad.before[d] == 0 && pad.after[d] == 0) {
      dims.back().before *= shape[d];
      dims.back().extent *= shape[d];
      dims.back().after *= shape[d];
    } else {
      dims.push_back({pad.before[d], shape[d], pad.after[d]});
    }
  }
  return dims;
}

class PadLowering {
 public:
  explicit PadLowering(Lowering& lowering)
      : lowering_(lowering),
        dtype_(lowering.output_type().dtype),
        value_(lowering.op<Pad>().value),
        dims_(collapsed_dims(lowering.op<Pad>(), lowering.input_type(0).shape)) {}

  void run() {
    x_ = lowering_.input(0, "x");
    lowering_.body = dim(0, lit(0), lit(0));
  }

 private:
  // Elements of the padded inner dimensions per step of dimension d.
  int64_t stride(size_t d) const {
    int64_t elements = 1;
    for (size_t inner = d + 1; inner < dims_.size(); ++inner) elements *= dims_[inner].padded();
    return elements;
  }

  void fill(loop::Block& block, const Expr& first, int64_t count) {
    if (count == 0) return;
    const std::string i = lowering_.fresh("i");
    const Expr value = dtype_ == DType::kFloat32
                           ? loop::float_lit(static_cast<double>(to_float(value_)))
                           : lit(static_cast<int64_t>(value_), travel_type());
    block.push_back(
        loop::For{i, lit(0), lit(count), 1, false, lowering_.store(first + var(i), value)});
  }

  // How integers travel (ops/lowering.h), as a load of one shows.
  loop::Type travel_type() const { return Lowering::load(x_, dtype_, lit(0))->type; }

  // Writes what lies under one index of the dimensions before d. `in` and `out` are the first
  // elements there.
  loop::Block dim(size_t d, const Expr& in, const Expr& out) {
    if (d == dims_.size()) return lowering_.store(out, Lowering::load(x_, dtype_, in));
    const int64_t out_stride = stride(d);
    int64_t in_stride = 1;
    for (size_t inner = d + 1; inner < dims_.size(); ++inner) in_stride *= dims_[inner].extent;
    const Dim& here = dims_[d];
    const std::string i = lowering_.fresh("i");
    loop::Block block;
    fill(block, out, here.before * out_stride);
    block.push_back(loop::For{
        i, lit(0), lit(here.extent), 1, false,
        dim(d + 1, in + var(i) * in_stride, out + here.before * out_stride + var(i) * out_stride)});
    fill(block, out + (here.before + here.extent) * out_stride, here.after * out_stride);
    return block;
  }

  Lowering& lowering_;
  DType dtype_;
  double value_;
  std::vector<Dim> dims_;
  std::string x_;
};

void lower(Lowering& lowering) { PadLowering(lowering).run(); }

}  // namespace

constinit const OpRules Pad::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
