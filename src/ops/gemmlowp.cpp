// SPDX-License-Identifier: Apache-2.0
#include "ops/gemmlowp.h"

#include <limits>

#include "ops/reference_math.h"

namespace ingot::reference {
namespace {

constexpr int32_t kOne = std::numeric_limits<int32_t>::max();  // 1 in Q0.31, nearly

int32_t multiply(int32_t a, int32_t b) { return saturating_rounding_doubling_high_mul(a, b); }

// a * 2^bits. Saturation is gemmlowp's: the lowest value for all below -(2^(31 - bits) - 1).
int32_t shift_left(int32_t a, int bits) {
  const int64_t threshold = (int64_t{1} << (31 - bits)) - 1;
  if (a > threshold) return std::numeric_limits<int32_t>::max();
  if (a < -threshold) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(int64_t{a} * (int64_t{1} << bits));
}

// exp(a) for a in [-1/4, 0), both Q0.31: the Taylor expansion of degree 4 around -1/8.
int32_t exp_on_last_quarter(int32_t a) {
  constexpr int32_t kExpOfMinusEighth = 1895147668;
  constexpr int32_t kThird = 715827883;
  const int32_t x = a + (1 << 28);
  const int32_t x2 = multiply(x, x);
  const int32_t x3 = multiply(x2, x);
  const int32_t x4 = multiply(x2, x2);
  // x^4 / 24 + x^3 / 6 + x^2 / 2
  const int32_t higher =
      rounding_divide_by_pot(multiply(rounding_divide_by_pot(x4, 2) + x3, kThird) + x2, 1);
  return kExpOfMinusEighth + multiply(kExpOfMinusEighth, x + higher);
}

// Newton's iteration for 1 / d in Q2.29, where d = (1 + a) / 2 is in [1/2, 1).
int32_t reciprocal_of_half_denominator(int32_t a) {
  constexpr int32_t k48Over17 = 1515870810;
  constexpr int32_t kMinus32Over17 = -1010580540;
  constexpr int32_t kOneInQ2 = 1 << 29;
  const auto half_denominator = static_cast<int32_t>((int64_t{a} + kOne + 1) / 2);
  int32_t x = k48Over17 + multiply(half_denominator, kMinus32Over17);
  for (int i = 0; i < 3; ++i) {
    const int32_t rest = kOneInQ2 - multiply(half_denominator, x);
    x += shift_left(multiply(x, rest), 2);
  }
  return x;
}

}  // namespace

int32_t exp_on_negative_values(int32_t a, int integer_bits) {
  const int32_t quarter = 1 << (31 - integer_bits - 2);
  // exp(-2^k) in Q0.31 for k = -2 .. 4.
  constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  if (a == 0) return kOne;
  const int32_t last_quarter = (a & (quarter - 1)) - quarter;
  const int32_t remainder = last_quarter - a;
  int32_t result = exp_on_last_quarter(shift_left(last_quarter, integer_bits));
  for (int bit = 0; bit < integer_bits + 2; ++bit) {
    if ((remainder & (quarter << bit)) != 0) result = multiply(result, kFactors[bit]);
  }
  return result;
}

int32_t one_over_one_plus(int32_t a) { return shift_left(reciprocal_of_half_denominator(a), 1); }

int32_t logistic(int32_t a) {
  if (a == 0) return 1 << 30;
  const int32_t of_magnitude = one_over_one_plus(exp_on_negative_values(a > 0 ? -a : a, 4));
  return a > 0 ? of_magnitude : kOne - of_magnitude;
}

int32_t tanh(int32_t a) {
  if (a == 0) return 0;
  // (1 - e) / (1 + e) = 2 / (1 + e) - 1 with e = exp(-2|a|); read as Q5.26, a stands for 2a.
  const int32_t e = exp_on_negative_values(a > 0 ? -a : a, 5);
  const int32_t of_magnitude = shift_left(reciprocal_of_half_denominator(e) - (1 << 29), 2);
  return a > 0 ? of_magnitude : -of_magnitude;
}

}  // namespace ingot::reference
