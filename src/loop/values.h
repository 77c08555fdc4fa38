// SPDX-License-Identifier: Apache-2.0
// What is known of the values of a kernel's integer expressions while walking over it: each scalar
// is a sum of atoms (loop/affine.h) as long as it is not assigned in a loop or branch, and a value
// of a range after that. The range of an assigned scalar is found by repeated walks: it starts
// with the first value and grows by what is assigned, to the type's bounds if it does not settle;
// from there it shrinks to what is assigned under that assumption, if that is one that holds.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/affine.h"
#include "loop/program.h"

namespace ingot::loop {

// Ranges of the elements that parameters are bound to, where these are constants at every call.
class ConstantContents {
 public:
  explicit ConstantContents(const Program& program);
  // The range of integer parameter `param` of `kernel`; nullopt if it is not always constant.
  std::optional<Interval> range(const Kernel& kernel, const Param& param);

 private:
  struct Index;
  void collect(const Index& index, const Block& block);

  struct Place {
    const Buffer* buffer = nullptr;
    int64_t offset = 0;
  };
  // By kernel and parameter. A place without a buffer is memory that is written.
  std::map<std::pair<std::string, std::string>, std::vector<Place>> places_;
  std::map<std::pair<std::string, std::string>, std::optional<Interval>> known_;
};

// The range of `dtype` (of floats: all of int64).
Interval range_of(DType dtype);

class Values {
 public:
  // `kernel` is null inside a function, whose parameters are declared by declare_unknown.
  Values(const Kernel* kernel, ConstantContents& contents) : kernel_(kernel), contents_(contents) {}

  Affine& affine() { return affine_; }
  // An integer or bool scalar as a sum of atoms.
  Sum sum_of(const Expr& e);

  struct Mark {
    Affine::Mark affine;
    size_t names = 0;
  };
  Mark enter() const { return {affine_.mark(), names_.size()}; }
  void leave(const Mark& mark);

  void declare(const std::string& name, const Sum& value);
  void declare_unknown(const std::string& name, Type type);
  void let(const Stmt& stmt, const Let& l);
  void assign(const Assign& a);
  // Forgets the values of the scalars that `block` assigns, before and after it runs conditionally
  // or repeatedly.
  void forget_assigned(const Block& block);
  // `condition` holds (or not) until the scope is left.
  void assume(const Expr& condition, bool holds);

  // Prepares another walk; false if none is needed, because the last one's assumptions hold.
  bool next_round();

 private:
  struct Name {
    std::string name;
    Sum value;
    const Stmt* declaration = nullptr;  // of lets: keys what is known of assigned scalars
    DType dtype = DType::kInt32;
  };
  struct Assigned {
    Interval used;     // what this walk assumes
    Interval seen;     // what the values assigned in this walk cover
    Interval settled;  // a range that was proved to hold
    bool reassigned = false;
  };

  Name* find(const std::string& name);
  Sum sum_of(const ExprNode& e, const Load& x);
  Sum sum_of(const ExprNode& e, const UnaryExpr& x);
  Sum sum_of(const ExprNode& e, const BinaryExpr& x);
  Sum sum_of_bits(const ExprNode& e, const BinaryExpr& x);
  Sum sum_of_cast(const ExprNode& e, const Cast& x);
  Sum product(const ExprNode& e, const BinaryExpr& x, const Sum& a, const Sum& b);
  Sum quotient(const ExprNode& e, const Sum& a, const Sum& b);
  Sum of_type(const ExprNode& e) { return affine_.unknown(range_of(e.type.dtype)); }
  Sum added(const ExprNode& e, const Sum& a, const Sum& b, int64_t factor);

  const Kernel* kernel_;
  ConstantContents& contents_;
  Affine affine_;
  std::vector<Name> names_;
  std::map<const Stmt*, Assigned> assigned_;
  enum class Phase : uint8_t { kFirst, kGrowing, kShrunk, kSettled };
  Phase phase_ = Phase::kFirst;
};

}  // namespace ingot::loop
