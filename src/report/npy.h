// SPDX-License-Identifier: Apache-2.0
// NumPy's file format for one array (.npy, versions 1 to 3): a header that is a Python dictionary,
// then the elements. Little-endian and C order only; written as version 1.0.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "tensor/type.h"

namespace ingot {

struct Array {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<uint8_t> bytes;  // row-major, little-endian
};

bool is_npy(std::span<const uint8_t> file);

// The array, or a diagnostic that says what is wrong with the file.
Result<Array> read_npy(std::span<const uint8_t> file);

std::string write_npy(const TensorType& type, std::span<const uint8_t> bytes);

}  // namespace ingot
