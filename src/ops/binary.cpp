// SPDX-License-Identifier: Apache-2.0
// binary: add, sub and mul with numpy's broadcasting, on float32 and on quantised integers.
//
// Quantised add and sub bring both operands to half the coarser of their scales with `left_shift`
// extra bits, add or subtract, and rescale to the output; mul multiplies the centred integers and
// rescales once. Each rescaling is a MultiplyByQuantizedMultiplier; the factors are prepared as
// TFLM prepares them: add and mul in double, sub in float32 (micro/kernels/add_common.cc,
// sub_common.cc, mul_common.cc; reference/integer_ops/add.h, mul.h). The arithmetic is integer in
// every rounding mode: the float mode rounds as the single one.
#include <fmt/format.h>

#include <cmath>

#include "ops/access.h"
#include "ops/fixed_point.h"
#include "ops/proved_rescale.h"
#include "ops/proved_sum.h"
#include "ops/rescale.h"
#include "ops/table.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::lit;
using Kind = Binary::Kind;

// The shape that both broadcast to, aligned at the right; absent if they do not.
std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t x = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const int64_t z = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (x != z && x != 1 && z != 1) return std::nullopt;
    result[d] = x == 1 ? z : x;
  }
  return result;
}

// What the operands and the result of add and sub are multiplied by.
struct SumFactors {
  int64_t left_shift = 20;
  double x = 0;
  double z = 0;
  double out = 0;
};

SumFactors sum_factors(Kind kind, const TensorType& x, const TensorType& z, const TensorType& y) {
  const int64_t left_shift = y.dtype == DType::kInt16 ? 15 : 20;
  const int64_t unit = int64_t{1} << left_shift;
  if (kind == Kind::kSub) {
    const float twice_max = 2 * std::max(x.scale(), z.scale());
    return {left_shift, static_cast<double>(x.scale() / twice_max),
            static_cast<double>(z.scale() / twice_max),
            static_cast<double>(twice_max / (static_cast<float>(unit) * y.scale()))};
  }
  const double twice_max = 2 * static_cast<double>(std::max(x.scale(), z.scale()));
  return {left_shift, static_cast<double>(x.scale()) / twice_max,
          static_cast<double>(z.scale()) / twice_max,
          twice_max / (static_cast<double>(unit) * static_cast<double>(y.scale()))};
}

double product_factor(const TensorType& x, const TensorType& z, const TensorType& y) {
  return static_cast<double>(x.scale()) * static_cast<double>(z.scale()) /
         static_cast<double>(y.scale());
}

Fault check_quantized(Kind kind, const TensorType& x, const TensorType& z, const TensorType& y) {
  if (Fault fault = check_per_tensor(x, "the first input")) return fault;
  if (Fault fault = check_per_tensor(z, "the second input")) return fault;
  if (Fault fault = check_per_tensor(y, "the output")) return fault;
  if (kind == Kind::kMul) return std::nullopt;
  const SumFactors factors = sum_factors(kind, x, z, y);
  if (std::isfinite(factors.x) && std::isfinite(factors.z) && std::isfinite(factors.out)) {
    return std::nullopt;
  }
  return quantization_fault(fmt::format("the ratios of the scales {}, {} and {} leave float32",
                                        x.scale(), z.scale(), y.scale()));
}

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  if (Fault fault = check_arity(inputs, 2, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  const TensorType& z = *inputs[1].type;
  const TensorType& y = declared[0];
  const auto dtypes = {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kFloat32};
  if (Fault fault = check_dtype(x, "the first input", dtypes)) return *fault;
  if (x.dtype != z.dtype) {
    return type_fault(fmt::format("the inputs are {} and {}, they must be equal", name_of(x.dtype),
                                  name_of(z.dtype)));
  }
  if (Fault fault = check_same_dtype(x, y)) return *fault;
  if (!is_float(x.dtype)) {
    if (Fault fault = check_quantized(std::get<Binary>(op).kind, x, z, y)) return *fault;
  }
  std::optional<Shape> shape = broadcast_shape(x.shape, z.shape);
  if (!shape) {
    return shape_fault(fmt::format("the inputs {} and {} do not broadcast to one shape",
                                   print(x.shape), print(z.shape)));
  }
  return with_shape(y, std::move(*shape));
}

constexpr Limit kLimits[] = {
    {"the zero points of int16 tensors are 0",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> outputs) {
       return outputs[0].dtype != DType::kInt16 ||
              (inputs[0].type->zero_point() == 0 && inputs[1].type->zero_point() == 0 &&
               outputs[0].zero_point() == 0);
     }}};

// The flat index in `shape` of the element that broadcasting pairs with `index` of `result`.
int64_t broadcast_index(int64_t index, const Shape& result, const Shape& shape) {
  int64_t flat = 0;
  int64_t stride = 1;
  for (size_t back = 1; back <= shape.size(); ++back) {
    const int64_t extent = shape[shape.size() - back];
    const int64_t result_extent = result[result.size() - back];
    if (extent > 1) flat += index % result_extent * stride;
    index /= result_extent;
    stride *= extent;
  }
  return flat;
}

float reference_float(Kind kind, float x, float z) {
  if (kind == Kind::kMul) return x * z;
  return kind == Kind::kAdd ? x + z : x - z;
}

// What all elements of a quantised operation have in common.
struct ReferenceFactors {
  Kind kind = Kind::kAdd;
  Rounding rounding = Rounding::kDouble;
  int64_t left_shift = 0;
  QuantizedMultiplier x;
  QuantizedMultiplier z;
  QuantizedMultiplier out;
};

ReferenceFactors reference_factors(Kind kind, Rounding rounding, const TensorType& x,
                                   const TensorType& z, const TensorType& y) {
  if (kind == Kind::kMul) {
    return {kind, rounding, 0, {}, {}, quantize_multiplier(product_factor(x, z, y))};
  }
  const SumFactors factors = sum_factors(kind, x, z, y);
  return {kind,
          rounding,
          factors.left_shift,
          quantize_multiplier(factors.x),
          quantize_multiplier(factors.z),
          quantize_multiplier(factors.out)};
}

// From centred operands to the result before its zero point.
int64_t reference_quantized(const ReferenceFactors& factors, int64_t x, int64_t z) {
  const auto multiply = [&](int64_t value, QuantizedMultiplier m) -> int64_t {
    return reference::multiply_by_quantized_multiplier(static_cast<int32_t>(value), m,
                                                       factors.rounding);
  };
  if (factors.kind == Kind::kMul) return multiply(x * z, factors.out);
  const int64_t unit = int64_t{1} << factors.left_shift;
  const int64_t scaled_x = multiply(x * unit, factors.x);
  const int64_t scaled_z = multiply(z * unit, factors.z);
  return multiply(factors.kind == Kind::kAdd ? scaled_x + scaled_z : scaled_x - scaled_z,
                  factors.out);
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding rounding) {
  const Kind kind = std::get<Binary>(op).kind;
  const TensorType& x = *inputs[0].type;
  const TensorType& z = *inputs[1].type;
  const TensorType& y = *outputs[0].type;
  ReferenceFactors factors;
  if (!is_float(y.dtype)) {
    factors = reference_factors(kind, integer_rounding(rounding), x, z, y);
  }
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    const int64_t at_x = broadcast_index(i, y.shape, x.shape);
    const int64_t at_z = broadcast_index(i, y.shape, z.shape);
    if (is_float(y.dtype)) {
      set_float(outputs[0], i,
                reference_float(kind, float_at(inputs[0], at_x), float_at(inputs[1], at_z)));
      continue;
    }
    const int64_t result = reference_quantized(factors, int_at(inputs[0], at_x) - x.zero_point(),
                                               int_at(inputs[1], at_z) - z.zero_point());
    set_int(outputs[0], i, reference::saturate(result + y.zero_point(), y.dtype));
  }
}

// `centred` * 2^left_shift * factor. The operand with the coarser scale has the factor 1/2, which
// is exact in every rounding.
Expr lower_scaled(Lowering& lowering, const Expr& centred, int64_t bound, int64_t left_shift,
                  double factor) {
  if (factor == 0.5) return centred * (int64_t{1} << (left_shift - 1));
  return multiply_by_quantized_multiplier(lowering, centred * (int64_t{1} << left_shift),
                                          quantize_multiplier(factor), bound << left_shift);
}

loop::Function less_if_negative_function() {
  const Expr x = loop::var("x");
  return {"less_if_negative",
          {{"x", loop::kInt32}, {"bend", loop::kInt32}},
          {},
          x + loop::shr(x, 31) * loop::var("bend"),
          "x, or x - bend where x is negative",
          ""};
}

// A sum or difference of bytes whose constants are searched for.
struct ByteSum {
  Kind kind;
  const TensorType& x;
  const TensorType& z;
  const TensorType& y;
  Interval range;          // of all three
  int64_t base;            // 0 where that saves an instruction
  loop::ProvedSum record;  // without the constants
};

ByteSum byte_sum(Kind kind, const TensorType& x, const TensorType& z, const TensorType& y) {
  const Interval range{lowest(y.dtype), highest(y.dtype)};
  // Saturation to int8 is an instruction on Arm.
  const int64_t base = y.dtype == DType::kInt8 ? 0 : range.low;
  loop::ProvedSum record;
  record.subtracts = kind == Kind::kSub;
  record.x_scale = x.scale();
  record.z_scale = z.scale();
  record.output_scale = y.scale();
  record.x_zero_point = x.zero_point();
  record.z_zero_point = z.zero_point();
  record.zero_point = y.zero_point();
  record.lowest = range.low;
  record.highest = range.high;
  record.base = base;
  return {kind, x, z, y, range, base, record};
}

SumTask task_of(const ByteSum& sum, Rounding rounding) {
  const double sign = sum.kind == Kind::kSub ? -1 : 1;
  const auto reference =
      [factors = reference_factors(sum.kind, integer_rounding(rounding), sum.x, sum.z, sum.y), sum](
          int64_t a, int64_t b) {
        const int64_t value =
            reference_quantized(factors, a - sum.x.zero_point(), b - sum.z.zero_point());
        return reference::saturate(value + sum.y.zero_point(), sum.y.dtype) - sum.base;
      };
  return {.reference = reference,
          .x = sum.range,
          .z = sum.range,
          .x_zero_point = sum.x.zero_point(),
          .z_zero_point = sum.z.zero_point(),
          .x_factor = double{sum.x.scale()} / double{sum.y.scale()},
          .z_factor = sign * double{sum.z.scale()} / double{sum.y.scale()},
          .clamp = {sum.range.low - sum.base, sum.range.high - sum.base}};
}

std::string key_of(const ByteSum& sum, Rounding rounding) {
  return fmt::format("{} {} {}:{} {}:{} {}:{} {}", static_cast<int>(sum.kind),
                     static_cast<int>(rounding), sum.x.scale(), sum.x.zero_point(), sum.z.scale(),
                     sum.z.zero_point(), sum.y.scale(), sum.y.zero_point(), name_of(sum.y.dtype));
}

Expr clamped(const ByteSum& sum, const Expr& value, int64_t shift) {
  return clamp_to(loop::shr(value, shift), sum.range.low - sum.base, sum.range.high - sum.base) +
         sum.base;
}

// A sum of bytes as a proved plane, if there is one; null otherwise.
Expr lower_plane(Lowering& lowering, const ByteSum& sum, const Expr& x, const Expr& z) {
  const std::optional<Plane> plane = lowering.plane_searches().find(
      key_of(sum, lowering.rounding()), task_of(sum, lowering.rounding()));
  if (!plane) return nullptr;
  loop::ProvedSum record = sum.record;
  record.x_multiplier = plane->x_multiplier;
  record.z_multiplier = plane->z_multiplier;
  record.centre = plane->centre;
  record.offset = plane->offset;
  record.bend = plane->bend;
  record.shift = plane->shift;
  lowering.record(record);
  const Expr products = x * plane->x_multiplier + z * plane->z_multiplier;
  if (plane->bend == 0) {
    return clamped(sum, products + (plane->centre + plane->offset), plane->shift);
  }
  lowering.use(less_if_negative_function());
  const Expr bent =
      loop::call("less_if_negative", loop::kInt32, {products + plane->centre, lit(plane->bend)});
  return clamped(sum, bent + plane->offset, plane->shift);
}

// The same by a table of z's offsets.
Expr lower_by_table(Lowering& lowering, const ByteSum& sum, const Expr& x, const Expr& z) {
  const std::optional<SumByTable> found = lowering.plane_searches().find_by_table(
      key_of(sum, lowering.rounding()), task_of(sum, lowering.rounding()));
  if (!found) return nullptr;
  const std::vector<int32_t> offsets(found->z_offsets.begin(), found->z_offsets.end());
  loop::ProvedSum record = sum.record;
  record.x_multiplier = found->x_multiplier;
  record.shift = found->shift;
  record.z_offsets = found->z_offsets;
  record.z_offsets_table = lowering.constant("offsets_of_other", DType::kInt32, Bytes::of(offsets));
  lowering.record(record);
  const Expr index = index_of_byte(z, sum.range.low);
  const Expr offset = Lowering::load(record.z_offsets_table, DType::kInt32, index);
  return clamped(sum, x * found->x_multiplier + offset, found->shift);
}

// A sum of bytes with proved constants, if there are any; null otherwise.
Expr lower_proved(Lowering& lowering, Kind kind, const TensorType& x, const TensorType& z,
                  const TensorType& y, std::span<const Expr> inputs) {
  if (size_in_bytes(y.dtype) > 1) return nullptr;
  const ByteSum sum = byte_sum(kind, x, z, y);
  if (Expr value = lower_plane(lowering, sum, inputs[0], inputs[1])) return value;
  if (!lowering.forms().sum_tables) return nullptr;
  // What comes from memory is an index as it is.
  const bool swaps = kind == Kind::kAdd && is_loaded(inputs[0]) && !is_loaded(inputs[1]);
  if (swaps) return lower_by_table(lowering, byte_sum(kind, z, x, y), inputs[1], inputs[0]);
  return lower_by_table(lowering, sum, inputs[0], inputs[1]);
}

// A product of bytes (`centred`: of both operands less their zero points) with one proved line;
// null if there is none, or if the target does better with the reference's arithmetic.
Expr lower_proved_product(Lowering& lowering, const TensorType& x, const TensorType& z,
                          const TensorType& y, const Expr& centred) {
  if (size_in_bytes(y.dtype) > 1 || !lowering.forms().rescalings) return nullptr;
  const int64_t bound = greatest_magnitude(x) * greatest_magnitude(z);
  const RescaleTask task = {.factors = {product_factor(x, z, y)},
                            .accumulators = {{-bound, bound}},
                            .biases = {},
                            .zero_point = y.zero_point(),
                            .clamp = {lowest(y.dtype), highest(y.dtype)},
                            .rounding = integer_rounding(lowering.rounding())};
  if (!lowering.plane_searches().may_find_lines(num_searches(task))) return nullptr;
  const std::optional<ProvedRescale> proved = prove_rescale(task);
  if (!proved) return nullptr;
  const ProvedRescaler rescaler(lowering, task, *proved);
  const Expr value = rescaler.apply(centred, lit(0));
  if (!rescaler.clamps()) return value;
  const int64_t base = rescaler.base();
  return clamp_to(value, lowest(y.dtype) - base, highest(y.dtype) - base) + base;
}

Expr element(Lowering& lowering, const Op& op, std::span<const TensorType* const> types,
             const TensorType& y, std::span<const Expr> inputs) {
  const Kind kind = std::get<Binary>(op).kind;
  if (is_float(y.dtype)) {
    if (kind == Kind::kMul) return inputs[0] * inputs[1];
    return kind == Kind::kAdd ? inputs[0] + inputs[1] : inputs[0] - inputs[1];
  }
  const TensorType& x = *types[0];
  const TensorType& z = *types[1];
  const int64_t bound_x = greatest_magnitude(x);
  const int64_t bound_z = greatest_magnitude(z);
  const Expr centred_x = inputs[0] - x.zero_point();
  const Expr centred_z = inputs[1] - z.zero_point();
  if (kind == Kind::kMul) {
    if (Expr value = lower_proved_product(lowering, x, z, y, centred_x * centred_z)) return value;
    return saturate_to(y, multiply_by_quantized_multiplier(
                              lowering, centred_x * centred_z,
                              quantize_multiplier(product_factor(x, z, y)), bound_x * bound_z));
  }
  if (Expr value = lower_proved(lowering, kind, x, z, y, inputs)) return value;
  const SumFactors factors = sum_factors(kind, x, z, y);
  const Expr scaled_x = lower_scaled(lowering, centred_x, bound_x, factors.left_shift, factors.x);
  const Expr scaled_z = lower_scaled(lowering, centred_z, bound_z, factors.left_shift, factors.z);
  // Each is at most half of what went in, and a step for the rounding.
  const int64_t bound = ((bound_x + bound_z) << (factors.left_shift - 1)) + 2;
  const Expr sum = kind == Kind::kAdd ? scaled_x + scaled_z : scaled_x - scaled_z;
  return saturate_to(
      y, multiply_by_quantized_multiplier(lowering, sum, quantize_multiplier(factors.out), bound));
}

// Neighbouring dimensions in which both operands do the same, as one.
struct Dim {
  int64_t extent = 1;
  bool x_varies = false;
  bool z_varies = false;
};

std::vector<Dim> collapsed_dims(const Shape& x, const Shape& z, const Shape& y) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < y.size(); ++d) {
    if (y[d] == 1) continue;
    const Dim dim = {y[d], d + x.size() >= y.size() && x[d + x.size() - y.size()] > 1,
                     d + z.size() >= y.size() && z[d + z.size() - y.size()] > 1};
    if (!dims.empty() && dims.back().x_varies == dim.x_varies &&
        dims.back().z_varies == dim.z_varies) {
      dims.back().extent *= dim.extent;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

// Loops over dims[d...]; `x`, `z` and `y` are the indices of what has been fixed so far, as
// multiples of the extents that are still to come.
loop::Block lower_dims(Lowering& lowering, const std::vector<Dim>& dims, size_t d, Expr x, Expr z,
                       const Expr& y) {
  const Dim& dim = dims[d];
  const std::string i = lowering.fresh("i");
  const auto next = [&](const Expr& index) { return index * dim.extent + loop::var(i); };
  loop::Block before;
  loop::Block body;
  if (d + 1 < dims.size()) {
    body = lower_dims(lowering, dims, d + 1, dim.x_varies ? next(x) : x, dim.z_varies ? next(z) : z,
                      next(y));
  } else {
    const DType dtype = lowering.output_type().dtype;
    const TensorType* types[] = {&lowering.input_type(0), &lowering.input_type(1)};
    Expr elements[2];
    const bool varies[] = {dim.x_varies, dim.z_varies};
    const Expr indices[] = {dim.x_varies ? next(x) : x, dim.z_varies ? next(z) : z};
    for (size_t n = 0; n < 2; ++n) {
      elements[n] = Lowering::load(lowering.input(n, n == 0 ? "x" : "z"), dtype, indices[n]);
      if (varies[n]) continue;
      const std::string name = lowering.fresh("fixed");
      before.push_back(loop::Let{name, elements[n]});
      elements[n] = loop::var(name, elements[n]->type);
    }
    const Expr value =
        element(lowering, lowering.node().op, types, lowering.output_type(), elements);
    body = lowering.store(next(y), value);
  }
  before.push_back(loop::For{i, lit(0), lit(dim.extent), 1, false, std::move(body)});
  return before;
}

void lower(Lowering& lowering) {
  const TensorType& x = lowering.input_type(0);
  const TensorType& z = lowering.input_type(1);
  const TensorType& y = lowering.output_type();
  const int64_t count = y.num_elements();
  if (count == 0) return;
  const auto is_flat = [&](int64_t n) { return n == count || n == 1; };
  if (is_flat(x.num_elements()) && is_flat(z.num_elements())) {
    lower_elementwise(lowering);
    return;
  }
  lowering.input(0, "x");
  lowering.input(1, "z");
  lowering.body =
      lower_dims(lowering, collapsed_dims(x.shape, z.shape, y.shape), 0, lit(0), lit(0), lit(0));
}

}  // namespace

constinit const OpRules Binary::rules = {.infer = infer,
                                         .limits = kLimits,
                                         .reference = reference_rule,
                                         .lower = lower,
                                         .element = element};

}  // namespace ingot
