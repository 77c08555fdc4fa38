// SPDX-License-Identifier: Apache-2.0
// What NAME.json says, held against the loop program and what follows from it. All throw Lie
// (assay/code.h).
#pragma once
#include <vector>

#include "assay/json.h"
#include "assay/layout.h"
#include "assay/loops.h"

namespace ingot::assay {

// Names, ports, operators, sums of bytes and multiplications, order.
void check_listing(const Json& json, const Loops& loops);
// Sizes, places and lifetimes of the arena's buffers.
void check_buffers(const Json& plan, const std::vector<Life>& lives);
// Those of `lives` that could lie in no other region than the arena.
std::vector<Life> bound_to_arena(const std::vector<Life>& lives, const std::vector<Region>& regions,
                                 const Json& options, const Distances& distances);
// The lower bound and what is called optimal. An arena is proved least by as many bytes that must
// be there at one time, sizes and places taken in whole cells (the greatest common divisor of all
// alignments), less what the stated distances let outputs share with inputs; or by the extent of
// one buffer or tied group. If some of `lives` could lie in other memories, those that are
// `bound_to_arena` must need all of it, for more than its packing to be optimal.
void check_bound(const Json& json, const std::vector<Life>& lives,
                 const std::vector<Life>& bound_to_arena, const Distances& distances,
                 const Options& options);

}  // namespace ingot::assay
