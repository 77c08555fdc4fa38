// SPDX-License-Identifier: Apache-2.0
// A tensor's elements as numbers for people and for JSON.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "report/json_text.h"
#include "tensor/dtype.h"

namespace ingot {

// All elements; floats that JSON cannot hold are the texts "inf", "-inf" and "nan".
Json elements_json(DType dtype, std::span<const uint8_t> bytes);

// "-3 7 127 ... (490 elements)", at most `most` elements.
std::string elements_text(DType dtype, std::span<const uint8_t> bytes, int64_t most);

}  // namespace ingot
