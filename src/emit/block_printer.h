// SPDX-License-Identifier: Apache-2.0
// Statements of the loop IR as C: the bodies of functions, kernels and the runner.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "emit/expr_printer.h"
#include "emit/names.h"
#include "emit/text.h"
#include "loop/program.h"

namespace ingot {

// Which names a body reads and assigns. A scalar or local array that nothing reads is not printed:
// compilers warn of it.
struct Usage {
  std::set<std::string> read;      // scalars, and arrays that are loaded from
  std::set<std::string> assigned;  // scalars with an Assign
  std::set<std::string> local_arrays;
  std::set<std::string> stored;  // parameters and arrays that are stored to
};

// Of a body and, for functions, its result.
Usage usage_of(const loop::Block& body, const loop::Expr& result = nullptr);

class BlockPrinter {
 public:
  using PrintCall = std::function<void(const loop::CallKernel&)>;

  // `names` holds what is known from outside (parameters, functions); locals are added to it,
  // with C names from `table`.
  BlockPrinter(CText& out, Names names, NameTable table, Usage usage, Needs& needs,
               PrintCall print_call = nullptr);

  void print(const loop::Block& block);
  void print_return(const loop::Expr& result);

 private:
  void print(const loop::For& loop);
  void print(const loop::If& branch);
  void print(const loop::Let& let);
  void print(const loop::Assign& assign);
  void print(const loop::LocalArray& array);
  void print(const loop::Store& store);
  void print(const loop::Comment& comment);
  void print(const loop::CallKernel& call);

  std::string name_scalar(const std::string& name);
  // Whether a loop may evaluate `bound` before every iteration: it is cheap and does not change.
  bool is_plain_bound(const loop::Expr& bound) const;
  std::string for_header(const loop::For& loop);
  std::string reverse_header(const loop::For& loop);

  CText& out_;
  Names names_;
  NameTable table_;
  Usage usage_;
  Needs& needs_;
  PrintCall print_call_;
  Ranges ranges_;
  ExprPrinter exprs_;
  std::map<std::string, std::string> ends_;  // of loop variables: the name of their bound
};

}  // namespace ingot
