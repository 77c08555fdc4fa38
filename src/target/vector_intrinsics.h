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
// VPMADDWD: low_pairs_xN, high_pairs_xN (two bytes of a word in every lane) and dot_pairs_xN.
std::vector<loop::Function> avx2_intrinsics();
// Arm M-profile: dot_x16 (VMLADAVA), lanes_0_2, with_lanes_1_3, add_scaled_x4 (VMLA), halves of
// eight lanes (even_x8, odd_x8, add_even_x8, add_odd_x8) and back (paired_x8), and
// requantisation of four lanes: high_product_x4, shifted_x4, shifted_up_x4.
std::vector<loop::Function> mve_intrinsics();

// Arm Advanced SIMD with dot products: dot_words_x4 (SDOT), rescaled_x4.
std::vector<loop::Function> neon_intrinsics();

// Their meaning, without a spelling. Lane by lane, sum + the products of `terms` neighbours of x
// and w; x is the same in all lanes if it has only those.
loop::Function lanewise_dot(std::string name, int64_t lanes, int64_t terms, loop::Type x_type,
                            DType weight);
// rescaled_xN: the high words of a * m + offset, whose lanes are in two halves.
loop::Function rescaled(int64_t lanes);

// For 8 or 16 lanes.
loop::Function x86_rescaled(int64_t lanes);

VectorExtension x86_vectors(bool has_avx512);
VectorExtension mve_vectors();
VectorExtension neon_vectors();

}  // namespace ingot
