// SPDX-License-Identifier: Apache-2.0
// Scalar code for one output channel as vector code for neighbouring channels, one per lane. The
// operations are the same, lane by lane, so the values are too.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot {

// Vector functions that stand for scalar ones, by the name of the scalar function.
using VectorFunctions = std::map<std::string, loop::Function>;

class Lanes {
 public:
  // `channel` is the variable that counts the lanes: its value in lane 0 is `first`. `functions`:
  // of the program; `known`: better vector functions than what is made of their bodies.
  Lanes(std::string channel, loop::Expr first, int64_t lanes, const loop::Program& program,
        const VectorFunctions& known)
      : channel_(std::move(channel)),
        first_(std::move(first)),
        lanes_(lanes),
        program_(program),
        known_(known) {}

  // A scalar variable that has become a vector.
  void set_vector(const std::string& name) { vectors_[name] = true; }

  // nullopt where there is no such vector code.
  std::optional<loop::Expr> widened(const loop::Expr& e);
  std::optional<loop::Block> widened(const loop::Block& block);

  // The vector functions that the results call, callees first.
  const std::vector<loop::Function>& functions() const { return functions_; }

 private:
  loop::Type vector_of(loop::Type type) const { return {type.dtype, lanes_}; }
  bool depends(const loop::Expr& e) const;
  std::optional<loop::Expr> of_load(const loop::Load& load, loop::Type type);
  // Of a load from anywhere (a table, by what another load gives): each lane by itself.
  std::optional<loop::Expr> of_look_up(const loop::Expr& load);
  // (int64(a) * m + offset) >> 31 or more, where there is a function for it; a bend may stand
  // behind: + int64(a >> 31) * bend.
  std::optional<loop::Expr> of_rescaling(const loop::Expr& e);
  std::optional<loop::Expr> half_of_offset(const loop::Expr& offset, int64_t half);
  std::optional<loop::Expr> of_call(const loop::CallExpr& call, loop::Type type);
  std::optional<std::string> vector_function(const std::string& name);

  std::string channel_;
  loop::Expr first_;
  int64_t lanes_;
  const loop::Program& program_;
  const VectorFunctions& known_;
  std::map<std::string, bool> vectors_;
  std::vector<loop::Function> functions_;
};

}  // namespace ingot
