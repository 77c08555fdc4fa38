// SPDX-License-Identifier: Apache-2.0
#include "loop/float.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace ingot::loop {

double half_to_double(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  if (exponent == 31) {
    if (fraction != 0) return std::numeric_limits<double>::quiet_NaN();
    return sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

uint16_t double_to_half(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7e00;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  // 65520 lies half way between the greatest half and 2^16: the tie goes to infinity.
  if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Units of the last place: 2^-24 for subnormals, else such that the significand has 11 bits.
  const int unit = std::max(exponent - 11, -24);
  const auto significand = static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, -unit)));
  // A significand of 1024 or more adds 1 to the exponent field by itself.
  return static_cast<uint16_t>(sign | (((unit + 24) << 10) + significand));
}

double round_to_float(double value, DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return half_to_double(double_to_half(value));
    case DType::kFloat32:
      return static_cast<double>(static_cast<float>(value));
    case DType::kFloat64:
      return value;
    default:
      throw InternalError("no float type");
  }
}

}  // namespace ingot::loop
