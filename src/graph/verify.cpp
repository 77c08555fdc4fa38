// SPDX-License-Identifier: Apache-2.0
#include "graph/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "support/arithmetic.h"
#include "support/diagnostic.h"

namespace ingot {
namespace {

std::vector<std::string> find_quantization_faults(const TensorType& type) {
  std::vector<std::string> faults;
  const Quantization& q = *type.quantization;
  const auto num_scales = static_cast<int64_t>(q.scales.size());
  if (is_float(type.dtype) || type.dtype == DType::kBool) {
    faults.push_back("is quantised, but its elements are no integers");
    return faults;
  }
  if (q.axis >= type.rank()) {
    faults.push_back(fmt::format("is quantised along axis {}, beyond its rank", q.axis));
  } else {
    const int64_t expected = q.axis < 0 ? 1 : type.shape[static_cast<size_t>(q.axis)];
    if (num_scales != expected) {
      faults.push_back(fmt::format("has {} scales instead of {}", num_scales, expected));
    }
  }
  if (q.zero_points.size() != q.scales.size()) {
    faults.push_back(
        fmt::format("has {} zero points for {} scales", q.zero_points.size(), num_scales));
  }
  for (const float scale : q.scales) {
    if (std::isfinite(scale) && scale > 0) continue;
    faults.push_back(fmt::format("has the scale {}, which is not finite and above 0", scale));
    break;
  }
  for (const int64_t zero_point : q.zero_points) {
    if (zero_point >= lowest(type.dtype) && zero_point <= highest(type.dtype)) continue;
    faults.push_back(
        fmt::format("has the zero point {}, outside {}", zero_point, name_of(type.dtype)));
    break;
  }
  return faults;
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), available_(graph.values.size()) {}

  std::vector<std::string> find() {
    check_values();
    check_inputs();
    for (const Node& node : graph_.nodes) {
      if (!check_indices(node)) continue;
      check_reads(node);
      check_epilogue(node);
      check_writes(node);
      check_sources(node);
    }
    for (const ValueId output : graph_.outputs) {
      if (!exists(output)) {
        report("an output of the graph names no value");
      } else if (!is_available(output)) {
        report("the output {} has no origin", name(output));
      }
    }
    return std::move(faults_);
  }

 private:
  template <class... T>
  void report(fmt::format_string<T...> format, T&&... arguments) {
    faults_.push_back(fmt::format(format, std::forward<T>(arguments)...));
  }
  std::string name(ValueId id) const { return quote(graph_[id].name); }
  bool exists(ValueId id) const {
    return id.present() && static_cast<size_t>(id.index) < graph_.values.size();
  }
  bool is_available(ValueId id) const { return available_[static_cast<size_t>(id.index)]; }
  void make_available(ValueId id) { available_[static_cast<size_t>(id.index)] = true; }

  void check_type(std::string_view what, std::string_view owner, const TensorType& type) {
    for (const std::string& fault : find_faults(type)) {
      report("{} {} {}", what, quote(owner), fault);
    }
  }

  void check_values() {
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      const Value& value = graph_.values[i];
      if (value.name.empty()) report("value {} has no name", i);
      if (!names.insert(value.name).second) report("two values are named {}", quote(value.name));
      check_type("the value", value.name, value.type);
      if (!value.constant) continue;
      available_[i] = true;
      if (find_faults(value.type).empty() && value.constant->size() != value.type.size_bytes()) {
        report("the constant {} has {} bytes, its type says {}", quote(value.name),
               value.constant->size(), value.type.size_bytes());
      }
    }
  }

  void check_inputs() {
    std::vector<bool> is_input(graph_.values.size());
    for (const ValueId input : graph_.inputs) {
      if (!exists(input)) {
        report("an input of the graph names no value");
        continue;
      }
      if (is_input[static_cast<size_t>(input.index)]) {
        report("{} is an input twice", name(input));
      } else if (graph_[input].is_constant()) {
        report("the input {} is a constant", name(input));
      }
      is_input[static_cast<size_t>(input.index)] = true;
      make_available(input);
    }
  }

  // Whether all indices of the node name values, so that the other checks may follow them.
  bool check_indices(const Node& node) {
    bool good = true;
    const auto check = [&](ValueId id, bool may_be_absent, std::string_view what) {
      if (exists(id) || (may_be_absent && !id.present())) return;
      report("node {}: {} names no value", quote(node.name), what);
      good = false;
    };
    for (const ValueId id : node.inputs) check(id, true, "an input");
    for (const ValueId id : node.outputs) check(id, false, "an output");
    for (const Step& step : node.epilogue) {
      for (const ValueId id : step.operands) check(id, false, "an operand of a step");
    }
    return good;
  }

  void check_reads(const Node& node) {
    const auto check = [&](ValueId id) {
      if (!id.present() || is_available(id)) return;
      report("node {} reads {} before it is written", quote(node.name), name(id));
    };
    for (const ValueId id : node.inputs) check(id);
    for (const Step& step : node.epilogue) {
      for (const ValueId id : step.operands) check(id);
    }
  }

  void check_epilogue(const Node& node) {
    if (node.epilogue.empty()) return;
    if (node.outputs.size() != 1) {
      report("node {} has an epilogue and {} outputs", quote(node.name), node.outputs.size());
      return;
    }
    const TensorType& output = graph_[node.outputs[0]].type;
    const auto check = [&](const TensorType& type) {
      check_type("a step of node", node.name, type);
      if (checked_product(type.shape) != checked_product(output.shape)) {
        report("node {}: a step yields {}, the output is {}", quote(node.name), print_plain(type),
               print_plain(output));
      }
    };
    check(node.produced);
    for (const Step& step : node.epilogue) {
      check(step.type);
      if (step.position < 0 || step.position > static_cast<int64_t>(step.operands.size())) {
        report("node {}: the position of a step is beyond its operands", quote(node.name));
      }
    }
    if (!(node.epilogue.back().type == output)) {
      report("node {}: the last step does not yield the type of the output", quote(node.name));
    }
  }

  void check_writes(const Node& node) {
    if (node.outputs.empty()) report("node {} has no output", quote(node.name));
    for (const ValueId id : node.outputs) {
      if (is_available(id)) report("{} has more than one origin", name(id));
      make_available(id);
    }
  }

  void check_sources(const Node& node) {
    int64_t last = -1;
    for (const int64_t source : node.sources) {
      if (source <= last) {
        report("node {}: the sources are not ascending", quote(node.name));
        return;
      }
      last = source;
    }
  }

  const Graph& graph_;
  std::vector<bool> available_;  // by value: an origin has been seen
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> find_faults(const TensorType& type) {
  std::vector<std::string> faults;
  if (std::ranges::any_of(type.shape, [](int64_t extent) { return extent < 0; })) {
    faults.push_back("has an extent below 0");
  }
  const std::optional<int64_t> count = checked_product(type.shape);
  if (!count || !checked_mul(*count, size_in_bytes(type.dtype))) {
    faults.push_back("has more bytes than can be counted");
  }
  if (type.quantization) {
    for (std::string& fault : find_quantization_faults(type)) faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<std::string> find_faults(const Graph& graph) { return Verifier(graph).find(); }

}  // namespace ingot
