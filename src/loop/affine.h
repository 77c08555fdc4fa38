// SPDX-License-Identifier: Apache-2.0
// Bounds of integer expressions that are sums of atoms: loop variables and whatever else an index
// is made of. An atom is bounded by sums of older atoms (a loop variable by its loop's bounds,
// floor(x / d) by x / d, min(a, b) by a and by b), so a sum is bounded by eliminating its atoms
// from the newest to the oldest, which for loops is from the innermost outward. Where an atom has
// several bounds, each is tried: the elimination of Fourier and Motzkin, one objective at a time.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace ingot::loop {

// All integers from low to high.
struct Interval {
  int64_t low = 0;
  int64_t high = 0;
  bool is_constant() const { return low == high; }
  bool contains(int64_t value) const { return low <= value && value <= high; }
  bool contains(const Interval& other) const { return low <= other.low && other.high <= high; }
  bool operator==(const Interval&) const = default;
};
Interval join(const Interval& a, const Interval& b);
Interval meet(const Interval& a, const Interval& b);

struct Term {
  int64_t atom = 0;
  int64_t factor = 0;  // not 0
  auto operator<=>(const Term&) const = default;
};

// The sum of factor * atom over `terms` (by ascending atom) and of `constant`.
struct Sum {
  std::vector<Term> terms = {};
  int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
  auto operator<=>(const Sum&) const = default;
};

// a + factor * b; nullopt if a factor leaves the range of int64_t.
std::optional<Sum> add_multiple(const Sum& a, const Sum& b, int64_t factor);

class Affine {
 public:
  // A value of which only the range is known, different from every other.
  Sum unknown(const Interval& range);
  // The variable of a loop from begin to end (exclusive) inside its body.
  Sum loop_variable(const Sum& begin, const Sum& end, int64_t step);
  Sum floor_div(const Sum& a, int64_t divisor);
  // One of the two; the least; the greatest.
  Sum either(const Sum& a, const Sum& b);
  Sum min(const Sum& a, const Sum& b);
  Sum max(const Sum& a, const Sum& b);
  // `a`, of which is known that it lies in `range`.
  Sum within(const Sum& a, const Interval& range);

  // `a` is at least 0 until the scope ends.
  void assume_not_negative(const Sum& a);

  // The element at `index` of an array that never changes, whose elements lie in `range`.
  Sum element(int64_t array, const Sum& index, const Interval& range);

  // Bounds of `a`; as wide as int64_t where nothing is known. Atoms beyond `budget` substitutions
  // are bounded one by one.
  Interval range(const Sum& a, int64_t budget = 100);
  // Whether `atom` is fixed by atoms below `limit`: one of them or a function of them.
  bool is_function_of_older(int64_t atom, int64_t limit) const;
  // Whether `a` is known to be a multiple of `divisor`.
  bool is_multiple(Sum a, int64_t divisor) const;

  // Atoms and assumptions made after mark() are forgotten by release(mark): sums that name them
  // must not be used after that.
  struct Mark {
    size_t atoms = 0;
    size_t assumptions = 0;
  };
  Mark mark() const { return {atoms_.size(), assumptions_.size()}; }
  void release(const Mark& mark);

 private:
  // numerator / divisor
  struct Bound {
    Sum numerator;
    int64_t divisor = 1;
  };
  // All bounds of a side hold, or (any) one of them does.
  struct Side {
    std::vector<Bound> bounds;
    bool any = false;
    std::vector<Bound> assumed = {};
  };
  struct Atom {
    Side upper;
    Side lower;
    Interval range;
    Sum begin = {};    // of loop variables
    int64_t step = 0;  // 0: no loop variable
  };
  enum class Kind : uint8_t { kFloorDiv, kMin, kMax, kWithin, kElement };
  struct Key {
    Kind kind;
    Sum a;
    Sum b;
    auto operator<=>(const Key&) const = default;
  };

  Sum add_atom(Atom atom);
  Sum pure(const Key& key, Atom atom);
  std::optional<Sum> known(const Key& key) const;
  std::optional<int64_t> upper_bound(const Sum& a);
  std::optional<int64_t> upper_by_ranges(const Sum& a) const;
  std::optional<int64_t> upper_with(const Sum& rest, int64_t factor, const Bound& bound);
  static Side constants(const Interval& range, bool upper);

  std::vector<Atom> atoms_;
  std::map<Key, int64_t> pure_;                        // atoms that are functions of older ones
  std::vector<std::pair<int64_t, bool>> assumptions_;  // atom, upper side
  int64_t budget_ = 0;
};

}  // namespace ingot::loop
