// SPDX-License-Identifier: Apache-2.0
#include "loop/accesses.h"

#include <algorithm>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "support/check.h"

namespace ingot::loop {
namespace {

using Kind = AccessNode::Kind;

class Collector {
 public:
  Collector(const Kernel& kernel, const std::string& output, const std::string& input)
      : output_(output), input_(input), assigned_(assigned_in(kernel.body)) {}

  std::vector<AccessNode> collect(const Block& block) const {
    std::vector<AccessNode> nodes;
    for (const Stmt& s : block) {
      if (const auto* loop = std::get_if<For>(&s.kind)) {
        collect_loop(*loop, nodes);
      } else if (const auto* branch = std::get_if<If>(&s.kind)) {
        add_reads(branch->condition, nodes);
        add_branch(branch->condition, collect(branch->then_body), collect(branch->else_body),
                   nodes);
      } else if (const auto* let = std::get_if<Let>(&s.kind)) {
        add_reads(let->value, nodes);
        const Type type = let->value->type;
        if (type.is_scalar() && !is_float(type.dtype) && !assigned_.contains(let->name)) {
          nodes.push_back({.kind = Kind::kLet, .name = let->name, .a = let->value});
        }
      } else if (const auto* assign = std::get_if<Assign>(&s.kind)) {
        add_reads(assign->value, nodes);
      } else if (const auto* store = std::get_if<Store>(&s.kind)) {
        add_reads(store->index, nodes);
        add_reads(store->value, nodes);
        if (store->buffer == output_) {
          nodes.push_back(
              {.kind = Kind::kWrite, .a = store->index, .lanes = store->value->type.lanes});
        }
      }
    }
    return nodes;
  }

 private:
  static bool has_accesses(const std::vector<AccessNode>& nodes) {
    return std::ranges::any_of(nodes, [](const AccessNode& n) { return n.kind != Kind::kLet; });
  }

  void collect_loop(const For& loop, std::vector<AccessNode>& nodes) const {
    add_reads(loop.begin, nodes);
    add_reads(loop.end, nodes);
    std::vector<AccessNode> body = collect(loop.body);
    if (!has_accesses(body)) return;
    nodes.push_back({.kind = Kind::kLoop,
                     .name = loop.variable,
                     .a = loop.begin,
                     .b = loop.end,
                     .step = loop.step,
                     .reverse = loop.reverse,
                     .body = std::move(body)});
  }

  static void add_branch(const Expr& condition, std::vector<AccessNode> then_nodes,
                         std::vector<AccessNode> else_nodes, std::vector<AccessNode>& nodes) {
    if (!has_accesses(then_nodes) && !has_accesses(else_nodes)) return;
    nodes.push_back({.kind = Kind::kBranch,
                     .a = condition,
                     .body = std::move(then_nodes),
                     .other = std::move(else_nodes)});
  }

  // Of a select only what is chosen is read.
  void add_reads(const Expr& e, std::vector<AccessNode>& nodes) const {
    if (const auto* s = as<Select>(e)) {
      add_reads(s->condition, nodes);
      std::vector<AccessNode> then_nodes;
      std::vector<AccessNode> else_nodes;
      add_reads(s->if_true, then_nodes);
      add_reads(s->if_false, else_nodes);
      add_branch(s->condition, std::move(then_nodes), std::move(else_nodes), nodes);
    } else if (const auto* l = as<Load>(e)) {
      add_reads(l->index, nodes);
      if (l->buffer == input_) {
        nodes.push_back({.kind = Kind::kRead, .a = l->index, .lanes = e->type.lanes});
      }
    } else if (const auto* u = as<UnaryExpr>(e)) {
      add_reads(u->a, nodes);
    } else if (const auto* b = as<BinaryExpr>(e)) {
      add_reads(b->a, nodes);
      add_reads(b->b, nodes);
    } else if (const auto* c = as<Cast>(e)) {
      add_reads(c->a, nodes);
    } else if (const auto* v = as<Lane>(e)) {
      add_reads(v->a, nodes);
    } else if (const auto* p = as<Pack>(e)) {
      for (const Expr& value : p->lanes) add_reads(value, nodes);
    } else if (const auto* f = as<CallExpr>(e)) {
      for (const Expr& arg : f->args) add_reads(arg, nodes);
    }
  }

  const std::string& output_;
  const std::string& input_;
  const std::set<std::string> assigned_;
};

AccessedParam param_of(const Kernel& kernel, const std::string& name) {
  const auto found = std::ranges::find(kernel.params, name, &Param::name);
  CHECK(found != kernel.params.end());
  const int64_t bytes = size_in_bytes(found->dtype);
  return {found->num_elements, bytes, found->num_elements * bytes};
}

}  // namespace

Accesses accesses_of(const Kernel& kernel, const std::string& output, const std::string& input) {
  return {param_of(kernel, output), param_of(kernel, input),
          Collector(kernel, output, input).collect(kernel.body)};
}

}  // namespace ingot::loop
