// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 defines it, to name the model file from which something was made.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace ingot {

// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const uint8_t> bytes);

}  // namespace ingot
