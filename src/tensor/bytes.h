// SPDX-License-Identifier: Apache-2.0
// The bytes of a constant: an immutable value, shared between its copies, so that graphs and
// programs can be copied freely however large their weights are.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "support/check.h"
#include "tensor/dtype.h"

namespace ingot {

class Bytes {
 public:
  Bytes() : data_(std::make_shared<const std::vector<uint8_t>>()) {}
  explicit Bytes(std::vector<uint8_t> bytes)
      : data_(std::make_shared<const std::vector<uint8_t>>(std::move(bytes))) {}

  int64_t size() const { return static_cast<int64_t>(data_->size()); }
  std::span<const uint8_t> view() const { return *data_; }

  // The bytes read as little-endian elements of T, which is how model files and our constants hold
  // them. Copies, because the bytes need not be aligned.
  template <class T>
  std::vector<T> as() const {
    CHECK(data_->size() % sizeof(T) == 0);
    std::vector<T> elements(data_->size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), data_->data(), data_->size());
    return elements;
  }
  template <class T>
  static Bytes of(const std::vector<T>& elements) {
    std::vector<uint8_t> bytes(elements.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
    return Bytes(std::move(bytes));
  }

  bool operator==(const Bytes& other) const { return *data_ == *other.data_; }

 private:
  std::shared_ptr<const std::vector<uint8_t>> data_;
};

}  // namespace ingot
