# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of record_vectors.py: fixed point as TFLite Micro's reference kernels define it in double
rounding, on exact integers of any size. Only Python's standard library.
"""
import math
import struct


def f32(x):
    """The float nearest to x. Sums, products and quotients of two floats may be taken in double before it."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def div_trunc(a, b):
    return -(-a // b) if (a < 0) != (b < 0) else a // b


# ---- fixed point -------------------------------------------------------------------------------------------


def round_away(x):
    """A float to the nearest integer, ties away from zero; exact where x + 0.5 is."""
    return math.floor(x + 0.5) if x >= 0 else -math.floor(-x + 0.5)


def saturate(x, low=-2**31, high=2**31 - 1):
    return min(max(x, low), high)


def high_mul(a, b):
    """SaturatingRoundingDoublingHighMul."""
    return saturate((a * b + 2**30) >> 31)


def shift_right(x, n):
    """RoundingDivideByPOT: ties away from zero."""
    if n == 0:
        return x
    magnitude = (abs(x) + (1 << (n - 1))) >> n
    return magnitude if x >= 0 else -magnitude


def quantize_multiplier(factor):
    """(multiplier, shift): factor is about multiplier * 2^(shift - 31)."""
    if factor == 0:
        return 0, 0
    mantissa, shift = math.frexp(factor)
    multiplier = round_away(mantissa * 2**31)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    return multiplier, shift


def rescale(x, multiplier_and_shift):
    """MultiplyByQuantizedMultiplier in double rounding."""
    multiplier, shift = multiplier_and_shift
    return shift_right(high_mul(saturate(x << max(shift, 0)), multiplier), max(-shift, 0))


# ---- transcendental functions in fixed point (gemmlowp's fixedpoint.h) ----------------------------------


def shift_left(x, n):
    threshold = 2**(31 - n) - 1
    if x > threshold:
        return 2**31 - 1
    if x < -threshold:
        return -2**31
    return x << n


def exp_on_negative(a, integer_bits):
    """exp(a) with 31 fraction bits; a <= 0 has 31 - integer_bits of them."""
    if a == 0:
        return 2**31 - 1
    fraction_bits = 31 - integer_bits
    quarter = 1 << (fraction_bits - 2)
    last = (a & (quarter - 1)) - quarter  # in [-1/4, 0), congruent to a
    x = shift_left(last, integer_bits) + 2**28
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4 = high_mul(x2, x2)
    tail = shift_right(high_mul(shift_right(x4, 2) + x3, 715827883) + x2, 1)
    result = 1895147668 + high_mul(1895147668, x + tail)
    factors = {-2: 1672461947, -1: 1302514674, 0: 790015084, 1: 290630308, 2: 39332535, 3: 720401, 4: 242}
    for exponent, factor in factors.items():
        if exponent < integer_bits and (last - a) & (1 << (fraction_bits + exponent)):
            result = high_mul(result, factor)
    return result


def reciprocal(a):
    """2 / (1 + a) with 29 fraction bits, for a in [0, 1) with 31: Newton's iteration on (1 + a) / 2."""
    half = (a + 2**31) >> 1
    x = 1515870810 + high_mul(half, -1010580540)
    for _ in range(3):
        x += shift_left(high_mul(x, 2**29 - high_mul(half, x)), 2)
    return x


def logistic(a):
    if a == 0:
        return 2**30
    of_magnitude = shift_left(reciprocal(exp_on_negative(-abs(a), 4)), 1)
    return of_magnitude if a > 0 else 2**31 - 1 - of_magnitude


def tanh(a):
    if a == 0:
        return 0
    of_magnitude = shift_left(reciprocal(exp_on_negative(-abs(a), 5)) - 2**29, 2)
    return of_magnitude if a > 0 else -of_magnitude


def radius(integer_bits, left_shift):
    return math.floor((2**integer_bits - 1) * 2.0**(31 - integer_bits - left_shift))
