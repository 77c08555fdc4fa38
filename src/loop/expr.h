// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR: immutable trees of typed values.
//
// Semantics. Integer arithmetic is exact: a result outside the type's range is a fault of whoever
// built the program (the interpreter throws InternalError), never a wrap-around. A cast to a
// narrower integer likewise requires that the value fits; a float cast to an integer truncates and
// must fit. `div` truncates as C does; floor_div and floor_mod take a constant divisor above 0; shr
// is arithmetic. min and max of floats return the first operand where they compare equal or
// unordered. Float arithmetic is that of the type, one rounding per operation, no contraction.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "loop/type.h"

namespace ingot::loop {

struct ExprNode;
using Expr = std::shared_ptr<const ExprNode>;

enum class UnaryOp : uint8_t { kNeg, kNot, kAbs, kSqrt, kExp, kLog, kTanh, kFloor, kCeil, kRound };
enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kShl,
  kShr,
  kAnd,
  kOr,
  kXor,
  kEq,
  kNe,
  kLt,
  kLe
};

// An integer or bool literal of `type`.
struct IntLit {
  int64_t value = 0;
};
struct FloatLit {
  double value = 0;
};
// A loop variable, a named scalar, or a scalar parameter of a function.
struct Var {
  std::string name;
};
// type.lanes consecutive elements from `index` on, of a parameter, a local array or a constant. The
// address is a multiple of `alignment` bytes (at least the element's own size).
struct Load {
  std::string buffer;
  Expr index;
  int64_t alignment = 1;
};
// kNot is logical for bool, bitwise for integers. kRound is half away from zero.
struct UnaryExpr {
  UnaryOp op = UnaryOp::kNeg;
  Expr a;
};
// Operands have equal types; comparisons yield bool; shl and shr shift by b.
struct BinaryExpr {
  BinaryOp op = BinaryOp::kAdd;
  Expr a;
  Expr b;
};
struct Select {
  Expr condition;
  Expr if_true;
  Expr if_false;
};
// To ExprNode::type: a conversion of value, or (scalar to vector) a broadcast.
struct Cast {
  Expr a;
};
// Lane `lane` of the vector `a`.
struct Lane {
  Expr a;
  int64_t lane = 0;
};
// The vector of these scalars, the first one in lane 0.
struct Pack {
  std::vector<Expr> lanes;
};
// A function of the program or an intrinsic of the target, by name.
struct CallExpr {
  std::string function;
  std::vector<Expr> args;
};

struct ExprNode {
  Type type;
  std::variant<IntLit, FloatLit, Var, Load, UnaryExpr, BinaryExpr, Select, Cast, Lane, Pack,
               CallExpr>
      kind;
};

template <class T>
const T* as(const Expr& e) {
  return std::get_if<T>(&e->kind);
}

// Builders. They check the types (CHECK) and fold what is constant, x+0, x*1 and the like, so that
// generated nests are plain from the start.
Expr lit(int64_t value, Type type = kInt32);
Expr float_lit(double value, Type type = kFloat32);
Expr var(std::string name, Type type = kInt32);
Expr load(std::string buffer, Expr index, Type type,
          int64_t alignment = 0);  // 0: the element's size
Expr unary(UnaryOp op, Expr a);
Expr binary(BinaryOp op, Expr a, Expr b);
Expr select(Expr condition, Expr if_true, Expr if_false);
Expr cast(Type type, Expr a);  // no-op if the types are equal
Expr lane(Expr a, int64_t lane);
Expr pack(Type type, std::vector<Expr> lanes);
Expr call(std::string function, Type result, std::vector<Expr> args);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator+(Expr a, int64_t b);
Expr operator-(Expr a, int64_t b);
Expr operator*(Expr a, int64_t b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr floor_div(Expr a, int64_t b);
Expr floor_mod(Expr a, int64_t b);
Expr shl(Expr a, int64_t bits);
Expr shr(Expr a, int64_t bits);
Expr less(Expr a, Expr b);

// Structural equality; the order of printing.
bool equal(const Expr& a, const Expr& b);

}  // namespace ingot::loop
