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

// The loop's iterations, `factor` at a time: a loop with `factor` times the step whose body is that
// of `factor` iterations, statement by statement, so that inner loops with the same bounds become
// one (jammed) whose body is merged likewise; then a loop of the iterations that remain, if any. A
// factor above the number of iterations is reduced to it. Names of the body get the suffixes _0,
// _1, ... The loop's bounds must be constant; its iterations must not depend on each other: they
// assign no scalar from outside, load nothing that they store, and store to different elements.
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
