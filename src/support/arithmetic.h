// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that says when it leaves the range, for sizes that come from hostile files,
// and division with the rounding that index expressions mean.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "support/check.h"

namespace ingot {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The product of all factors; nullopt if it leaves the range of int64_t.
inline std::optional<int64_t> checked_product(std::span<const int64_t> factors) {
  std::optional<int64_t> product = 1;
  for (const int64_t factor : factors) {
    product = checked_mul(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

// floor(a / b) for b > 0.
constexpr int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
// a - b * floor(a / b) for b > 0; in [0, b).
constexpr int64_t floor_mod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }
// ceil(a / b) for b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
// The least multiple of `alignment` that is at least `a`.
constexpr int64_t round_up(int64_t a, int64_t alignment) {
  return ceil_div(a, alignment) * alignment;
}

}  // namespace ingot
