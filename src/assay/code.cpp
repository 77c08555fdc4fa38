// SPDX-License-Identifier: Apache-2.0
#include "assay/code.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ingot::assay {
namespace {

size_t index(int i) { return static_cast<size_t>(i); }

class Translator {
 public:
  Translator(const std::string& name, const Body& body, size_t num_params)
      : name_(name), body_(body), num_params_(num_params), definitions_(body.slots.size()) {
    on_data_.assign(body.slots.size(), false);
    matters_.assign(body.slots.size(), false);
    declared_under_.assign(body.slots.size(), 0);
  }

  Code run() {
    collect(body_.stmts);
    find_what_matters();
    do {
      changed_ = false;
      spread(body_.stmts, 0);
    } while (changed_);
    Code code{&body_, num_params_, actions_of(body_.stmts)};
    mark_stores(code.actions);
    return code;
  }

 private:
  const Expr& expr(int e) const { return body_.exprs[index(e)]; }

  // Known from the text alone: what is loaded from constants is, what is loaded from elsewhere not.
  bool depends_on_data(int e) const {
    const Expr& x = expr(e);
    if (x.type.element->is_float || x.type.lanes != 1 || x.op == Op::kOpaque) return true;
    if (x.op == Op::kVariable) return on_data_[static_cast<size_t>(x.number)];
    if (x.op == Op::kLoad && !body_.places[static_cast<size_t>(x.number)].constant) return true;
    return std::ranges::any_of(x.args, [&](int arg) { return depends_on_data(arg); });
  }

  // Pass 1: what defines each slot, and what the control flow and the indices are made of.
  void collect(const std::vector<Stmt>& stmts) {
    for (const Stmt& s : stmts) {
      for (const int e : {s.a, s.b}) {
        if (e >= 0) collect_indices(e);
      }
      if (s.kind == Stmt::Kind::kLet || s.kind == Stmt::Kind::kAssign)
        definitions_[index(s.target)].push_back(s.a);
      if (s.kind == Stmt::Kind::kStore) {
        roots_.push_back(s.b);
        const Place& place = body_.places[index(s.target)];
        if (index(s.target) < num_params_ && !place.writes)
          throw Lie(name_ + " stores to " + place.name + ", which it says it only reads");
      }
      if (s.kind == Stmt::Kind::kIf || s.kind == Stmt::Kind::kFor) roots_.push_back(s.a);
      if (s.kind == Stmt::Kind::kFor) roots_.push_back(s.b);
      collect(s.body);
      collect(s.otherwise);
    }
  }

  void collect_indices(int e) {
    const Expr& x = expr(e);
    if (x.op == Op::kLoad) {
      roots_.push_back(x.args[0]);
      const Place& place = body_.places[static_cast<size_t>(x.number)];
      if (static_cast<size_t>(x.number) < num_params_ && !place.reads)
        throw Lie(name_ + " reads " + place.name + ", which it says it only writes");
    }
    if (x.op == Op::kSelect) roots_.push_back(x.args[0]);
    for (const int arg : x.args) collect_indices(arg);
  }

  void find_what_matters() {
    while (!roots_.empty()) {
      const int e = roots_.back();
      roots_.pop_back();
      const Expr& x = expr(e);
      for (const int arg : x.args) roots_.push_back(arg);
      if (x.op != Op::kVariable) continue;
      const auto slot = static_cast<size_t>(x.number);
      if (matters_[slot]) continue;
      matters_[slot] = true;
      roots_.insert(roots_.end(), definitions_[slot].begin(), definitions_[slot].end());
    }
  }

  // Pass 2, repeated until nothing changes: slots whose value depends on data, or on whether a
  // branch was taken that does (`under` counts those around a statement).
  void spread(const std::vector<Stmt>& stmts, int under) {
    for (const Stmt& s : stmts) {
      const bool data = s.a >= 0 && (depends_on_data(s.a) || (s.b >= 0 && depends_on_data(s.b)));
      if (s.kind == Stmt::Kind::kLet) {
        declared_under_[index(s.target)] = under;
        if (data) taint(s.target);
      } else if (s.kind == Stmt::Kind::kAssign) {
        if (data || declared_under_[index(s.target)] < under) taint(s.target);
      } else if (s.kind == Stmt::Kind::kFor) {
        if (data) taint(s.target);
      }
      spread(s.body, under + (data ? 1 : 0));
      spread(s.otherwise, under + (data ? 1 : 0));
    }
  }

  void taint(int slot) {
    changed_ = changed_ || !on_data_[index(slot)];
    on_data_[index(slot)] = true;
  }

  std::vector<Action> actions_of(const std::vector<Stmt>& stmts) {
    std::vector<Action> actions;
    for (const Stmt& s : stmts) {
      if (s.a >= 0) add_reads(s.a, actions);
      if (s.b >= 0) add_reads(s.b, actions);
      const bool data = s.a >= 0 && (depends_on_data(s.a) || (s.b >= 0 && depends_on_data(s.b)));
      Action action{.on_data = data, .reverse = s.reverse, .target = s.target, .a = s.a, .b = s.b};
      action.step = s.step;
      action.body = actions_of(s.body);
      action.otherwise = actions_of(s.otherwise);
      const bool is_empty = action.body.empty() && action.otherwise.empty();
      switch (s.kind) {
        case Stmt::Kind::kLet:
        case Stmt::Kind::kAssign:
          if (!matters_[index(s.target)]) continue;
          action.kind = Action::Kind::kSet;
          // What is assigned more than once has no range that is worth to be followed.
          action.on_data = on_data_[index(s.target)];
          if (action.on_data && definitions_[index(s.target)].size() > 1) action.a = -1;
          break;
        case Stmt::Kind::kStore:
          action = access(Action::Kind::kWrite, s.target, s.b, expr(s.a).type, s.alignment);
          break;
        case Stmt::Kind::kFor:
          if (is_empty) continue;
          action.kind = Action::Kind::kLoop;
          break;
        case Stmt::Kind::kIf:
          if (is_empty) continue;
          action.kind = Action::Kind::kBranch;
          break;
        case Stmt::Kind::kCall:
          action.kind = Action::Kind::kCall;
          break;
      }
      actions.push_back(std::move(action));
    }
    return actions;
  }

  // What an action does to parameters follows from what is inside.
  bool mark_stores(std::vector<Action>& actions) const {
    bool any = false;
    for (Action& action : actions) {
      const bool inside = mark_stores(action.body);
      const bool other = mark_stores(action.otherwise);
      const bool itself =
          action.kind == Action::Kind::kWrite && static_cast<size_t>(action.target) < num_params_;
      action.stores = inside || other || itself;
      any = any || action.stores;
    }
    return any;
  }

  Action access(Action::Kind kind, int place, int at, Type type, int64_t alignment) const {
    Action action{.kind = kind, .target = place, .a = at};
    action.lanes = type.lanes;
    action.alignment = alignment;
    if (depends_on_data(at)) return action;
    if (const std::optional<Sum> sum = sum_of(at)) {
      action.is_sum = true;
      action.sum = *sum;
    }
    return action;
  }

  // The loads of an expression, operands first. Only one alternative of a select is evaluated.
  void add_reads(int e, std::vector<Action>& actions) {
    const Expr& x = expr(e);
    if (x.op == Op::kSelect) {
      add_reads(x.args[0], actions);
      Action branch{.kind = Action::Kind::kBranch, .a = x.args[0]};
      branch.on_data = depends_on_data(x.args[0]);
      // Of vectors, lanes of both are.
      const bool is_vector = expr(x.args[0]).type.lanes != 1;
      add_reads(x.args[1], is_vector ? actions : branch.body);
      add_reads(x.args[2], is_vector ? actions : branch.otherwise);
      if (!branch.body.empty() || !branch.otherwise.empty()) actions.push_back(std::move(branch));
      return;
    }
    for (const int arg : x.args) add_reads(arg, actions);
    if (x.op == Op::kLoad) {
      actions.push_back(
          access(Action::Kind::kRead, static_cast<int>(x.number), x.args[0], x.type, x.alignment));
    }
  }

  // Nothing if `e`, which does not depend on data, is no short sum with factors of int32.
  std::optional<Sum> sum_of(int e) const {
    const Expr& x = expr(e);
    if (x.type.element->bytes > 4) return std::nullopt;
    if (x.op == Op::kNumber) return Sum{.constant = x.number};
    if (x.op == Op::kVariable) return Sum{0, 1, {Sum::Term{static_cast<int>(x.number), 1}}};
    if (x.op != Op::kAdd && x.op != Op::kSubtract && x.op != Op::kMultiply) return std::nullopt;
    const std::optional<Sum> a = sum_of(x.args[0]);
    const std::optional<Sum> b = sum_of(x.args[1]);
    if (!a || !b) return std::nullopt;
    if (x.op == Op::kAdd) return plus(*a, 1, *b);
    if (x.op == Op::kSubtract) return plus(*a, -1, *b);
    if (b->num_terms == 0) return plus({}, b->constant, *a);
    return a->num_terms == 0 ? plus({}, a->constant, *b) : std::nullopt;
  }

  // a + factor * b
  static std::optional<Sum> plus(Sum a, int64_t factor, const Sum& b) {
    constexpr int64_t kMost = int64_t{1} << 31;
    const auto is_small = [](int64_t n) { return n > -kMost && n < kMost; };
    if (!is_small(factor) || !is_small(b.constant)) return std::nullopt;
    a.constant += factor * b.constant;
    if (!is_small(a.constant)) return std::nullopt;
    for (size_t t = 0; t < b.num_terms; ++t) {
      if (a.num_terms == a.terms.size()) return std::nullopt;
      const int64_t product = factor * b.terms[t].factor;
      if (!is_small(product)) return std::nullopt;
      a.terms[a.num_terms++] = {b.terms[t].slot, product};
    }
    return a;
  }

  const std::string& name_;
  const Body& body_;
  size_t num_params_;
  std::vector<std::vector<int>> definitions_;  // by slot
  std::vector<int> roots_;                     // expressions that matter
  std::vector<bool> on_data_;                  // by slot
  std::vector<bool> matters_;                  // by slot
  std::vector<int> declared_under_;            // by slot
  bool changed_ = false;
};

}  // namespace

Code translate(const std::string& name, const Body& body, size_t num_params) {
  return Translator(name, body, num_params).run();
}

}  // namespace ingot::assay
