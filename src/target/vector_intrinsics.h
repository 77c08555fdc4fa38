// SPDX-License-Identifier: Apache-2.0
// Vector instructions that C's operators on vectors do not give, as functions of loop programs with
// their meaning as body, and the words of the compilers' headers for loads, stores and the like.
// Names end in _xN where there is one for each number N of 32-bit lanes.
#pragma once
#include <string>
#include <vector>

#include "loop/program.h"
#include "target/target.h"

namespace ingot {

// VPDPBUSD: `biased` (bytes plus 128) and dot_bytes_xN: to each lane, four products.
std::vector<loop::Function> avx512_vnni_intrinsics();
// VPMADDWD: even_pairs_xN, odd_pairs_xN (two bytes of a word plus 128 in every
// lane) and dot_pairs_xN. VPMADDUBSW: dot_signed_xN.
std::vector<loop::Function> avx2_intrinsics();
// Arm M-profile: dot_x16 (VMLADAVA), lanes_0_2, with_lanes_1_3, add_scaled_x4 (VMLA), halves of
// eight lanes (even_x8, odd_x8, add_even_x8, add_odd_x8) and back (paired_x8), and
// requantisation of four lanes: high_product_x4, shifted_x4, shifted_up_x4.
std::vector<loop::Function> mve_intrinsics();

// Arm Advanced SIMD with dot products: dot_words_xN (SDOT).
std::vector<loop::Function> neon_intrinsics();

// A dot product's meaning, without a spelling. Lane by lane, sum + the products of `terms`
// neighbours of x and w; x is the same in all lanes if it has only those.
loop::Function lanewise_dot(std::string name, int64_t lanes, int64_t terms, loop::Type x_type,
                            DType weight);

// Bits of a * m + offset, whose lanes are in two halves:
enum class Rescaling : uint8_t {
  kWords,  // rescaled_xN: the high words
  kBent,   // rescaled_bent_xN: the same, bend less where a is negative
  k31,     // rescaled_31_xN: the bits from 31 on
};
loop::Function x86_rescaled(int64_t lanes, Rescaling rescaling);   // 8 or 16 lanes
loop::Function neon_rescaled(int64_t lanes, Rescaling rescaling);  // 4 lanes
// Their meaning, without a spelling.
loop::Function rescaled(int64_t lanes, Rescaling rescaling);

VectorExtension x86_vectors(bool has_avx512);
VectorExtension mve_vectors();
VectorExtension neon_vectors();

}  // namespace ingot
