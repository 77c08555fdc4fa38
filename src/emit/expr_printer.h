// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR as C.
//
// Integer arithmetic of the loop IR is exact, so an operation may be done in any C type that is
// wide enough: casts that C's own conversions make anyway are left out, and the printer keeps, for
// each piece of text, the type that C gives it. A cast is printed where that type would be too
// narrow for the operation, or where assignment would narrow it.
#pragma once
#include <map>
#include <set>
#include <string>

#include "emit/ranges.h"
#include "emit/vectors.h"
#include "loop/program.h"

namespace ingot {

// What emitted text needs around it.
struct Needs {
  explicit Needs(const VectorExtension& extension) : vectors(extension) {}

  std::set<std::string> helpers;    // of helpers.c
  std::set<std::string> functions;  // of the program, by name
  VectorNeeds vectors;
  bool math = false;       // <math.h>
  bool string = false;     // <string.h>
  bool boolean = false;    // <stdbool.h>
  bool floats = false;     // floating-point arithmetic
  bool shifts = false;     // right shifts of values that may be negative
  bool registers = false;  // variables that have a register of their own

  void merge(const Needs& other);
};

// What the names in an expression stand for.
struct Names {
  std::map<std::string, std::string> scalars;    // variables and scalars
  std::map<std::string, std::string> arrays;     // parameters, local arrays: a C pointer
  std::map<std::string, std::string> functions;  // of the program and intrinsics
  std::map<std::string, std::vector<loop::Type>> parameters;  // of the functions
  std::string prefix;                                         // of macros
};

class ExprPrinter {
 public:
  ExprPrinter(const Names& names, const Ranges& ranges, Needs& needs)
      : names_(names), ranges_(ranges), needs_(needs) {}

  // As a whole statement or argument: no parentheses around it.
  std::string print(const loop::Expr& e) { return text(e).code; }
  // To initialise, assign or return a scalar of e's type.
  std::string print_for_scalar(const loop::Expr& e);
  // To store in memory as an element of e's type.
  std::string print_for_store(const loop::Expr& e);
  // As an operand that anything may follow: in parentheses unless it is a name or a call.
  std::string print_operand(const loop::Expr& e);
  // The statement that stores a vector from `element` on.
  std::string print_vector_store(const std::string& element, const loop::Expr& value);
  // The name of C for the type of a value, wide vectors included.
  std::string type_of(loop::Type type);

 private:
  // Precedences of C, the tightest highest.
  enum Precedence : int {
    kTernary = 3,
    kLogicalOr,
    kLogicalAnd,
    kBitOr,
    kBitXor,
    kBitAnd,
    kEquality,
    kRelation,
    kShift,
    kSum,
    kProduct,
    kPrefix,
    kPrimary
  };
  struct Text {
    std::string code;
    Precedence precedence = kPrimary;
    DType type = DType::kInt32;  // that C gives it; bool for what is 0 or 1
    bool literal = false;
  };

  Text text(const loop::Expr& e);
  Text text_of(const loop::IntLit& e, loop::Type type);
  Text text_of(const loop::FloatLit& e, loop::Type type);
  Text text_of(const loop::Var& e, loop::Type type);
  Text text_of(const loop::Load& e, loop::Type type);
  Text text_of(const loop::UnaryExpr& e, loop::Type type);
  Text text_of(const loop::BinaryExpr& e, loop::Type type);
  Text text_of(const loop::Select& e, loop::Type type);
  Text text_of(const loop::Cast& e, loop::Type type);
  Text text_of(const loop::Lane& e, loop::Type type);
  Text text_of(const loop::Pack& e, loop::Type type);
  Text text_of(const loop::CallExpr& e, loop::Type type);

  // Of wide vectors (vector_printer.cpp).
  Text vector_text(const loop::Expr& e);
  // A load's function and its arguments.
  std::string vector_load(const std::string& function, const std::string& array,
                          const loop::Expr& index);
  Text vector_text_of(const loop::Load& e, loop::Type type);
  Text vector_text_of(const loop::UnaryExpr& e, loop::Type type);
  Text vector_text_of(const loop::BinaryExpr& e, loop::Type type);
  Text vector_text_of(const loop::Select& e, loop::Type type);
  Text vector_text_of(const loop::Cast& e, loop::Type type);
  Text vector_text_of(const loop::Pack& e, loop::Type type);

  Text infix(Text a, const std::string& op, Precedence precedence, Text b, DType type);
  Text helper_call(const std::string& stem, const loop::BinaryExpr& e, DType dtype);
  Text logical(const loop::BinaryExpr& e);
  Text comparison(const loop::BinaryExpr& e);
  Text division(const loop::BinaryExpr& e, DType dtype);
  Text shift(const loop::BinaryExpr& e, DType dtype);
  Text arithmetic(const loop::BinaryExpr& e, DType dtype);

  // `a` with a cast to `dtype` if C's type for it is narrower.
  Text widened(const loop::Expr& e, Text a, DType dtype);
  Text converted(Text a, DType to);
  static std::string in_parentheses(const Text& a, Precedence at_least);

  const Names& names_;
  const Ranges& ranges_;
  Needs& needs_;
};

// The names of C of a scalar's or packed vector's type.
std::string c_type_of(loop::Type type);
// Whether the vector is no word: C has it by an extension.
bool is_wide(loop::Type type);

}  // namespace ingot
