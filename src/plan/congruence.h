// SPDX-License-Identifier: Apache-2.0
// Offsets that are right for several alignments at once: the members of a tied group share one
// base, so each member's alignment is a condition base == residue (mod alignment).
#pragma once
#include <cstdint>
#include <optional>

namespace ingot::plan {

// The integers that leave `residue` when divided by `modulus`; residue in [0, modulus).
struct Congruence {
  int64_t residue = 0;
  int64_t modulus = 1;

  bool operator==(const Congruence&) const = default;
};

// The integers in both (Chinese remainder theorem); nullopt if there are none or the common modulus
// is above 2^30.
std::optional<Congruence> intersect(const Congruence& a, const Congruence& b);

}  // namespace ingot::plan
