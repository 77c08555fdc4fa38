// SPDX-License-Identifier: Apache-2.0
// Parsing of expressions, by precedence climbing. Builds exactly the tree that was printed: nothing
// is folded.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/expr.h"
#include "loop/lexer.h"
#include "loop/typing.h"

namespace ingot::loop {

// The names that are visible at a place, with their types. Inner blocks may hide names; leaving
// them brings the outer ones back.
class Scope {
 public:
  void declare(const std::string& name, Type type) {
    types_[name].push_back(type);
    names_.push_back(name);
  }
  size_t mark() const { return names_.size(); }
  void leave(size_t mark) {
    for (; names_.size() > mark; names_.pop_back()) types_[names_.back()].pop_back();
  }
  std::optional<Type> find(const std::string& name) const {
    const auto found = types_.find(name);
    if (found == types_.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
  }

 private:
  std::map<std::string, std::vector<Type>> types_;
  std::vector<std::string> names_;
};

// What names mean.
struct ParseContext {
  Scope variables;
  Scope buffers;                               // parameters and local arrays: element types
  std::map<std::string, Type> function_types;  // results
};

class ExprParser {
 public:
  ExprParser(Lexer& lexer, const ParseContext& context) : lexer_(lexer), context_(context) {}

  // An expression; on a fault the lexer has it and the result is a literal.
  Expr parse();
  // ":int8x16 align 4" behind an access of a buffer of `dtype`, or nothing.
  std::pair<Type, int64_t> parse_access(DType dtype);

 private:
  struct Parsed {
    Expr e;
    int64_t depth = 1;
  };

  Parsed failed(std::string what);
  template <class T>
  Parsed make(Type type, T kind, int64_t depth_below);
  Parsed parse_infix(int level);
  Parsed combine(BinaryOp op, Parsed left, Parsed right, bool right_is_number);
  Parsed parse_prefix();
  Parsed parse_primary();
  Parsed parse_number(bool negative);
  Parsed parse_load(const std::string& name);
  Parsed parse_call(const std::string& name);
  Parsed call_named(const std::string& name, std::vector<Parsed> args);
  Type parse_literal_type(Type otherwise);

  Lexer& lexer_;
  const ParseContext& context_;
  int64_t nesting_ = 0;
};

}  // namespace ingot::loop
