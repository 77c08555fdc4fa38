// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_elements.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "loop/transform.h"
#include "schedule/block.h"
#include "schedule/contraction.h"
#include "schedule/copies.h"
#include "schedule/lanes.h"
#include "schedule/schedule.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;

constexpr int64_t kLanes = 4;

bool is_wide(const Expr& e) {
  bool wide = false;
  loop::for_each_node(e, [&](const Expr& node) {
    const DType dtype = node->type.dtype;
    wide = wide || dtype == DType::kInt64 || dtype == DType::kFloat64;
  });
  return wide;
}

bool is_wide(const Block& block) {
  bool wide = false;
  loop::for_each_expression(block, [&](const Expr& e) { wide = wide || is_wide(e); });
  return wide;
}

// Lanes of 64 bits; what is an instruction has none, whatever its meaning says.
bool is_wide(const loop::Function& f) {
  const bool is_instruction = !f.expression.empty() || !f.assembly.empty();
  return !is_instruction && (is_wide(f.body) || is_wide(f.result));
}

class ElementsBuilder {
 public:
  ElementsBuilder(const loop::Program& program, const TermShape& shape, std::set<std::string> names)
      : program_(program), shape_(shape), names_(std::move(names)) {}

  Block vectorised(const Block& body) {
    return with_loops_replaced(body, [&](const loop::For& f) { return in_vectors(body, f); });
  }

  bool has_vectors() const { return has_vectors_; }
  const std::vector<loop::Function>& functions() const { return functions_; }

 private:
  std::optional<Block> in_vectors(const Block& body, const loop::For& f) {
    const auto* begin = loop::as<loop::IntLit>(f.begin);
    const auto* end = loop::as<loop::IntLit>(f.end);
    if (!begin || !end || f.step != 1 || end->value - begin->value < kLanes) return std::nullopt;
    if (is_copy(f) || !loads_neighbours(f) || !loop::is_independent(body, f.variable))
      return std::nullopt;
    const int64_t count = end->value - begin->value;
    const int64_t whole = begin->value + count / kLanes * kLanes;
    Lanes lanes(f.variable, loop::var(f.variable), kLanes, program_, shape_.known);
    std::optional<Block> wide = lanes.widened(f.body);
    if (!wide || is_wide(*wide)) return std::nullopt;
    if (std::ranges::any_of(lanes.functions(),
                            [](const loop::Function& g) { return is_wide(g); })) {
      return std::nullopt;
    }
    has_vectors_ = true;
    for (const loop::Function& g : lanes.functions()) {
      if (std::ranges::find(functions_, g.name, &loop::Function::name) == functions_.end()) {
        functions_.push_back(g);
      }
    }
    Block vectors = {loop::For{f.variable, f.begin, lit(whole), kLanes, f.reverse, *wide}};
    if (whole == end->value) return vectors;
    loop::For rest = f;
    rest.begin = lit(whole);
    rest.body = renamed(f.body);
    return f.reverse ? joined({rest}, std::move(vectors)) : joined(std::move(vectors), {rest});
  }

  // Nothing but declarations and stores, of one element of neighbours or of the same for all; no
  // look-up in a table, which has to be done lane by lane.
  static bool loads_neighbours(const loop::For& f) {
    bool all = true;
    const auto check = [&](const Expr& index) {
      const std::optional<AffineIndex> affine = affine_index(index);
      all = all && affine && (affine->factor(f.variable) == 1 || affine->factor(f.variable) == 0);
    };
    for (const loop::Stmt& s : f.body) {
      if (const auto* store = std::get_if<loop::Store>(&s.kind)) {
        check(store->index);
        all = all && store->value->type.is_scalar();
      } else {
        all = all && std::holds_alternative<loop::Let>(s.kind);
      }
    }
    loop::for_each_expression(f.body, [&](const Expr& e) {
      loop::for_each_node(e, [&](const Expr& node) {
        if (const auto* load = loop::as<loop::Load>(node)) check(load->index);
      });
    });
    return all;
  }

  Block renamed(const Block& block) {
    std::map<std::string, std::string> names;
    for (const std::string& name : loop::declared_by(block)) {
      names[name] = loop::fresh_name(name, names_);
    }
    return loop::rename(block, names);
  }

  const loop::Program& program_;
  const TermShape& shape_;
  std::set<std::string> names_;
  std::vector<loop::Function> functions_;
  bool has_vectors_ = false;
};

}  // namespace

std::optional<Rescheduled> schedule_vector_elements(const loop::Program& program,
                                                    const loop::Kernel& kernel, bool reverse,
                                                    const TermShape& shape) {
  const std::optional<loop::Kernel> plain = reverse ? ingot::reverse(kernel) : kernel;
  if (!plain) return std::nullopt;
  ElementsBuilder builder(program, shape, names_in(kernel));
  Rescheduled out;
  out.kernel = *plain;
  const Block body = builder.vectorised(plain->body);
  out.kernel.body = loop::simplify(with_words(body, /*has_vectors=*/true));
  if (!builder.has_vectors()) return std::nullopt;
  out.functions = shape.functions;
  out.functions.insert(out.functions.end(), builder.functions().begin(), builder.functions().end());
  return out;
}

}  // namespace ingot
