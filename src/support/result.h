// SPDX-License-Identifier: Apache-2.0
// Result<T> is a T or the Diagnostics that say why there is none. Its interface is the part of
// std::expected that we need, so that C++23 will replace this file with one line.
#pragma once
#include <utility>
#include <variant>

#include "support/check.h"
#include "support/diagnostic.h"

namespace ingot {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Diagnostic error) : state_(Diagnostics{std::move(error)}) {}
  Result(Diagnostics errors) : state_(std::move(errors)) {}

  bool has_value() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return has_value(); }

  const T& operator*() const& {
    CHECK(has_value());
    return *std::get_if<T>(&state_);
  }
  T&& operator*() && {
    CHECK(has_value());
    return std::move(*std::get_if<T>(&state_));
  }
  const T* operator->() const { return &**this; }
  const Diagnostics& error() const {
    CHECK(!has_value());
    return *std::get_if<Diagnostics>(&state_);
  }

 private:
  std::variant<T, Diagnostics> state_;
};

}  // namespace ingot
