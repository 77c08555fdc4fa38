// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply and sum, taken apart:
//
//   for o1 ... { for o2 ... {            // `outer`: constant bounds, one output element each
//     acc = first
//     for s1 ... { for s2 ... {          // `sums`: bounds may depend on outer variables
//       acc = acc + (x[affine] + x_offset) * (w[affine] + w_offset)
//     } }
//     finish                             // stores the output element, made from acc
//   } }
//
// Schedules build other nests from these parts (docs/decisions/0008). Nothing here knows from which
// operator a kernel came.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/program.h"

namespace ingot {

// The sum of factor * variable and of `constant`.
struct AffineIndex {
  std::map<std::string, int64_t> factors;  // none is 0
  int64_t constant = 0;

  int64_t factor(const std::string& variable) const;
  // At these values of the variables; all of them must be there.
  int64_t at(const std::map<std::string, int64_t>& values) const;
  // As an expression over the variables, in the order of `order`; others stand behind.
  loop::Expr expr(const std::vector<std::string>& order) const;
};
std::optional<AffineIndex> affine_index(const loop::Expr& e);

// A loop without its body.
struct LoopRange {
  std::string variable;
  loop::Expr begin;
  loop::Expr end;

  // If the bounds are constants.
  std::optional<int64_t> first() const;
  std::optional<int64_t> extent() const;
};

// An element of a parameter plus `offset`, in the accumulator's type.
struct Factor {
  std::string buffer;
  DType dtype = DType::kInt8;
  AffineIndex index;
  int64_t offset = 0;  // 0 for floats
};

struct Contraction {
  std::vector<LoopRange> outer;  // outermost first; each begins at 0
  std::vector<LoopRange> sums;   // outermost first
  std::string accumulator;
  loop::Expr first;
  Factor x;
  Factor w;  // of a constant parameter
  loop::Block finish;
  bool x_stands_left = true;  // in the product

  const LoopRange* find_outer(const std::string& variable) const;
  // Whether the constant factor changes over the outer loop.
  bool is_channel(const LoopRange& axis) const { return w.index.factor(axis.variable) != 0; }
};

// The outer loops: over channels, and over positions that share the constant factor.
struct Axes {
  std::vector<LoopRange> channels;  // outside of `channel`
  LoopRange channel;                // the innermost of them
  std::vector<LoopRange> positions;

  // How many values the loops outside of `channel` have together, and which one it is, counted
  // with the innermost as the lowest digit.
  int64_t num_outer_channels() const;
  loop::Expr outer_channel() const;
};
// `c` has channels.
Axes axes_of(const Contraction& c);

// The names of the kernel's body and of its parameters.
std::set<std::string> names_in(const loop::Kernel& kernel);

// What follows one sum of a block of outputs: the accumulator with its value, and `finish` with
// variables replaced by `values`. Its own names get the suffix `number` and are added to `names`.
loop::Block ending_of(const Contraction& c, loop::Expr sum, const loop::Block& finish,
                      const std::map<std::string, loop::Expr>& values, int64_t number,
                      std::set<std::string>& names);

// The same with a loop over one output channel, innermost, if it has none: outputs of one channel
// only. `names` are taken.
Contraction with_a_channel(Contraction c, std::set<std::string>& names);

// nullopt if the kernel is of another form.
std::optional<Contraction> find_contraction(const loop::Kernel& kernel);

}  // namespace ingot
