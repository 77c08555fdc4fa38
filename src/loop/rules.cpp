// SPDX-License-Identifier: Apache-2.0
#include "loop/rules.h"

#include <map>
#include <string>

#include "loop/text.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

struct ParsedRule {
  Expr pattern;
  Expr replacement;
};

// Rules are loop text, so that they are read by the parser: as results of functions.
Expr parse_side(std::string_view side) {
  for (const char* type : {"int32", "bool"}) {
    const Result<Program> program =
        parse("program rules function f(x: int32, y: int32, z: int32, c: bool, d: bool) -> " +
              std::string(type) + " \"\" { return " + std::string(side) + " } run { }");
    if (program) return program->functions[0].result;
  }
  throw InternalError("a rule that does not parse: " + std::string(side));
}

const std::vector<ParsedRule>& parsed_rules() {
  static const std::vector<ParsedRule> all = [] {
    std::vector<ParsedRule> parsed;
    for (const Rule& rule : rules()) {
      parsed.push_back({parse_side(rule.pattern), parse_side(rule.replacement)});
    }
    return parsed;
  }();
  return all;
}

using Bindings = std::map<std::string, Expr>;

bool match(const Expr& pattern, const Expr& e, Bindings& bound) {
  if ((pattern->type == kBool) != (e->type == kBool)) return false;
  if (const auto* v = as<Var>(pattern)) {
    if (is_float(e->type.dtype) || !e->type.is_scalar()) return false;
    const auto [place, is_new] = bound.try_emplace(v->name, e);
    return is_new || equal(place->second, e);
  }
  if (pattern->kind.index() != e->kind.index()) return false;
  if (const auto* p = as<IntLit>(pattern)) return p->value == as<IntLit>(e)->value;
  if (const auto* p = as<UnaryExpr>(pattern)) {
    const auto* x = as<UnaryExpr>(e);
    return p->op == x->op && match(p->a, x->a, bound);
  }
  if (const auto* p = as<BinaryExpr>(pattern)) {
    const auto* x = as<BinaryExpr>(e);
    return p->op == x->op && match(p->a, x->a, bound) && match(p->b, x->b, bound);
  }
  if (const auto* p = as<Select>(pattern)) {
    const auto* x = as<Select>(e);
    return match(p->condition, x->condition, bound) && match(p->if_true, x->if_true, bound) &&
           match(p->if_false, x->if_false, bound);
  }
  return false;
}

// The replacement has no literals but of bool, so that it takes its types from what is bound.
Expr build(const Expr& replacement, const Bindings& bound) {
  if (const auto* v = as<Var>(replacement)) return bound.at(v->name);
  if (const auto* u = as<UnaryExpr>(replacement)) return unary(u->op, build(u->a, bound));
  if (const auto* b = as<BinaryExpr>(replacement)) {
    return binary(b->op, build(b->a, bound), build(b->b, bound));
  }
  if (const auto* s = as<Select>(replacement)) {
    return select(build(s->condition, bound), build(s->if_true, bound), build(s->if_false, bound));
  }
  return replacement;
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"min(x, x)", "x"},
      {"max(x, x)", "x"},
      {"min(min(x, y), x)", "min(x, y)"},
      {"min(min(x, y), y)", "min(x, y)"},
      {"min(x, min(x, y))", "min(x, y)"},
      {"min(x, min(y, x))", "min(y, x)"},
      {"max(max(x, y), x)", "max(x, y)"},
      {"max(max(x, y), y)", "max(x, y)"},
      {"max(x, max(x, y))", "max(x, y)"},
      {"max(x, max(y, x))", "max(y, x)"},
      {"min(max(x, y), x)", "x"},
      {"min(max(x, y), y)", "y"},
      {"max(min(x, y), x)", "x"},
      {"max(min(x, y), y)", "y"},
      {"x < x", "false"},
      {"x <= x", "true"},
      {"x == x", "true"},
      {"x != x", "false"},
      {"!(x < y)", "y <= x"},
      {"!(x <= y)", "y < x"},
      {"!(x == y)", "x != y"},
      {"!(x != y)", "x == y"},
      {"!!c", "c"},
      {"c & true", "c"},
      {"c & false", "false"},
      {"c | true", "true"},
      {"c | false", "c"},
      {"c & c", "c"},
      {"c | c", "c"},
      {"c == true", "c"},
      {"c == false", "!c"},
      {"c != false", "c"},
      {"c != true", "!c"},
      {"x & x", "x"},
      {"x | x", "x"},
      {"-(-x)", "x"},
      {"abs(-x)", "abs(x)"},
      {"abs(abs(x))", "abs(x)"},
      {"select(c, x, x)", "x"},
      {"select(c, d, d)", "d"},
      {"select(c, true, false)", "c"},
      {"select(c, false, true)", "!c"},
      {"select(!c, x, y)", "select(c, y, x)"},
      {"select(x < y, x, y)", "min(x, y)"},
      {"select(x < y, y, x)", "max(x, y)"},
      {"select(x <= y, x, y)", "min(x, y)"},
      {"select(x <= y, y, x)", "max(x, y)"},
      {"select(c, select(c, x, y), z)", "select(c, x, z)"},
      {"select(c, x, select(c, y, z))", "select(c, x, z)"},
  };
  return all;
}

Expr apply_rules(const Expr& e) {
  if (is_float(e->type.dtype) || !e->type.is_scalar()) return nullptr;
  for (const ParsedRule& rule : parsed_rules()) {
    Bindings bound;
    if (match(rule.pattern, e, bound)) return build(rule.replacement, bound);
  }
  return nullptr;
}

}  // namespace ingot::loop
