// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic as loop IR: how lowered kernels requantise. The functions' meaning is that
// of docs/vectors.md; ops/reference_math.h has the same apart.
#pragma once
#include <string>
#include <vector>

#include "ops/lowering.h"
#include "ops/multiplier.h"

namespace ingot {

// The rescaling factors of an operator: one, or one per output channel.
struct Rescale {
  std::vector<double> factors;
  // No accumulator's magnitude exceeds this (2^31 - 1 where nothing better is known); below 2^30
  // the kernel may use shorter arithmetic.
  int64_t accumulator_bound = (int64_t{1} << 31) - 1;
  // Whatever is not above zero will be clamped to one value, so how it is rounded does not count.
  bool clamps_to_positive = false;
};

// An int32 accumulator on the output's scale, before the zero point, in the lowering's rounding.
// Prepare once per kernel (it adds the parameters for the tables), then apply to each element.
class Requantizer {
 public:
  Requantizer(Lowering& lowering, const Rescale& rescale);
  // `channel` selects the factor where there are several.
  loop::Expr apply(const loop::Expr& accumulator, const loop::Expr& channel) const;

 private:
  loop::Expr apply_float(const loop::Expr& accumulator, const loop::Expr& channel) const;

  Rounding rounding_;
  bool short_form_ = false;  // no left shift, every right shift at least 1, no overflow in between
  bool rounds_up_ = false;   // halves, in the short form
  QuantizedMultiplier single_;
  float single_factor_ = 0;
  std::string multipliers_;  // parameters with the tables; empty for one factor
  std::string shifts_;
};

// min(max(x, low), high) in as few operations as the form of x allows: clamps merge, and a constant
// that was added is taken out of the bounds.
loop::Expr clamp_to(const loop::Expr& x, int64_t low, int64_t high);

// zero_point + value, saturated to the range of `type`'s dtype; no step can overflow.
loop::Expr saturate_to(const TensorType& type, const loop::Expr& value);

// The same for a value that is known to lie in [low, high]: what cannot happen is not tested for.
loop::Expr saturate_to(const TensorType& type, const loop::Expr& value, int64_t low, int64_t high);

// Whether x has the form that clamp_to and saturate_to give and can merge with another clamp.
bool is_clamped(const loop::Expr& x);

// x * m (one factor known at compile time) on int32, in double or single rounding.
loop::Expr multiply_by_quantized_multiplier(Lowering& lowering, const loop::Expr& x,
                                            QuantizedMultiplier m, int64_t bound_of_x);

// The functions themselves, for operators with arithmetic of their own. Each is added to the
// program when called through these. round(a * b / 2^31), half up.
loop::Expr rounding_doubling_high_mul(Lowering& lowering, loop::Expr a, loop::Expr b);
// round(x / 2^right), half away from zero; 0 <= right <= 31 (a literal or not).
loop::Expr rounding_shift_right(Lowering& lowering, loop::Expr x, loop::Expr right);
// x * 2^left saturated to int32; 0 <= left <= 30.
loop::Expr saturating_shift_left(Lowering& lowering, loop::Expr x, loop::Expr left);

}  // namespace ingot
