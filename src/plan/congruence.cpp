// SPDX-License-Identifier: Apache-2.0
#include "plan/congruence.h"

#include <utility>

#include "support/arithmetic.h"

namespace ingot::plan {
namespace {

constexpr int64_t kLargestModulus = int64_t{1} << 30;

struct Bezout {
  int64_t divisor;  // gcd(a, b)
  int64_t factor;   // factor * a == divisor (mod b)
};

Bezout extended_gcd(int64_t a, int64_t b) {
  int64_t x = 1, next_x = 0;
  while (b != 0) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    x = std::exchange(next_x, x - quotient * next_x);
  }
  return {a, x};
}

}  // namespace

std::optional<Congruence> intersect(const Congruence& a, const Congruence& b) {
  const auto [divisor, factor] = extended_gcd(a.modulus, b.modulus);
  const int64_t difference = b.residue - a.residue;
  if (difference % divisor != 0) return std::nullopt;
  const std::optional<int64_t> modulus = checked_mul(a.modulus, b.modulus / divisor);
  if (!modulus || *modulus > kLargestModulus) return std::nullopt;
  // a.residue + a.modulus * k with k == difference / divisor * factor (mod b.modulus / divisor).
  const int64_t period = b.modulus / divisor;
  const int64_t k = floor_mod(difference / divisor, period) * floor_mod(factor, period) % period;
  return Congruence{floor_mod(a.residue + a.modulus * k, *modulus), *modulus};
}

}  // namespace ingot::plan
