// SPDX-License-Identifier: Apache-2.0
// The transformations that schedules are made of. Each takes the body of a kernel and the name of a
// loop variable that one loop in it has, and gives the body with that loop transformed; nullopt if
// there is no such loop, or if it could not be shown that the kernel would store the same values.
// The text that results is not simplified (loop/simplify.h).
#pragma once
#include <optional>
#include <string>

#include "loop/program.h"

namespace ingot::loop {

// Unroll and jam (Carr and Kennedy's name for it): the loop's iterations, `factor` at a time, side
// by side, so that inner loops with the same bounds become one, what the iterations load alike is
// loaded once, and their sums stay in registers:
//
//   for oc = 0 to 64 { acc = b[oc]; for ic ... { acc += x[ic] * w[oc*K + ic] }; y[oc] = acc }
//   ->
//   for oc = 0 to 64 step 4 {
//     acc_0 = b[oc]; ... acc_3 = b[oc + 3]
//     for ic ... { x_value = x[ic]; acc_0 += x_value * w[...]; ... acc_3 += x_value * w[...] }
//     y[oc] = acc_0; ... y[oc + 3] = acc_3
//   }
//
// Iterations that remain follow as one narrower block; where there is one block only, it takes the
// place of the loop. A factor above the number of iterations is reduced to it. Names of the body
// get the suffixes _0, _1, ... The loop's bounds must be constant; its iterations must not depend
// on each other: they assign no scalar from outside, load nothing that they store, and store to
// different elements.
std::optional<Block> unroll_and_jam(const Block& block, const std::string& variable,
                                    int64_t factor);

// The loop replaced by its iterations one after the other, at most `limit` of them. Its bounds must
// be constant, or at least their difference. Names of the body are suffixed as above.
std::optional<Block> unroll(const Block& block, const std::string& variable, int64_t limit = 1024);

// The loop in the opposite direction. Its iterations must not depend on each other.
std::optional<Block> reverse(const Block& block, const std::string& variable);

// The loop as two: `outer` steps over blocks of `factor` iterations, `variable` over those of one.
std::optional<Block> split(const Block& block, const std::string& variable, int64_t factor,
                           const std::string& outer);

// The loop's iterations do not depend on each other, as said above.
bool is_independent(const Block& block, const std::string& variable);

}  // namespace ingot::loop
