// SPDX-License-Identifier: Apache-2.0
#include "ops/lowering.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace ingot {
namespace {

using loop::Expr;

// The type in which an element of `dtype` travels.
loop::Type travel_type(DType dtype) {
  if (is_float(dtype)) return {dtype};
  if (dtype == DType::kInt64 || dtype == DType::kUInt64 || dtype == DType::kUInt32)
    return loop::kInt64;
  return loop::kInt32;
}

bool is_one_element(const TensorType& type) { return type.num_elements() == 1; }

}  // namespace

Lowering::Lowering(const Graph& graph, const Node& node, Rounding rounding, PlaneSearches& searches,
                   ProvedForms forms)
    : graph_(graph), node_(node), rounding_(rounding), plane_searches_(searches), forms_(forms) {}

const Bytes& Lowering::input_constant(size_t i) const {
  const Value& value = graph_[node_.inputs.at(i)];
  CHECK(value.is_constant());
  return *value.constant;
}

std::string Lowering::add_param(loop::Param param, KernelArg arg) {
  param.name = fresh(param.name);
  result_.kernel.params.push_back(param);
  result_.args.push_back(std::move(arg));
  return param.name;
}

std::string Lowering::read_param(ValueId id, const std::string& name) {
  for (size_t p = 0; p < result_.args.size(); ++p) {
    const ValueId* bound = std::get_if<ValueId>(&result_.args[p]);
    if (bound && *bound == id) return result_.kernel.params[p].name;
  }
  const Value& value = graph_[id];
  return add_param({name, value.type.dtype, value.type.num_elements(), loop::Access::kRead,
                    size_in_bytes(value.type.dtype), value.is_constant()},
                   id);
}

std::string Lowering::input(size_t i, const std::string& name) {
  return read_param(node_.inputs.at(i), name);
}

std::string Lowering::constant(const std::string& name, DType dtype, Bytes bytes) {
  for (size_t p = 0; p < result_.args.size(); ++p) {
    const auto* known = std::get_if<ConstantArg>(&result_.args[p]);
    if (known && known->dtype == dtype && known->bytes == bytes) {
      return result_.kernel.params[p].name;
    }
  }
  const int64_t count = bytes.size() / size_in_bytes(dtype);
  return add_param({name, dtype, count, loop::Access::kRead, size_in_bytes(dtype), true},
                   ConstantArg{dtype, std::move(bytes)});
}

std::string Lowering::scratch(const std::string& name, DType dtype, int64_t num_elements) {
  return add_param(
      {name, dtype, num_elements, loop::Access::kReadWrite, size_in_bytes(dtype), false},
      ScratchArg{dtype, num_elements});
}

void Lowering::use(const loop::Function& function) {
  const auto known = std::ranges::find(result_.functions, function.name, &loop::Function::name);
  if (known == result_.functions.end()) result_.functions.push_back(function);
}

Expr Lowering::load(const std::string& param, DType dtype, Expr index) {
  return loop::cast(travel_type(dtype), loop::load(param, std::move(index), loop::Type{dtype}));
}

loop::Block Lowering::store(const Expr& index, Expr value) {
  const TensorType* type = &output_type();
  loop::Block block;
  for (const Step& step : node_.epilogue) {
    Expr so_far = value;
    if (!std::holds_alternative<Clamp>(step.op)) {
      // Named, because a step may use its input more than once; a clamp does not, and merges with
      // the saturation before it if it sees that.
      const std::string name = fresh("v");
      block.push_back(loop::Let{name, value});
      so_far = loop::var(name, value->type);
    }
    std::vector<const TensorType*> types;
    std::vector<Expr> inputs;
    size_t next = 0;
    for (size_t i = 0; i < step.operands.size() + 1; ++i) {
      if (static_cast<int64_t>(i) == step.position) {
        types.push_back(type);
        inputs.push_back(so_far);
        continue;
      }
      const ValueId operand = step.operands.at(next++);
      const Value& v = graph_[operand];
      const std::string param = read_param(operand, "other");
      types.push_back(&v.type);
      inputs.push_back(load(param, v.type.dtype, is_one_element(v.type) ? loop::lit(0) : index));
    }
    const OpRules& rules = rules_of(step.op);
    CHECK(rules.element != nullptr);
    value = rules.element(*this, step.op, types, step.type, inputs);
    type = &step.type;
  }
  const Value& out = graph_[node_.outputs.at(0)];
  const auto bound = std::ranges::find_if(result_.args, [&](const KernelArg& arg) {
    const ValueId* id = std::get_if<ValueId>(&arg);
    return id && *id == node_.outputs.at(0);
  });
  const std::string y =
      bound != result_.args.end()
          ? result_.kernel.params[static_cast<size_t>(bound - result_.args.begin())].name
          : add_param({"y", out.type.dtype, out.type.num_elements(), loop::Access::kWrite,
                       size_in_bytes(out.type.dtype), false},
                      node_.outputs.at(0));
  block.push_back(loop::Store{y, index, loop::cast(loop::Type{out.type.dtype}, std::move(value)),
                              size_in_bytes(out.type.dtype)});
  return block;
}

void Lowering::record(const loop::ProvedSum& sum) {
  if (std::ranges::find(result_.sums, sum) == result_.sums.end()) result_.sums.push_back(sum);
}

std::string Lowering::fresh(const std::string& name) {
  if (names_.insert(name).second) return name;
  // Names are never given back, so the search goes on where the last one ended.
  int64_t& number = last_numbers_[name];
  for (;;) {
    const auto [candidate, is_new] = names_.insert(name + std::to_string(++number));
    if (is_new) return *candidate;
  }
}

LoweredKernel Lowering::finish() && {
  result_.kernel.body = std::move(body);
  result_.kernel.comment = std::move(comment);
  return std::move(result_);
}

LoweredKernel lower_node(const Graph& graph, const Node& node, Rounding rounding,
                         PlaneSearches& searches, ProvedForms forms) {
  Lowering lowering(graph, node, rounding, searches, forms);
  const OpRules& rules = rules_of(node.op);
  CHECK(rules.lower != nullptr);
  rules.lower(lowering);
  return std::move(lowering).finish();
}

void lower_elementwise(Lowering& lowering) {
  const Node& node = lowering.node();
  const OpRules& rules = rules_of(node.op);
  CHECK(rules.element != nullptr);
  static constexpr std::string_view kNames[] = {"x", "z"};
  const std::string i = lowering.fresh("i");
  const int64_t count = lowering.output_type().num_elements();
  std::vector<const TensorType*> types;
  std::vector<Expr> inputs;
  for (size_t n = 0; n < node.inputs.size(); ++n) {
    const TensorType& type = lowering.input_type(n);
    CHECK(type.num_elements() == count || type.num_elements() == 1);
    const std::string param = lowering.input(n, std::string(kNames[std::min<size_t>(n, 1)]));
    types.push_back(&type);
    inputs.push_back(
        Lowering::load(param, type.dtype, type.num_elements() == 1 ? loop::lit(0) : loop::var(i)));
  }
  Expr value = rules.element(lowering, node.op, types, lowering.output_type(), inputs);
  lowering.body.push_back(loop::For{i, loop::lit(0), loop::lit(count), 1, false,
                                    lowering.store(loop::var(i), std::move(value))});
}

}  // namespace ingot
