// SPDX-License-Identifier: Apache-2.0
// Reading of statements and expressions of a loop program.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "assay/lexer.h"
#include "assay/loops.h"

namespace ingot::assay {

using FunctionTypes = std::map<std::string, Type>;

// Reads `name` ("int32", "int8x16", "int8p4") or throws Damage.
Type read_type(Lexer& lexer);
// Reads "int8[490]".
std::pair<const Element*, int64_t> read_array_type(Lexer& lexer);
int64_t read_alignment(Lexer& lexer);  // "align 4"

class BodyReader {
 public:
  // `calls` is null outside the runner.
  BodyReader(Lexer& lexer, const FunctionTypes& functions, std::vector<Call>* calls = nullptr)
      : lexer_(lexer), functions_(functions), calls_(calls) {}

  int declare_slot(const std::string& name, Type type);
  void declare_place(Place place);
  // "{ ... }"
  std::vector<Stmt> block(int depth = 1);
  // Statements up to `end`, which is taken.
  std::vector<Stmt> statements_until(std::string_view end, int depth);
  int expression();
  Type type_of(int expr) const;
  Body take() && { return std::move(body_); }
  const Body& body() const { return body_; }

 private:
  void declare(const std::string& key, int index);
  int find(const std::string& key) const;
  void leave(size_t mark);

  Stmt statement(int depth);
  Stmt for_statement(int depth);
  Stmt if_statement(int depth);
  Stmt let_statement();
  Stmt assignment();
  Stmt call_statement();
  Call::Scalar scalar_argument();

  int infix(int level);
  int prefix();
  int primary();
  int literal(bool negative);
  int load(const std::string& name);
  int call(const std::string& name);
  int named(const std::string& name, std::vector<int> args);
  int binary(Op op, int left, int right);
  int make(Op op, Type type, std::vector<int> args, int64_t number = 0);
  Type access_type(const Place& place, int64_t& alignment);

  Lexer& lexer_;
  const FunctionTypes& functions_;
  std::vector<Call>* calls_;
  Body body_;
  std::map<std::string, std::vector<int>> names_;  // of places with "[" behind
  std::vector<std::string> declared_;
  int nesting_ = 0;
};

}  // namespace ingot::assay
