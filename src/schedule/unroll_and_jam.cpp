// SPDX-License-Identifier: Apache-2.0
#include "schedule/unroll_and_jam.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "schedule/names.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::Stmt;

bool contains_load(const Expr& e) { return !names_of({loop::Let{"", e}}).loaded.empty(); }

// Merges copies of one body, statement by statement.
class Jammer {
 public:
  explicit Jammer(FreshNames& names) : names_(names) {}

  // False if the copies cannot be jammed. Copies have the same structure.
  bool jam(const std::vector<Block>& copies, Block& out) {
    for (size_t s = 0; s < copies.front().size(); ++s) {
      std::vector<const Stmt*> stmts;
      for (const Block& copy : copies) stmts.push_back(&copy[s]);
      if (!jam_statement(stmts, out)) return false;
    }
    return true;
  }

 private:
  bool jam_statement(const std::vector<const Stmt*>& stmts, Block& out) {
    if (std::holds_alternative<loop::For>(stmts.front()->kind)) return jam_loops(stmts, out);
    if (std::holds_alternative<loop::If>(stmts.front()->kind)) return false;
    if (std::holds_alternative<loop::Assign>(stmts.front()->kind)) {
      jam_assignments(stmts, out);
      return true;
    }
    for (const Stmt* stmt : stmts) out.push_back(*stmt);
    return true;
  }

  bool jam_loops(const std::vector<const Stmt*>& stmts, Block& out) {
    const auto& first = std::get<loop::For>(stmts.front()->kind);
    std::vector<Block> bodies;
    for (const Stmt* stmt : stmts) {
      const auto& f = std::get<loop::For>(stmt->kind);
      if (!loop::equal(f.begin, first.begin) || !loop::equal(f.end, first.end)) return false;
      bodies.push_back(f.body);
    }
    loop::For jammed{first.variable, first.begin, first.end, first.step, first.reverse, {}};
    if (!jam(bodies, jammed.body)) return false;
    out.push_back(std::move(jammed));
    return true;
  }

  // What all copies load alike is loaded once, by name.
  void jam_assignments(const std::vector<const Stmt*>& stmts, Block& out) {
    std::vector<loop::Assign> assigns;
    for (const Stmt* stmt : stmts) assigns.push_back(std::get<loop::Assign>(stmt->kind));
    if (assigns.size() > 1) {
      std::vector<Expr*> values;
      for (loop::Assign& a : assigns) values.push_back(&a.value);
      share(values, out);
    }
    for (loop::Assign& a : assigns) out.push_back(std::move(a));
  }

  void share(const std::vector<Expr*>& values, Block& out) {
    const Expr first = *values.front();
    const bool all_equal =
        std::ranges::all_of(values, [&](const Expr* e) { return loop::equal(*e, first); });
    if (all_equal) {
      if (!contains_load(first)) return;
      const std::string name = names_.make(name_for(first));
      out.push_back(loop::Let{name, first});
      for (Expr* e : values) *e = loop::var(name, first->type);
      return;
    }
    // Copies differ somewhere below: look for what they share there.
    const auto* b = loop::as<loop::BinaryExpr>(first);
    if (!b) return;
    std::vector<Expr> left;
    std::vector<Expr> right;
    for (const Expr* e : values) {
      const auto* other = loop::as<loop::BinaryExpr>(*e);
      if (!other || other->op != b->op) return;
      left.push_back(other->a);
      right.push_back(other->b);
    }
    std::vector<Expr*> left_refs;
    std::vector<Expr*> right_refs;
    for (Expr& e : left) left_refs.push_back(&e);
    for (Expr& e : right) right_refs.push_back(&e);
    share(left_refs, out);
    share(right_refs, out);
    const loop::BinaryOp op = b->op;
    for (size_t i = 0; i < values.size(); ++i) *values[i] = loop::binary(op, left[i], right[i]);
  }

  static std::string name_for(const Expr& e) {
    const std::set<std::string> loaded = names_of({loop::Let{"", e}}).loaded;
    return *loaded.begin() + "_value";
  }

  FreshNames& names_;
};

class Unroller {
 public:
  Unroller(const loop::Kernel& kernel, std::string variable, int64_t factor)
      : kernel_(kernel), names_(kernel), variable_(std::move(variable)), factor_(factor) {}

  std::optional<loop::Kernel> run() {
    loop::Kernel result = kernel_;
    result.body = transform(kernel_.body);
    if (!done_) return std::nullopt;
    return result;
  }

 private:
  Block transform(const Block& block) {
    Block out;
    for (const Stmt& stmt : block) {
      const auto* f = std::get_if<loop::For>(&stmt.kind);
      if (f && f->variable == variable_ && unroll(*f, out)) {
        done_ = true;
      } else if (f) {
        loop::For copy = *f;
        copy.body = transform(f->body);
        out.push_back(std::move(copy));
      } else {
        out.push_back(stmt);
      }
    }
    return out;
  }

  static bool is_legal(const loop::For& f) {
    const NamesOf names = names_of(f.body);
    const auto is_declared = [&](const std::string& n) { return names.declared.contains(n); };
    const auto is_stored = [&](const std::string& n) {
      return names.stored.contains(n) && !names.declared.contains(n);
    };
    return std::ranges::all_of(names.assigned, is_declared) &&
           std::ranges::none_of(names.loaded, is_stored);
  }

  // The iterations from `first`, `count` of them, side by side.
  bool jam_iterations(const loop::For& f, const Expr& first, int64_t count, Block& out) {
    std::vector<Block> copies;
    const std::set<std::string> loops = loop_variables(f.body);
    const std::set<std::string> declared = names_of(f.body).declared;
    for (int64_t i = 0; i < count; ++i) {
      Replacement replacement;
      replacement.values[f.variable] = first + i;
      for (const std::string& name : declared) {
        // Loop variables are shared by the copies.
        if (count > 1 && !loops.contains(name)) {
          replacement.locals[name] = names_.make(name + std::to_string(i));
        }
      }
      copies.push_back(replace(f.body, replacement));
    }
    return Jammer(names_).jam(copies, out);
  }

  static std::set<std::string> loop_variables(const Block& block) {
    std::set<std::string> names;
    for (const Stmt& stmt : block) {
      if (const auto* f = std::get_if<loop::For>(&stmt.kind)) {
        names.insert(f->variable);
        names.merge(loop_variables(f->body));
      }
    }
    return names;
  }

  bool unroll(const loop::For& f, Block& out) {
    const auto* begin = loop::as<loop::IntLit>(f.begin);
    const auto* end = loop::as<loop::IntLit>(f.end);
    if (!begin || !end || f.step != 1 || f.reverse || !is_legal(f)) return false;
    const int64_t extent = end->value - begin->value;
    const int64_t whole = extent / factor_ * factor_;
    Block result;
    if (whole == factor_) {
      if (!jam_iterations(f, f.begin, factor_, result)) return false;
    } else if (whole > 0) {
      loop::For main_loop{f.variable, f.begin, f.begin + whole, factor_, false, {}};
      if (!jam_iterations(f, loop::var(f.variable), factor_, main_loop.body)) return false;
      result.push_back(std::move(main_loop));
    }
    const int64_t rest = extent - whole;
    if (rest > 0 && !jam_iterations(f, f.begin + whole, rest, result)) return false;
    std::ranges::move(result, std::back_inserter(out));
    return true;
  }

  const loop::Kernel& kernel_;
  FreshNames names_;
  std::string variable_;
  int64_t factor_;
  bool done_ = false;
};

}  // namespace

std::optional<loop::Kernel> unroll_and_jam(const loop::Kernel& kernel, const std::string& variable,
                                           int64_t factor) {
  return Unroller(kernel, variable, factor).run();
}

}  // namespace ingot
