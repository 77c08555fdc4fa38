// SPDX-License-Identifier: Apache-2.0
#include "assay/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::assay {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();

int64_t within_int32(Wide x) { return static_cast<int64_t>(std::clamp<Wide>(x, kMin32, kMax32)); }

}  // namespace

Fixed fixed_of(double factor) {
  if (!(factor > 0)) return {};
  int64_t exponent = 0;
  for (; factor >= 1; factor /= 2) ++exponent;
  for (; factor < 0.5; factor *= 2) --exponent;
  auto mantissa = static_cast<int64_t>(std::floor(factor * 2147483648.0 + 0.5));
  if (mantissa == 2147483648) {
    mantissa /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  if (exponent > 30) return {kMax32, 30};
  return {mantissa, exponent};
}

int64_t rescaled(int64_t x, const Fixed& factor, bool single) {
  if (single) {
    const int64_t power = 31 - factor.exponent;
    const Wide half = Wide{1} << (power - 1);
    return within_int32((Wide{x} * factor.mantissa + half) >> power);
  }
  const int64_t left = std::max<int64_t>(factor.exponent, 0);
  const int64_t right = std::max<int64_t>(-factor.exponent, 0);
  const int64_t shifted = within_int32(Wide{x} * (Wide{1} << left));
  const int64_t high = within_int32((Wide{shifted} * factor.mantissa + (1 << 30)) >> 31);
  const int64_t half = right > 0 ? int64_t{1} << (right - 1) : 0;
  return high < 0 ? -((half - high) >> right) : (half + high) >> right;
}

}  // namespace ingot::assay
