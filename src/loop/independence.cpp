// SPDX-License-Identifier: Apache-2.0
#include "loop/independence.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "loop/rewrite.h"
#include "loop/values.h"
#include "support/arithmetic.h"

namespace ingot::loop {
namespace {

std::set<std::string> loaded_in(const Block& block) {
  std::set<std::string> names;
  for_each_expression(block, [&](const Expr& e) {
    for_each_node(e, [&](const Expr& node) {
      if (const auto* l = as<Load>(node)) names.insert(l->buffer);
    });
  });
  return names;
}

// Walks to the loop and through its body, and notes for every buffer where iteration v stores:
// at factor * v + (a sum of what is the same in all iterations) + (something of a range).
class StoreWalk {
 public:
  explicit StoreWalk(const Block& block, const For& loop)
      : loop_(loop), assigned_(assigned_in(block)), values_(nullptr, contents_) {
    walk(block);
  }

  bool are_apart() const { return apart_; }

 private:
  struct Place {
    int64_t factor = 0;
    Sum fixed;
    Interval rest;
  };

  void walk(const Block& block) {
    const Values::Mark mark = values_.enter();
    for (const Stmt& s : block) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        walk_loop(*loop);
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        walk(branch->then_body);
        walk(branch->else_body);
      } else if (const auto* let = std::get_if<Let>(&s.kind)) {
        const Type type = let->value->type;
        const bool plain = type.is_scalar() && !is_float(type.dtype);
        // An assigned scalar stays undeclared: unknown wherever it is read.
        if (plain && !assigned_.contains(let->name)) {
          values_.declare(let->name, values_.sum_of(let->value));
        }
      } else if (const auto* array = std::get_if<LocalArray>(&s.kind)) {
        if (inside_) own_arrays_.insert(array->name);
      } else if (const auto* store = std::get_if<Store>(&s.kind)) {
        if (inside_ && !own_arrays_.contains(store->buffer)) note(*store);
      }
    }
    values_.leave(mark);
  }

  void walk_loop(const For& f) {
    const Sum begin = values_.sum_of(f.begin);
    const Sum end = values_.sum_of(f.end);
    const Values::Mark mark = values_.enter();
    const Sum variable = values_.affine().loop_variable(begin, end, f.step);
    values_.declare(f.variable, variable);
    // Compared by identity: the caller's loop is part of the caller's block.
    if (&f == &loop_) {
      inside_ = true;
      atom_ = variable.terms[0].atom;
      walk(f.body);
      inside_ = false;
      check();
    } else {
      walk(f.body);
    }
    values_.leave(mark);
  }

  void note(const Store& store) {
    const Sum index = values_.sum_of(store.index);
    Place place;
    Sum rest;
    rest.constant = index.constant;
    for (const Term& t : index.terms) {
      if (t.atom == atom_) {
        place.factor = t.factor;
      } else {
        const bool fixed = values_.affine().is_function_of_older(t.atom, atom_);
        (fixed ? place.fixed : rest).terms.push_back(t);
      }
    }
    place.rest = values_.affine().range(rest, 1000);
    const std::optional<int64_t> last = checked_add(place.rest.high, store.value->type.lanes - 1);
    if (!last) {
      apart_ = false;
      return;
    }
    place.rest.high = *last;
    const auto [known, is_new] = places_.try_emplace(store.buffer, place);
    if (is_new) return;
    Place& other = known->second;
    if (other.factor != place.factor || !(other.fixed == place.fixed)) apart_ = false;
    other.rest = join(other.rest, place.rest);
  }

  // Two iterations differ by at least one step, which must take them past each other.
  void check() {
    for (const auto& [buffer, place] : places_) {
      const std::optional<int64_t> spread = checked_sub(place.rest.high, place.rest.low);
      const std::optional<int64_t> distance = checked_mul(place.factor, loop_.step);
      if (!spread || !distance || (*distance < 0 ? -*distance : *distance) <= *spread) {
        apart_ = false;
      }
    }
  }

  const For& loop_;
  const std::set<std::string> assigned_;
  ConstantContents contents_{Program{}};
  Values values_;
  bool inside_ = false;
  bool apart_ = true;
  int64_t atom_ = -1;
  std::set<std::string> own_arrays_;
  std::map<std::string, Place> places_;
};

}  // namespace

bool has_independent_iterations(const Block& block, const For& loop) {
  std::set<std::string> own;
  for_each_stmt(loop.body, [&](const Stmt& s) {
    if (const auto* let = std::get_if<Let>(&s.kind)) own.insert(let->name);
    if (const auto* array = std::get_if<LocalArray>(&s.kind)) own.insert(array->name);
  });
  for (const std::string& name : assigned_in(loop.body)) {
    if (!own.contains(name)) return false;
  }
  const std::set<std::string> loaded = loaded_in(loop.body);
  bool reloads = false;
  for_each_stmt(loop.body, [&](const Stmt& s) {
    const auto* store = std::get_if<Store>(&s.kind);
    reloads = reloads || (store && !own.contains(store->buffer) && loaded.contains(store->buffer));
  });
  return !reloads && StoreWalk(block, loop).are_apart();
}

}  // namespace ingot::loop
