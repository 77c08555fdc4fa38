/* SPDX-License-Identifier: Apache-2.0 */
/* The helper functions of generated C. Ingot copies those that a model uses into NAME.c; each
 * stands between two blank lines, its comment above it, and is found by its name. */
#include <stdint.h>
#include <string.h>

/* Bodies stand on lines of their own, as in all generated C. */
/* clang-format off */

/* The lesser; a where neither is. */
static inline int32_t min_int32(int32_t a, int32_t b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline int32_t max_int32(int32_t a, int32_t b) {
  return a < b ? b : a;
}

/* The lesser; a where neither is. */
static inline uint32_t min_uint32(uint32_t a, uint32_t b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline uint32_t max_uint32(uint32_t a, uint32_t b) {
  return a < b ? b : a;
}

/* The lesser; a where neither is. */
static inline int64_t min_int64(int64_t a, int64_t b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline int64_t max_int64(int64_t a, int64_t b) {
  return a < b ? b : a;
}

/* The lesser; a where neither is. */
static inline uint64_t min_uint64(uint64_t a, uint64_t b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline uint64_t max_uint64(uint64_t a, uint64_t b) {
  return a < b ? b : a;
}

/* The lesser; a where neither is. */
static inline float min_float32(float a, float b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline float max_float32(float a, float b) {
  return a < b ? b : a;
}

/* The lesser; a where neither is. */
static inline double min_float64(double a, double b) {
  return b < a ? b : a;
}

/* The greater; a where neither is. */
static inline double max_float64(double a, double b) {
  return a < b ? b : a;
}

/* |a|, which must fit. */
static inline int32_t abs_int32(int32_t a) {
  return a < 0 ? -a : a;
}

/* The greatest integer not above a / b, for b > 0. */
static inline int32_t floor_div_int32(int32_t a, int32_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/* a - b * floor(a / b), for b > 0. */
static inline int32_t floor_mod_int32(int32_t a, int32_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

/* |a|, which must fit. */
static inline int64_t abs_int64(int64_t a) {
  return a < 0 ? -a : a;
}

/* The greatest integer not above a / b, for b > 0. */
static inline int64_t floor_div_int64(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/* a - b * floor(a / b), for b > 0. */
static inline int64_t floor_mod_int64(int64_t a, int64_t b) {
  return a % b + (a % b < 0 ? b : 0);
}

/* The float with these bits: infinities and NaNs have no literal in C. */
static inline float float32_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The double with these bits: infinities and NaNs have no literal in C. */
static inline double float64_from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Four bytes from any address as one word. As an instruction it stays where it stands: compilers
 * that load earlier run out of registers. */
static inline uint32_t load_word(const void *from) {
  uint32_t word;
#if defined(__GNUC__) && defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
  __asm__ volatile("ldr %0, %1" : "=r"(word) : "m"(*(const char (*)[4])from));
#else
  memcpy(&word, from, sizeof word);
#endif
  return word;
}

/* One word as four bytes to any address. */
static inline void store_word(void *to, uint32_t word) {
  memcpy(to, &word, sizeof word);
}

/* The value of a half-precision float, given as its bits. */
static inline float float32_from_float16(uint16_t half) {
  const uint32_t sign = ((uint32_t)half & 0x8000u) << 16;
  const uint32_t exponent = ((uint32_t)half >> 10) & 31u;
  const uint32_t mantissa = (uint32_t)half & 0x3ffu;
  uint32_t bits = sign | ((exponent + 112u) << 23) | (mantissa << 13);
  float value;
  if (exponent == 31u) bits = sign | 0x7f800000u | (mantissa << 13);
  if (exponent == 0u) {
    value = (float)mantissa * 5.9604645e-08f; /* 2^-24 */
    return sign != 0u ? -value : value;
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The bits of the nearest half-precision float, ties to even. */
static inline uint16_t float16_from_float32(float value) {
  uint32_t bits;
  uint32_t sign;
  uint32_t shift = 13u;
  uint32_t mantissa;
  uint32_t rest;
  memcpy(&bits, &value, sizeof bits);
  sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (bits >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (bits < 0x33000000u) return (uint16_t)sign;
  if (bits < 0x38800000u) {
    shift = 126u - (bits >> 23);
    mantissa = (bits & 0x7fffffu) | 0x800000u;
  } else {
    mantissa = bits - 0x38000000u;
  }
  rest = mantissa & ((1u << shift) - 1u);
  mantissa >>= shift;
  if (rest > 1u << (shift - 1u) || (rest == 1u << (shift - 1u) && (mantissa & 1u) != 0u)) {
    mantissa += 1u;
  }
  return (uint16_t)(sign | mantissa);
}
