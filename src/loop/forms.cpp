// SPDX-License-Identifier: Apache-2.0
#include "loop/forms.h"

#include <algorithm>

#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

// Sums of a few products of such numbers stay within int64_t.
constexpr int64_t kLargest = int64_t{1} << 40;

Form constant_form(int64_t value) { return Form{.constant = value}; }

}  // namespace

bool Form::is_constant() const {
  return std::ranges::all_of(factors, [](int64_t f) { return f == 0; });
}

Form Form::operator+(const Form& other) const {
  Form sum = *this;
  sum.constant += other.constant;
  for (size_t v = 0; v < factors.size(); ++v) sum.factors[v] += other.factors[v];
  return sum;
}

Form Form::operator-(const Form& other) const { return *this + other * -1; }

Form Form::operator*(int64_t factor) const {
  Form product = *this;
  product.constant *= factor;
  for (int64_t& f : product.factors) f *= factor;
  return product;
}

int64_t Forms::enter_variable(int64_t count) {
  CHECK(count > 1);
  counts_.push_back(count);
  return num_variables() - 1;
}

void Forms::name_form(const std::string& name, const Form& form) {
  names_.push_back({name, form, nullptr});
}
void Forms::name_expression(const std::string& name, const Expr& e) {
  names_.push_back({name, std::nullopt, e});
}
void Forms::name_unknown(const std::string& name) {
  names_.push_back({name, std::nullopt, nullptr});
}

std::optional<Range> Forms::range(const Form& form) const {
  Range range{form.constant, form.constant};
  for (size_t v = 0; v < counts_.size() && v < form.factors.size(); ++v) {
    const int64_t factor = form.factors[v];
    if (factor == 0) continue;
    const std::optional<int64_t> span = checked_mul(factor, counts_[v] - 1);
    if (!span) return std::nullopt;
    int64_t& side = factor < 0 ? range.low : range.high;
    const std::optional<int64_t> moved = checked_add(side, *span);
    if (!moved) return std::nullopt;
    side = *moved;
  }
  return range;
}

bool Forms::cut_in_half(const Form& form) {
  for (size_t v = 0; v < counts_.size(); ++v) {
    if (form.factors[v] == 0) continue;
    cut_ = Cut{static_cast<int64_t>(v), counts_[v] / 2};
    return false;
  }
  return false;
}

std::optional<Form> Forms::form_of(const Expr& e) {
  cut_.reset();
  is_unknown_ = false;
  Maybe form = evaluate(e, names_.size());
  if (is_unknown_) cut_.reset();
  return form;
}

Forms::Maybe Forms::unknown() {
  is_unknown_ = true;
  return std::nullopt;
}

Forms::Maybe Forms::checked(const Form& form) {
  const auto is_small = [](int64_t value) { return -kLargest <= value && value <= kLargest; };
  if (is_small(form.constant) && std::ranges::all_of(form.factors, is_small)) return form;
  return unknown();
}

Forms::Maybe Forms::evaluate(const Expr& e, size_t scope) {
  if (!e->type.is_scalar() || is_float(e->type.dtype)) return unknown();
  if (const auto* literal = as<IntLit>(e)) return checked(constant_form(literal->value));
  if (const auto* v = as<Var>(e)) return evaluate_name(v->name, scope);
  if (const auto* c = as<Cast>(e)) return evaluate(c->a, scope);
  if (const auto* u = as<UnaryExpr>(e)) return evaluate_unary(*u, scope);
  if (const auto* b = as<BinaryExpr>(e)) return evaluate_binary(*b, scope);
  if (const auto* s = as<Select>(e)) return evaluate_select(*s, scope);
  return unknown();
}

Forms::Maybe Forms::evaluate_name(const std::string& name, size_t scope) {
  for (size_t n = scope; n-- > 0;) {
    if (names_[n].name != name) continue;
    if (names_[n].form) return names_[n].form;
    if (!names_[n].expression) return unknown();
    const Expr expression = names_[n].expression;
    return evaluate(expression, n);
  }
  return unknown();
}

Forms::Maybe Forms::evaluate_unary(const UnaryExpr& e, size_t scope) {
  const Maybe a = evaluate(e.a, scope);
  if (!a) return std::nullopt;
  const bool is_bool = e.a->type.dtype == DType::kBool;
  if (e.op == UnaryOp::kNeg) return *a * -1;
  if (e.op == UnaryOp::kNot && is_bool) return constant_form(1) - *a;
  if (e.op == UnaryOp::kAbs) return greatest(*a, *a * -1);
  return unknown();
}

Forms::Maybe Forms::evaluate_select(const Select& e, size_t scope) {
  const Maybe condition = evaluate(e.condition, scope);
  if (!condition) return std::nullopt;
  if (!condition->is_constant()) return unknown();
  return evaluate(condition->constant != 0 ? e.if_true : e.if_false, scope);
}

Forms::Maybe Forms::evaluate_binary(const BinaryExpr& e, size_t scope) {
  // Both, so that what depends on data is seen before anything is cut.
  const Maybe left = evaluate(e.a, scope);
  const Maybe right = evaluate(e.b, scope);
  if (!left || !right) return std::nullopt;
  const Form& a = *left;
  const Form& b = *right;
  const bool by_constant = b.is_constant();
  switch (e.op) {
    case BinaryOp::kAdd:
      return checked(a + b);
    case BinaryOp::kSub:
      return checked(a - b);
    case BinaryOp::kMul:
      return product(a, b);
    case BinaryOp::kMin:
      return least(a, b);
    case BinaryOp::kMax:
      return greatest(a, b);
    case BinaryOp::kFloorDiv:
      return by_constant && b.constant > 0 ? floor_quotient(a, b.constant) : unknown();
    case BinaryOp::kDiv:
      return by_constant && b.constant > 0 ? truncated_quotient(a, b.constant) : unknown();
    case BinaryOp::kFloorMod: {
      if (!by_constant || b.constant <= 0) return unknown();
      const Maybe quotient = floor_quotient(a, b.constant);
      return quotient ? checked(a - *quotient * b.constant) : std::nullopt;
    }
    case BinaryOp::kShl:
    case BinaryOp::kShr: {
      if (!by_constant || b.constant < 0 || b.constant > 30) return unknown();
      const int64_t power = int64_t{1} << b.constant;
      return e.op == BinaryOp::kShl ? product(a, constant_form(power)) : floor_quotient(a, power);
    }
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
      return comparison(e.op, a, b);
    case BinaryOp::kAnd:
    case BinaryOp::kOr:
    case BinaryOp::kXor:
      if (e.a->type.dtype != DType::kBool) return unknown();
      if (e.op == BinaryOp::kAnd) return least(a, b);
      if (e.op == BinaryOp::kOr) return greatest(a, b);
      return comparison(BinaryOp::kNe, a, b);
  }
  return unknown();
}

Forms::Maybe Forms::product(const Form& a, const Form& b) {
  if (!a.is_constant() && !b.is_constant()) return unknown();
  const Form& form = a.is_constant() ? b : a;
  const int64_t factor = a.is_constant() ? a.constant : b.constant;
  const auto fits = [&](int64_t value) { return checked_mul(value, factor).has_value(); };
  if (!fits(form.constant) || !std::ranges::all_of(form.factors, fits)) return unknown();
  return checked(form * factor);
}

Forms::Maybe Forms::at_least(const Form& form, int64_t value) {
  const std::optional<Range> range = this->range(form);
  if (!range) return unknown();
  if (range->low >= value) return constant_form(1);
  if (range->high < value) return constant_form(0);
  const auto is_moving = [](int64_t f) { return f != 0; };
  if (std::ranges::count_if(form.factors, is_moving) > 1) {
    cut_in_half(form);
    return std::nullopt;
  }
  const auto moving = std::ranges::find_if(form.factors, is_moving);
  // The first iteration on the other side than iteration 0.
  const int64_t missing = value - form.constant;
  const int64_t at =
      *moving > 0 ? ingot::ceil_div(missing, *moving) : ingot::floor_div(-missing, -*moving) + 1;
  cut_ = Cut{moving - form.factors.begin(), at};
  return std::nullopt;
}

Forms::Maybe Forms::least(const Form& a, const Form& b) {
  const Form difference = b - a;
  const std::optional<Range> range = this->range(difference);
  if (range && range->high <= 0) return b;
  const Maybe is_first = at_least(difference, 0);
  if (!is_first) return std::nullopt;
  return is_first->constant != 0 ? a : b;
}

Forms::Maybe Forms::greatest(const Form& a, const Form& b) {
  const Maybe least_negative = least(a * -1, b * -1);
  return least_negative ? Maybe(*least_negative * -1) : std::nullopt;
}

// With every factor and the constant as divisor * q + r, the quotient is the sum of the q plus that
// of the r, which is at least 0.
Forms::Maybe Forms::floor_quotient(const Form& a, int64_t divisor) {
  Form whole;
  Form rest;
  whole.constant = ingot::floor_div(a.constant, divisor);
  rest.constant = ingot::floor_mod(a.constant, divisor);
  for (size_t v = 0; v < a.factors.size(); ++v) {
    whole.factors[v] = ingot::floor_div(a.factors[v], divisor);
    rest.factors[v] = ingot::floor_mod(a.factors[v], divisor);
  }
  const std::optional<Range> range = this->range(rest);
  if (!range) return unknown();
  const int64_t quotient = ingot::floor_div(range->low, divisor);
  const Maybe is_next = at_least(rest, (quotient + 1) * divisor);
  if (!is_next) return std::nullopt;
  whole.constant += quotient;
  return whole;
}

Forms::Maybe Forms::truncated_quotient(const Form& a, int64_t divisor) {
  const Maybe is_positive = at_least(a, 0);
  if (!is_positive) return std::nullopt;
  if (is_positive->constant != 0) return floor_quotient(a, divisor);
  const Maybe magnitude = floor_quotient(a * -1, divisor);
  return magnitude ? Maybe(*magnitude * -1) : std::nullopt;
}

Forms::Maybe Forms::comparison(BinaryOp op, const Form& a, const Form& b) {
  const Form difference = b - a;
  if (op == BinaryOp::kLt) return at_least(difference, 1);
  if (op == BinaryOp::kLe) return at_least(difference, 0);
  const Maybe not_less = at_least(difference, 0);
  if (!not_less) return std::nullopt;
  const Maybe greater = at_least(difference, 1);
  if (!greater) return std::nullopt;
  const bool equal = not_less->constant != 0 && greater->constant == 0;
  return constant_form(equal == (op == BinaryOp::kEq) ? 1 : 0);
}

}  // namespace ingot::loop
