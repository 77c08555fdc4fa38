// SPDX-License-Identifier: Apache-2.0
#include "loop/affine.h"

#include <algorithm>
#include <limits>

#include "support/arithmetic.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

Sum constant(int64_t value) { return {{}, value}; }

Sum without_last(const Sum& a) {
  Sum rest = a;
  rest.terms.pop_back();
  return rest;
}

bool all_multiples(const Sum& a, int64_t divisor) {
  return a.constant % divisor == 0 &&
         std::ranges::all_of(a.terms, [&](const Term& t) { return t.factor % divisor == 0; });
}

}  // namespace

Interval join(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
Interval meet(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

std::optional<Sum> add_multiple(const Sum& a, const Sum& b, int64_t factor) {
  Sum sum;
  const auto multiple = [&](int64_t value) { return checked_mul(value, factor); };
  const auto add = [&](std::optional<int64_t> x, std::optional<int64_t> y) {
    return x && y ? checked_add(*x, *y) : std::nullopt;
  };
  const std::optional<int64_t> total = add(a.constant, multiple(b.constant));
  if (!total) return std::nullopt;
  sum.constant = *total;
  size_t i = 0;
  size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool from_a =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom <= b.terms[j].atom);
    const bool from_b =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].atom <= a.terms[i].atom);
    const int64_t atom = from_a ? a.terms[i].atom : b.terms[j].atom;
    const std::optional<int64_t> f =
        add(from_a ? a.terms[i].factor : 0, from_b ? multiple(b.terms[j].factor) : 0);
    if (!f) return std::nullopt;
    if (*f != 0) sum.terms.push_back({atom, *f});
    i += from_a ? 1 : 0;
    j += from_b ? 1 : 0;
  }
  return sum;
}

Affine::Side Affine::constants(const Interval& range, bool upper) {
  return {{{constant(upper ? range.high : range.low), 1}}};
}

Sum Affine::add_atom(Atom atom) {
  atoms_.push_back(std::move(atom));
  return {{{static_cast<int64_t>(atoms_.size()) - 1, 1}}, 0};
}

std::optional<Sum> Affine::known(const Key& key) const {
  const auto found = pure_.find(key);
  if (found == pure_.end()) return std::nullopt;
  return Sum{{{found->second, 1}}, 0};
}

Sum Affine::pure(const Key& key, Atom atom) {
  const Sum sum = add_atom(std::move(atom));
  pure_[key] = sum.terms[0].atom;
  return sum;
}

Sum Affine::unknown(const Interval& range) {
  if (range.low == range.high) return constant(range.low);
  return add_atom({constants(range, true), constants(range, false), range});
}

Sum Affine::loop_variable(const Sum& begin, const Sum& end, int64_t step) {
  CHECK(step > 0);
  Atom atom;
  atom.begin = begin;
  atom.step = step;
  atom.lower.bounds.push_back({begin, 1});
  const std::optional<Sum> extent = add_multiple(end, begin, -1);
  std::optional<Sum> last = add_multiple(end, constant(1), -1);
  if (extent && extent->is_constant()) {
    const int64_t trips_but_one =
        ingot::floor_div(std::max<int64_t>(extent->constant, 1) - 1, step);
    last = add_multiple(begin, constant(trips_but_one * step), 1);
  } else if (extent && all_multiples(*extent, step)) {
    last = add_multiple(end, constant(step), -1);
  }
  if (last) {
    atom.upper.bounds.push_back({*last, 1});
  } else {
    atom.upper = constants({kLowest, kHighest}, true);
  }
  const Interval begins = range(begin);
  const Interval ends = last ? range(*last) : Interval{kLowest, kHighest};
  atom.range = {begins.low, ends.high};
  return add_atom(std::move(atom));
}

Sum Affine::floor_div(const Sum& a, int64_t divisor) {
  CHECK(divisor > 0);
  if (a.is_constant()) return constant(ingot::floor_div(a.constant, divisor));
  if (divisor == 1) return a;
  // floor((d * b + c) / d) = b + floor(c / d)
  Sum whole;
  Sum rest;
  for (const Term& t : a.terms) {
    (t.factor % divisor == 0 ? whole : rest).terms.push_back(t);
  }
  rest.constant = floor_mod(a.constant, divisor);
  for (Term& t : whole.terms) t.factor /= divisor;
  whole.constant = ingot::floor_div(a.constant, divisor);
  if (rest.is_constant()) return whole;
  const Key key{Kind::kFloorDiv, rest, constant(divisor)};
  std::optional<Sum> quotient = known(key);
  if (!quotient) {
    const Interval numerator = range(rest);
    Atom atom;
    atom.range = {ingot::floor_div(numerator.low, divisor),
                  ingot::floor_div(numerator.high, divisor)};
    if (atom.range.low == atom.range.high) {
      quotient = constant(atom.range.low);
    } else {
      atom.upper = constants(atom.range, true);
      atom.lower = constants(atom.range, false);
      atom.upper.bounds.push_back({rest, divisor});
      if (const auto low = add_multiple(rest, constant(divisor - 1), -1)) {
        atom.lower.bounds.push_back({*low, divisor});
      }
      quotient = pure(key, std::move(atom));
    }
  }
  const std::optional<Sum> result = add_multiple(whole, *quotient, 1);
  return result ? *result : unknown({kLowest, kHighest});
}

Sum Affine::either(const Sum& a, const Sum& b) {
  if (a == b) return a;
  // Never the same as another choice between the two, whose condition may differ.
  const Side side{{{a, 1}, {b, 1}}, true};
  return add_atom({side, side, join(range(a), range(b))});
}

Sum Affine::min(const Sum& a, const Sum& b) {
  const std::optional<Sum> difference = add_multiple(a, b, -1);
  if (difference) {
    const Interval d = range(*difference);
    if (d.high <= 0) return a;
    if (d.low >= 0) return b;
  }
  const Key key{Kind::kMin, a, b};
  if (const std::optional<Sum> sum = known(key)) return *sum;
  const std::vector<Bound> both = {{a, 1}, {b, 1}};
  const Interval ra = range(a);
  const Interval rb = range(b);
  return pure(
      key, {{both, false}, {both, true}, {std::min(ra.low, rb.low), std::min(ra.high, rb.high)}});
}

Sum Affine::max(const Sum& a, const Sum& b) {
  const std::optional<Sum> difference = add_multiple(a, b, -1);
  if (difference) {
    const Interval d = range(*difference);
    if (d.high <= 0) return b;
    if (d.low >= 0) return a;
  }
  const Key key{Kind::kMax, a, b};
  if (const std::optional<Sum> sum = known(key)) return *sum;
  const std::vector<Bound> both = {{a, 1}, {b, 1}};
  const Interval ra = range(a);
  const Interval rb = range(b);
  return pure(
      key, {{both, true}, {both, false}, {std::max(ra.low, rb.low), std::max(ra.high, rb.high)}});
}

Sum Affine::within(const Sum& a, const Interval& limits) {
  const Interval own = range(a);
  if (limits.contains(own)) return a;
  // Terms name atoms; here they only make the key unique.
  const Key key{Kind::kWithin, a, {{{0, limits.low}}, limits.high}};
  if (const std::optional<Sum> sum = known(key)) return *sum;
  Atom atom{constants(limits, true), constants(limits, false), meet(own, limits)};
  atom.upper.bounds.push_back({a, 1});
  atom.lower.bounds.push_back({a, 1});
  return pure(key, std::move(atom));
}

Sum Affine::element(int64_t array, const Sum& index, const Interval& range) {
  if (range.low == range.high) return constant(range.low);
  const Key key{Kind::kElement, index, constant(array)};
  if (const std::optional<Sum> sum = known(key)) return *sum;
  return pure(key, {constants(range, true), constants(range, false), range});
}

void Affine::assume_not_negative(const Sum& a) {
  if (a.is_constant()) return;
  const Term newest = a.terms.back();
  const Sum rest = without_last(a);
  // factor * atom + rest >= 0
  const std::optional<Sum> numerator =
      newest.factor > 0 ? add_multiple({}, rest, -1) : std::optional(rest);
  const std::optional<int64_t> divisor =
      newest.factor > 0 ? std::optional(newest.factor) : checked_sub(0, newest.factor);
  if (!numerator || !divisor) return;
  Atom& atom = atoms_[static_cast<size_t>(newest.atom)];
  Side& side = newest.factor > 0 ? atom.lower : atom.upper;
  side.assumed.push_back({*numerator, *divisor});
  assumptions_.emplace_back(newest.atom, newest.factor < 0);
}

void Affine::release(const Mark& mark) {
  for (; assumptions_.size() > mark.assumptions; assumptions_.pop_back()) {
    const auto [atom, upper] = assumptions_.back();
    Atom& a = atoms_[static_cast<size_t>(atom)];
    (upper ? a.upper : a.lower).assumed.pop_back();
  }
  if (atoms_.size() == mark.atoms) return;
  std::erase_if(
      pure_, [&](const auto& entry) { return entry.second >= static_cast<int64_t>(mark.atoms); });
  atoms_.resize(mark.atoms);
}

std::optional<int64_t> Affine::upper_by_ranges(const Sum& a) const {
  std::optional<int64_t> total = a.constant;
  for (const Term& t : a.terms) {
    const Interval& range = atoms_[static_cast<size_t>(t.atom)].range;
    const int64_t extreme = t.factor > 0 ? range.high : range.low;
    if (extreme == kLowest || extreme == kHighest) return std::nullopt;
    const std::optional<int64_t> part = checked_mul(t.factor, extreme);
    total = total && part ? checked_add(*total, *part) : std::nullopt;
  }
  return total;
}

// The bound of rest + factor * atom where `bound` bounds the atom on the side that matters.
std::optional<int64_t> Affine::upper_with(const Sum& rest, int64_t factor, const Bound& bound) {
  const Sum& n = bound.numerator;
  if (n.is_constant() && (n.constant == kLowest || n.constant == kHighest)) return std::nullopt;
  const std::optional<Sum> scaled = add_multiple({}, rest, bound.divisor);
  const std::optional<Sum> all = scaled ? add_multiple(*scaled, n, factor) : std::nullopt;
  const std::optional<int64_t> upper = all ? upper_bound(*all) : std::nullopt;
  if (!upper) return std::nullopt;
  return ingot::floor_div(*upper, bound.divisor);
}

std::optional<int64_t> Affine::upper_bound(const Sum& a) {
  if (a.is_constant()) return a.constant;
  if (--budget_ < 0) return upper_by_ranges(a);
  const auto [atom, factor] = a.terms.back();
  const Sum rest = without_last(a);
  const Atom& of = atoms_[static_cast<size_t>(atom)];
  const Side& side = factor > 0 ? of.upper : of.lower;
  std::optional<int64_t> best;
  bool first = true;
  for (const Bound& bound : side.bounds) {
    const std::optional<int64_t> upper = upper_with(rest, factor, bound);
    if (side.any) {
      if (!upper) {
        best = std::nullopt;
        break;
      }
      best = first ? upper : std::max(best, upper);
    } else if (upper) {
      best = best ? std::min(best, upper) : upper;
    }
    first = false;
  }
  for (const Bound& bound : side.assumed) {
    const std::optional<int64_t> upper = upper_with(rest, factor, bound);
    if (upper) best = best ? std::min(best, upper) : upper;
  }
  return best;
}

Interval Affine::range(const Sum& a, int64_t budget) {
  budget_ = budget;
  const std::optional<int64_t> high = upper_bound(a);
  const std::optional<Sum> negated = add_multiple({}, a, -1);
  budget_ = budget;
  const std::optional<int64_t> minus_low = negated ? upper_bound(*negated) : std::nullopt;
  const std::optional<int64_t> low = minus_low ? checked_sub(0, *minus_low) : std::nullopt;
  return {low.value_or(kLowest), high.value_or(kHighest)};
}

bool Affine::is_function_of_older(int64_t atom, int64_t limit) const {
  if (atom < limit) return true;
  const auto key = std::ranges::find_if(pure_, [&](const auto& p) { return p.second == atom; });
  if (key == pure_.end() || key->first.kind == Kind::kWithin) return false;
  // Operands are older than the atom, so that this ends.
  const auto is_fixed = [&](const Term& t) { return is_function_of_older(t.atom, limit); };
  return std::ranges::all_of(key->first.a.terms, is_fixed) &&
         std::ranges::all_of(key->first.b.terms, is_fixed);
}

bool Affine::is_multiple(Sum a, int64_t divisor) const {
  while (!all_multiples(a, divisor)) {
    // The newest loop variable that matters is begin + step * n.
    const auto term = std::find_if(a.terms.rbegin(), a.terms.rend(),
                                   [&](const Term& t) { return t.factor % divisor != 0; });
    if (term == a.terms.rend()) return false;
    const Atom& atom = atoms_[static_cast<size_t>(term->atom)];
    const int64_t factor = term->factor;
    if (atom.step == 0 || floor_mod(factor, divisor) * floor_mod(atom.step, divisor) % divisor != 0)
      return false;
    a.terms.erase(std::next(term).base());
    const std::optional<Sum> next = add_multiple(a, atom.begin, factor);
    if (!next) return false;
    a = *next;
  }
  return true;
}

}  // namespace ingot::loop
