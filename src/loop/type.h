// SPDX-License-Identifier: Apache-2.0
// The types of values in loop programs: scalars, vectors, and sub-word vectors that share one
// 32-bit word (i8x4 and i16x2 are one uint32_t in C).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace ingot::loop {

struct Type {
  DType dtype = DType::kInt32;
  int64_t lanes = 1;
  bool packed = false;  // the lanes share one 32-bit word

  bool is_scalar() const { return lanes == 1; }
  int64_t size_bytes() const { return lanes * size_in_bytes(dtype); }
  bool operator==(const Type&) const = default;
};

constexpr Type kBool{DType::kBool};
constexpr Type kInt8{DType::kInt8};
constexpr Type kInt16{DType::kInt16};
constexpr Type kInt32{DType::kInt32};
constexpr Type kInt64{DType::kInt64};
constexpr Type kFloat32{DType::kFloat32};
constexpr Type kFloat64{DType::kFloat64};
constexpr Type kInt8x4{DType::kInt8, 4, true};
constexpr Type kInt16x2{DType::kInt16, 2, true};

// "int32"; a vector is "int8x16", a packed one "int8p4".
std::string print(Type type);
// The inverse of print.
std::optional<Type> find_type(std::string_view text);

}  // namespace ingot::loop
