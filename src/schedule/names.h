// SPDX-License-Identifier: Apache-2.0
// The names that a kernel uses, and new ones.
#pragma once
#include <map>
#include <set>
#include <string>

#include "loop/program.h"

namespace ingot {

// What the statements of a block declare, load, store and assign, at any depth.
struct NamesOf {
  std::set<std::string> declared;  // locals: scalars, arrays and loop variables
  std::set<std::string> assigned;
  std::set<std::string> loaded;
  std::set<std::string> stored;
};
NamesOf names_of(const loop::Block& block);

// Gives names that neither the kernel nor an earlier call has used.
class FreshNames {
 public:
  explicit FreshNames(const loop::Kernel& kernel);
  std::string make(const std::string& name);

 private:
  std::set<std::string> used_;
};

// `block` with variables replaced by values and locals renamed where they are declared, assigned
// and used; names that do not occur in the maps stay.
struct Replacement {
  std::map<std::string, loop::Expr> values;
  std::map<std::string, std::string> locals;
};
loop::Expr replace(const loop::Expr& e, const Replacement& replacement);
loop::Block replace(const loop::Block& block, const Replacement& replacement);

}  // namespace ingot
