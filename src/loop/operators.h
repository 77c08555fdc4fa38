// SPDX-License-Identifier: Apache-2.0
// How the operators of expressions are spelt and how tightly they bind: one table for the printer
// and the parser of loop programs.
#pragma once
#include <array>
#include <string_view>

#include "loop/expr.h"

namespace ingot::loop {

struct OperatorSpelling {
  std::string_view text;
  int level = 0;         // of infix operators; a greater one binds more tightly
  bool is_call = false;  // printed as text(a, b)
};

constexpr int kUnaryLevel = 8;
constexpr int kPrimaryLevel = 9;

// In the order of BinaryOp.
constexpr auto kBinarySpellings = std::to_array<OperatorSpelling>({
    {"+", 6},
    {"-", 6},
    {"*", 7},
    {"div", 0, true},
    {"floordiv", 0, true},
    {"floormod", 0, true},
    {"min", 0, true},
    {"max", 0, true},
    {"<<", 5},
    {">>", 5},
    {"&", 4},
    {"|", 2},
    {"^", 3},
    {"==", 1},
    {"!=", 1},
    {"<", 1},
    {"<=", 1},
});
// In the order of UnaryOp; the first two are prefix operators.
constexpr auto kUnarySpellings = std::to_array<std::string_view>(
    {"-", "!", "abs", "sqrt", "exp", "log", "tanh", "floor", "ceil", "round"});

constexpr const OperatorSpelling& spelling_of(BinaryOp op) {
  return kBinarySpellings.at(static_cast<size_t>(op));
}
constexpr std::string_view spelling_of(UnaryOp op) {
  return kUnarySpellings.at(static_cast<size_t>(op));
}

}  // namespace ingot::loop
