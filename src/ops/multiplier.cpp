// SPDX-License-Identifier: Apache-2.0
#include "ops/multiplier.h"

#include <cmath>
#include <limits>

#include "support/check.h"

namespace ingot {

QuantizedMultiplier quantize_multiplier(double factor) {
  CHECK(std::isfinite(factor) && factor >= 0);
  if (factor == 0) return {};
  int shift = 0;
  const double mantissa = std::frexp(factor, &shift);
  auto fixed = static_cast<int64_t>(std::round(mantissa * static_cast<double>(int64_t{1} << 31)));
  if (fixed == int64_t{1} << 31) {
    fixed /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(fixed), shift};
}

}  // namespace ingot
