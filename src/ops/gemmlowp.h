// SPDX-License-Identifier: Apache-2.0
// Transcendental functions in fixed point for the reference executor: what gemmlowp's fixedpoint.h
// defines and TFLite's int8 softmax, logistic and tanh are built on. Values of format Qm.n are
// int32 with n = 31 - m fraction bits. Lowered kernels hold tables made by these at compile time.
#pragma once
#include <cstdint>

namespace ingot::reference {

// exp(a) in Q0.31, for a <= 0 with `integer_bits` (4 or 5) integer bits.
int32_t exp_on_negative_values(int32_t a, int integer_bits);
// 1 / (1 + a) in Q0.31, for a in [0, 1) in Q0.31.
int32_t one_over_one_plus(int32_t a);
// 1 / (1 + exp(-a)) in Q0.31, for a in Q4.27.
int32_t logistic(int32_t a);
// tanh(a) in Q0.31, for a in Q4.27.
int32_t tanh(int32_t a);

}  // namespace ingot::reference
