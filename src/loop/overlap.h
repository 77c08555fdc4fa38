// SPDX-License-Identifier: Apache-2.0
// How near the memory that a kernel writes may lie to memory that it reads: derived from the
// accesses in the order in which the kernel's loops run, whatever it computes.
//
// A write that comes before a read must not hit the byte that is read. If the output starts d bytes
// before the input, a write that ends at byte w of the output hits a later read from byte r of the
// input if w - r > d (or starts behind it). So the least distance that is safe, with every one
// above it, is the greatest w - r over all pairs of a write and a later read. For a sequence of
// accesses that is known from three numbers: the least read, the greatest write, the greatest
// difference; they compose for sequences and, where addresses are affine, over whole loops.
#pragma once
#include <cstdint>
#include <string>

#include "loop/program.h"

namespace ingot::loop {

// On which side of the input the output starts.
enum class Side : uint8_t { kBefore, kBehind };

// The least distance d, in bytes, such that `kernel` never reads from parameter `input` a byte that
// it has written through parameter `output` before, if the two lie in one memory with
//     start(input) - start(output) >= d      (kBefore)
//     start(output) - start(input) >= d      (kBehind).
// It may be negative. At most the size of what lies lower (then they share no byte), at least minus
// the size of the other. Exact where indices and bounds are sums of loop variables, minima, maxima
// and quotients of such; an index or a condition that depends on data counts as anything that it
// may be. The cost is that of the nest's corners (border and inner parts of each loop), not of its
// iterations; where more than `budget` accesses, loops and branches would have to be looked at, the
// answer is the upper limit.
// `input` is only read, and other than `output`.
int64_t least_distance(const Kernel& kernel, const std::string& output, const std::string& input,
                       Side side, int64_t budget = 1'000'000);

}  // namespace ingot::loop
