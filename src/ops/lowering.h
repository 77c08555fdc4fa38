// SPDX-License-Identifier: Apache-2.0
// What an operator's `lower` rule works with: it asks for its parameters, builds a nest of loops in
// `body`, and hands every element that it produces to `store`, which applies the node's epilogue.
// There is no other place where an epilogue is lowered.
//
// Element values travel as int32 for integers of up to 32 bits (always within the range of their
// dtype), int64 for 64-bit ones, and as they are for floats; only `load` and `store` know the
// width.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "loop/loop.h"
#include "ops/proved_sum.h"
#include "ops/rules.h"

namespace ingot {

// What a kernel's parameter is bound to.
struct ConstantArg {
  DType dtype = DType::kInt8;
  Bytes bytes;
};
struct ScratchArg {
  DType dtype = DType::kInt32;
  int64_t num_elements = 0;
};
using KernelArg = std::variant<ValueId, ConstantArg, ScratchArg>;

// Which proved forms a target has kernels use in place of the reference's arithmetic.
struct ProvedForms {
  bool rescalings = true;   // ops/proved_rescale.h
  bool sum_tables = false;  // sums of bytes with 1 KB of offsets (ops/proved_sum.h)
};

struct LoweredKernel {
  loop::Kernel kernel;  // without a name
  std::vector<KernelArg> args;
  std::vector<loop::Function> functions;               // that the kernel calls, callees first
  std::optional<loop::Requantization> requantization;  // tables by the names of their parameters
  std::vector<loop::ProvedSum> sums;
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Node& node, Rounding rounding, PlaneSearches& searches,
           ProvedForms forms = {});

  template <class T>
  const T& op() const {
    return std::get<T>(node_.op);
  }
  const Node& node() const { return node_; }
  Rounding rounding() const { return rounding_; }
  PlaneSearches& plane_searches() { return plane_searches_; }
  const ProvedForms& forms() const { return forms_; }

  bool has_input(size_t i) const { return i < node_.inputs.size() && node_.inputs[i].present(); }
  const TensorType& input_type(size_t i) const { return graph_[node_.inputs.at(i)].type; }
  // The bytes of input i, which must be constant.
  const Bytes& input_constant(size_t i) const;
  // What the operator itself yields, before the epilogue.
  const TensorType& output_type() const { return produced_type(graph_, node_); }

  // Each adds a parameter to the kernel and returns its name, which is `name` made unique.
  // Asking twice for one input, or for equal constants, gives one parameter: a kernel may store in
  // several places, and each applies the epilogue.
  std::string input(size_t i, const std::string& name);
  std::string constant(const std::string& name, DType dtype, Bytes bytes);
  std::string scratch(const std::string& name, DType dtype, int64_t num_elements);

  // Makes `function` part of the program; later calls with the same name change nothing.
  void use(const loop::Function& function);

  // The element of parameter `param` (an input or constant of `dtype`) at `index`, as it travels.
  static loop::Expr load(const std::string& param, DType dtype, loop::Expr index);

  // Stores the produced element with flat row-major index `index` of the output. `channel` is the
  // index along the last dimension where the caller has it at hand (epilogues may use it).
  loop::Block store(const loop::Expr& index, loop::Expr value);

  // What a note of the kernel's calls is to say of its rescaling.
  void record(loop::Requantization requantization) {
    result_.requantization = std::move(requantization);
  }

  // The same of a sum; saying it twice changes nothing.
  void record(const loop::ProvedSum& sum);

  // A name for a local that no other local or parameter of this kernel has.
  std::string fresh(const std::string& name);

  loop::Block body;
  std::string comment;

  LoweredKernel finish() &&;

 private:
  std::string add_param(loop::Param param, KernelArg arg);
  // The parameter through which `id` is read, added under `name` if there is none.
  std::string read_param(ValueId id, const std::string& name);

  const Graph& graph_;
  const Node& node_;
  Rounding rounding_;
  PlaneSearches& plane_searches_;
  ProvedForms forms_;
  LoweredKernel result_;
  std::set<std::string> names_;  // taken
  std::map<std::string, int64_t> last_numbers_;
};

// Runs the node's `lower` rule. `searches` are those of the program.
LoweredKernel lower_node(const Graph& graph, const Node& node, Rounding rounding,
                         PlaneSearches& searches, ProvedForms forms = {});

// `lower` of every elementwise operator whose operands have the output's shape or one element: one
// flat loop over the elements that loads, applies the `element` rule and stores.
// Broadcasting operators lower themselves.
void lower_elementwise(Lowering& lowering);

}  // namespace ingot
