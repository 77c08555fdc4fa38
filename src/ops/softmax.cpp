// SPDX-License-Identifier: Apache-2.0
// softmax: along the last dimension, on float32 and on int8.
//
// Int8 is what TFLM's reference kernel computes (reference/softmax.h; prepared by
// PreprocessSoftmaxScaling and CalculateInputRadius in quantization_util.cc): differences to the
// row's maximum in Q5.26, gemmlowp's exponential of each in Q0.31, their sum in Q12.19, its
// reciprocal by Newton's iteration, and one rounding shift. It does not requantise, so the rounding
// mode has no part in it. Two things are defined here that end the program or overflow there: a
// shift by more than 31 bits (sums of 512 and more) rounds as a shift by so many bits does, and a
// sum that leaves 32 bits is taken as the greatest that does not; both give rows of zeros or ones.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ops/access.h"
#include "ops/checks.h"
#include "ops/fixed_point.h"
#include "ops/gemmlowp.h"
#include "ops/reference_math.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int kDifferenceIntegerBits = 5;
constexpr int kSumIntegerBits = 12;

Result<std::vector<TensorType>> infer(const Op& op, Operands inputs,
                                      std::span<const TensorType> declared) {
  const double beta = std::get<Softmax>(op).beta;
  if (Fault fault = check_arity(inputs, 1, declared)) return *fault;
  const TensorType& x = *inputs[0].type;
  if (Fault fault = check_dtype(x, "the input", {DType::kInt8, DType::kFloat32})) return *fault;
  if (Fault fault = check_same_dtype(x, declared[0])) return *fault;
  if (!(beta > 0) || !std::isfinite(to_float(beta))) {
    return attribute_fault(fmt::format("its beta is {}, a finite one above 0 is needed", beta));
  }
  if (x.rank() == 0) return shape_fault("the input is a scalar, it needs a dimension");
  if (x.dtype == DType::kInt8) {
    if (Fault fault = check_per_tensor(x, "the input")) return *fault;
    if (Fault fault = check_per_tensor(declared[0], "the output")) return *fault;
  }
  return with_shape(declared[0], x.shape);
}

constexpr Limit kLimits[] = {
    // infer refuses the others: here it stands for who reads the list.
    {"the input has a dimension",
     [](const Op& /*op*/, Operands inputs, std::span<const TensorType> /*outputs*/) {
       return inputs[0].type->rank() > 0;
     }},
    {"the int8 output has scale 1/256 and zero point -128",
     [](const Op& /*op*/, Operands /*inputs*/, std::span<const TensorType> outputs) {
       return outputs[0].dtype != DType::kInt8 ||
              (outputs[0].scale() == 1.0F / 256 && outputs[0].zero_point() == -128);
     }}};

// exp(-difference * scale * beta) in Q0.31 for the differences 0 .. 255; 0 where TFLite takes it as
// too small to count.
std::vector<int32_t> exponentials(double beta, const TensorType& x) {
  const double factor =
      std::min(std::ldexp(beta * static_cast<double>(x.scale()), 31 - kDifferenceIntegerBits),
               static_cast<double>(kInt32Max));
  int left_shift = 0;
  const double mantissa = std::frexp(factor, &left_shift);
  if (std::round(std::ldexp(mantissa, 31)) == std::ldexp(1.0, 31)) ++left_shift;
  const double radius = std::floor(
      std::ldexp((1 << kDifferenceIntegerBits) - 1, 31 - kDifferenceIntegerBits - left_shift));
  const QuantizedMultiplier multiplier = quantize_multiplier(factor);
  std::vector<int32_t> result(256, 0);
  for (int32_t difference = 0; difference < 256; ++difference) {
    if (difference > radius) break;
    const int32_t scaled =
        reference::multiply_by_quantized_multiplier(-difference, multiplier, Rounding::kDouble);
    result[static_cast<size_t>(difference)] =
        reference::exp_on_negative_values(scaled, kDifferenceIntegerBits);
  }
  return result;
}

void reference_row_int8(const TensorView& x, const MutableTensorView& y, int64_t first,
                        int64_t depth, const std::vector<int32_t>& exps) {
  int64_t greatest = -128;
  for (int64_t i = first; i < first + depth; ++i) greatest = std::max(greatest, int_at(x, i));
  const auto exp_at = [&](int64_t i) {
    return exps.at(static_cast<size_t>(greatest - int_at(x, i)));
  };
  int64_t wide_sum = 0;
  for (int64_t i = first; i < first + depth; ++i) {
    wide_sum += reference::rounding_divide_by_pot(exp_at(i), kSumIntegerBits);
  }
  const auto sum = static_cast<uint32_t>(std::min(wide_sum, kInt32Max));
  const int headroom = std::countl_zero(sum);
  // The sum without its leading bit, as a fraction in Q0.31.
  const auto fraction = static_cast<int32_t>((sum << headroom) - (uint32_t{1} << 31));
  const int32_t reciprocal = reference::one_over_one_plus(fraction);
  const int exponent = kSumIntegerBits - headroom + 31 - 8;
  for (int64_t i = first; i < first + depth; ++i) {
    const int32_t product = reference::saturating_rounding_doubling_high_mul(reciprocal, exp_at(i));
    const int64_t rounded =
        exponent > 31 ? 0 : reference::rounding_divide_by_pot(product, exponent);
    set_int(y, i, reference::saturate(rounded - 128, DType::kInt8));
  }
}

void reference_row_float(const TensorView& x, const MutableTensorView& y, int64_t first,
                         int64_t depth, float beta) {
  float greatest = std::numeric_limits<float>::lowest();
  for (int64_t i = first; i < first + depth; ++i) greatest = std::max(greatest, float_at(x, i));
  const auto exp_at = [&](int64_t i) { return std::exp((float_at(x, i) - greatest) * beta); };
  float sum = 0;
  for (int64_t i = first; i < first + depth; ++i) sum += exp_at(i);
  for (int64_t i = first; i < first + depth; ++i) set_float(y, i, exp_at(i) / sum);
}

void reference_rule(const Op& op, std::span<const TensorView> inputs,
                    std::span<const MutableTensorView> outputs, Rounding /*rounding*/) {
  const TensorType& x = *inputs[0].type;
  const double beta = std::get<Softmax>(op).beta;
  const int64_t depth = x.shape.back();
  const int64_t count = x.num_elements();
  if (is_float(x.dtype)) {
    for (int64_t first = 0; first < count; first += depth) {
      reference_row_float(inputs[0], outputs[0], first, depth, to_float(beta));
    }
    return;
  }
  const std::vector<int32_t> exps = exponentials(beta, x);
  for (int64_t first = 0; first < count; first += depth) {
    reference_row_int8(inputs[0], outputs[0], first, depth, exps);
  }
}

// The number of zero bits above the highest set bit of x > 0, seen as 32 bits.
loop::Function leading_zeros_function() {
  loop::Block body;
  body.push_back(loop::Let{"n", lit(1)});
  body.push_back(loop::Let{"v", var("x")});
  for (const int64_t bits : {16, 8, 4, 2, 1}) {
    body.push_back(
        loop::If{loop::less(var("v"), lit(int64_t{1} << (31 - bits))),
                 {loop::Assign{"v", loop::shl(var("v"), bits)}, loop::Assign{"n", var("n") + bits}},
                 {}});
  }
  return {"leading_zeros",
          {{"x", loop::kInt32}},
          std::move(body),
          var("n"),
          "the zero bits above the highest set bit of x > 0",
          ""};
}

// 1 / (1 + a) in Q0.31 for a in [0, 1) in Q0.31: three of Newton's iterations for the reciprocal of
// (1 + a) / 2 in Q2.29.
loop::Function reciprocal_function(Lowering& lowering) {
  const Expr half = var("half");
  loop::Block body;
  body.push_back(
      loop::Let{"half", loop::cast(loop::kInt32, loop::shr(loop::cast(loop::kInt64, var("a")) +
                                                               lit(int64_t{1} << 31, loop::kInt64),
                                                           1))});
  body.push_back(loop::Let{
      "y", rounding_doubling_high_mul(lowering, half, lit(-1010580540)) + lit(1515870810)});
  for (const char* rest : {"rest1", "rest2", "rest3"}) {
    body.push_back(
        loop::Let{rest, lit(1 << 29) - rounding_doubling_high_mul(lowering, half, var("y"))});
    const Expr step = rounding_doubling_high_mul(lowering, var("y"), var(rest));
    body.push_back(loop::Assign{"y", var("y") + saturating_shift_left(lowering, step, lit(2))});
  }
  return {"one_over_one_plus",
          {{"a", loop::kInt32}},
          std::move(body),
          saturating_shift_left(lowering, var("y"), lit(1)),
          "1 / (1 + a), both with 31 fraction bits, by Newton's iteration",
          ""};
}

// A kernel of rows: for each row, passes over its elements.
class SoftmaxLowering {
 public:
  explicit SoftmaxLowering(Lowering& lowering)
      : lowering_(lowering),
        dtype_(lowering.input_type(0).dtype),
        depth_(lowering.input_type(0).shape.back()),
        rows_(lowering.input_type(0).num_elements() / std::max<int64_t>(depth_, 1)),
        x_(lowering.input(0, "x")),
        row_(lowering.fresh("row")),
        max_(lowering.fresh("max")),
        sum_(lowering.fresh("sum")) {}

  void run() {
    block_.push_back(loop::Let{max_, lowest_value()});
    const Expr max = var(max_, travel_type());
    pass([&](const Expr& index) {
      return loop::Block{loop::Assign{max_, loop::max(max, element(index))}};
    });
    is_float(dtype_) ? lower_float() : lower_int8();
    lowering_.body = {loop::For{row_, lit(0), lit(rows_), 1, false, std::move(block_)}};
  }

 private:
  loop::Type travel_type() const { return is_float(dtype_) ? loop::kFloat32 : loop::kInt32; }
  Expr lowest_value() const {
    if (!is_float(dtype_)) return lit(-128);
    return loop::float_lit(static_cast<double>(std::numeric_limits<float>::lowest()));
  }
  Expr element(const Expr& index) const { return Lowering::load(x_, dtype_, index); }

  // Adds a loop over the row's elements; `make_body` gets the flat index.
  template <class F>
  void pass(F make_body) {
    const std::string i = lowering_.fresh("i");
    block_.push_back(
        loop::For{i, lit(0), lit(depth_), 1, false, make_body(var(row_) * depth_ + var(i))});
  }

  void lower_float() {
    const Expr beta = loop::float_lit(static_cast<double>(to_float(lowering_.op<Softmax>().beta)));
    const auto exp = [&](const Expr& index) {
      return loop::unary(loop::UnaryOp::kExp, (element(index) - var(max_, loop::kFloat32)) * beta);
    };
    const Expr sum = var(sum_, loop::kFloat32);
    block_.push_back(loop::Let{sum_, loop::float_lit(0)});
    pass([&](const Expr& index) { return loop::Block{loop::Assign{sum_, sum + exp(index)}}; });
    pass([&](const Expr& index) {
      return lowering_.store(index, loop::binary(BinaryOp::kDiv, exp(index), sum));
    });
  }

  void lower_int8() {
    const std::string exps = lowering_.constant(
        "exps", DType::kInt32,
        Bytes::of(exponentials(lowering_.op<Softmax>().beta, lowering_.input_type(0))));
    // The difference is in 0 .. 255 already; the mask says so to who proves bounds.
    const auto exp = [&](const Expr& index) {
      return loop::load(exps, loop::binary(BinaryOp::kAnd, var(max_) - element(index), lit(255)),
                        loop::kInt32);
    };
    lower_int8_sum(exp);
    const std::string headroom = lowering_.fresh("headroom");
    const std::string reciprocal = lowering_.fresh("reciprocal");
    const std::string right = lowering_.fresh("right");
    lowering_.use(leading_zeros_function());
    lowering_.use(reciprocal_function(lowering_));
    block_.push_back(loop::Let{headroom, loop::call("leading_zeros", loop::kInt32, {var(sum_)})});
    const auto i64 = [](const Expr& e) { return loop::cast(loop::kInt64, e); };
    const Expr fraction =
        loop::cast(loop::kInt32, loop::binary(BinaryOp::kShl, i64(var(sum_)), i64(var(headroom))) -
                                     lit(int64_t{1} << 31, loop::kInt64));
    block_.push_back(
        loop::Let{reciprocal, loop::call("one_over_one_plus", loop::kInt32, {fraction})});
    // One less than the rounding shift: what is left over is halved with its rounding below.
    const Expr shift = lit(kSumIntegerBits + 31 - 8 - 1) - var(headroom);
    block_.push_back(loop::Let{right, loop::min(shift, lit(31))});
    pass([&](const Expr& index) {
      const std::string product = lowering_.fresh("product");
      loop::Block body = {loop::Let{
          product, loop::cast(loop::kInt32, loop::shr(i64(var(reciprocal)) * i64(exp(index)) +
                                                          lit(1 << 30, loop::kInt64),
                                                      31))}};
      const Expr shifted = loop::binary(BinaryOp::kShr, var(product), var(right));
      loop::Block store =
          lowering_.store(index, saturate_to(lowering_.output_type(), loop::shr(shifted + 1, 1)));
      body.insert(body.end(), store.begin(), store.end());
      return body;
    });
  }

  // The sum of the exponentials in Q12.19 as int32.
  template <class F>
  void lower_int8_sum(F exp) {
    const bool is_wide = depth_ >= int64_t{1} << kSumIntegerBits;
    const loop::Type type = is_wide ? loop::kInt64 : loop::kInt32;
    const std::string total = is_wide ? lowering_.fresh("total") : sum_;
    block_.push_back(loop::Let{total, lit(0, type)});
    pass([&](const Expr& index) {
      const std::string e = lowering_.fresh("e");
      // Half of a step is added by its bit, because the sum with the greatest e would overflow.
      const Expr rounded =
          loop::shr(var(e), kSumIntegerBits) +
          loop::binary(BinaryOp::kAnd, loop::shr(var(e), kSumIntegerBits - 1), lit(1));
      return loop::Block{loop::Let{e, exp(index)},
                         loop::Assign{total, var(total, type) + loop::cast(type, rounded)}};
    });
    if (!is_wide) return;
    const Expr bounded = loop::min(var(total, type), lit(kInt32Max, type));
    block_.push_back(loop::Let{sum_, loop::cast(loop::kInt32, bounded)});
  }

  Lowering& lowering_;
  DType dtype_;
  int64_t depth_;
  int64_t rows_;
  std::string x_;
  std::string row_;
  std::string max_;
  std::string sum_;
  loop::Block block_;
};

void lower(Lowering& lowering) {
  if (lowering.output_type().num_elements() > 0) SoftmaxLowering(lowering).run();
}

}  // namespace

constinit const OpRules Softmax::rules = {
    .infer = infer, .limits = kLimits, .reference = reference_rule, .lower = lower};

}  // namespace ingot
