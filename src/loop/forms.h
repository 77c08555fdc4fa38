// SPDX-License-Identifier: Apache-2.0
// Integer expressions as linear forms over loop variables, each of which has a range of its own (a
// box). What is linear only on parts of the box, as a minimum or a quotient is, asks for a cut: the
// variable to divide, and where, so that the parts are simpler. In contrast to loop/affine.h, which
// bounds what it cannot resolve, a form is exact.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/expr.h"

namespace ingot::loop {

// constant + the sum of factor * variable.
struct Form {
  static constexpr int64_t kMaxVariables = 12;
  int64_t constant = 0;
  std::array<int64_t, kMaxVariables> factors = {};

  bool is_constant() const;
  Form operator+(const Form& other) const;
  Form operator-(const Form& other) const;
  Form operator*(int64_t factor) const;
};

// From low to high.
struct Range {
  int64_t low = 0;
  int64_t high = 0;
};

// The variable's iterations from `at` on are a part of their own.
struct Cut {
  int64_t variable = 0;
  int64_t at = 0;
};

class Forms {
 public:
  // A new innermost variable from 0 to count - 1 (count > 1); returns its number.
  int64_t enter_variable(int64_t count);
  void leave_variable() { counts_.pop_back(); }
  int64_t num_variables() const { return static_cast<int64_t>(counts_.size()); }

  // Names may hide older ones. An expression is evaluated where it is used, over the names that
  // were there when it was named.
  void name_form(const std::string& name, const Form& form);
  void name_expression(const std::string& name, const Expr& e);
  void name_unknown(const std::string& name);
  size_t num_names() const { return names_.size(); }
  void forget_names(size_t num_names) { names_.resize(num_names); }

  // The value of an integer or bool scalar. nullopt if it is no form: then either cut() says which
  // variable to divide first, or the value depends on data.
  std::optional<Form> form_of(const Expr& e);
  // The values of a form over the box; nullopt if they leave the range of int64_t.
  std::optional<Range> range(const Form& form) const;

  const std::optional<Cut>& cut() const { return cut_; }
  void clear_cut() { cut_.reset(); }
  // Asks for a cut through the middle of the outermost variable of `form`; returns false.
  bool cut_in_half(const Form& form);

 private:
  struct Name {
    std::string name;
    std::optional<Form> form;
    Expr expression;  // or null
  };
  using Maybe = std::optional<Form>;

  Maybe evaluate(const Expr& e, size_t scope);
  Maybe evaluate_name(const std::string& name, size_t scope);
  Maybe evaluate_unary(const UnaryExpr& e, size_t scope);
  Maybe evaluate_binary(const BinaryExpr& e, size_t scope);
  Maybe evaluate_select(const Select& e, size_t scope);
  Maybe product(const Form& a, const Form& b);
  Maybe least(const Form& a, const Form& b);
  Maybe greatest(const Form& a, const Form& b);
  Maybe floor_quotient(const Form& a, int64_t divisor);
  Maybe truncated_quotient(const Form& a, int64_t divisor);
  Maybe comparison(BinaryOp op, const Form& a, const Form& b);
  // Whether the form is at least `value` (1 or 0), if that is the same everywhere.
  Maybe at_least(const Form& form, int64_t value);
  // Nothing is known of the value, whatever is cut.
  Maybe unknown();
  // `form`, unless its numbers are too large to reckon with.
  Maybe checked(const Form& form);

  std::vector<int64_t> counts_;
  std::vector<Name> names_;
  std::optional<Cut> cut_;
  bool is_unknown_ = false;
};

}  // namespace ingot::loop
