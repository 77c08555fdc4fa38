// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "loop/text.h"
#include "lower/places.h"
#include "ops/lowering.h"
#include "support/arithmetic.h"
#include "support/check.h"
#include "support/limit_error.h"

namespace ingot {
namespace {

// Limits of one program. The kernels are counted by their texts: what follows takes memory and time
// for each statement of each of them.
constexpr int64_t kMostKernelText = 3 * (int64_t{1} << 19);
constexpr int64_t kMostTableBytes = int64_t{1} << 25;
constexpr int64_t kMostMacs = int64_t{1} << 50;

void check_limit(int64_t value, int64_t limit, std::string_view what) {
  if (value <= limit) return;
  throw LimitError(fmt::format("{} come to more than {}, which is the most", what, limit));
}

// Puts the name of the buffer that the parameter `table` is bound to in its place; an empty one
// stays.
void name_buffer(std::string& table, const std::vector<loop::Param>& params,
                 const loop::CallKernel& call) {
  if (table.empty()) return;
  const auto param = std::ranges::find(params, table, &loop::Param::name);
  table = call.args.at(static_cast<size_t>(param - params.begin())).buffer;
}

// The records of `lowered` with the names of the buffers that the tables' parameters are bound to.
void name_buffers(LoweredKernel& lowered, const std::vector<loop::Param>& params,
                  const loop::CallKernel& call) {
  if (lowered.requantization) {
    name_buffer(lowered.requantization->multipliers_table, params, call);
    name_buffer(lowered.requantization->offsets_table, params, call);
    name_buffer(lowered.requantization->bends_table, params, call);
  }
  for (loop::ProvedSum& sum : lowered.sums) name_buffer(sum.z_offsets_table, params, call);
}

// Builds the program node by node.
class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const std::vector<std::string>& output_names,
                 const LowerOptions& options)
      : graph_(graph), options_(options), places_(find_places(graph)) {
    program_.name = options.name;
    add_caller_buffers(output_names);
    for (size_t h = graph.inputs.size() + graph.outputs.size(); h < places_.homes.size(); ++h) {
      add_buffer_of_home(h);
    }
    tie_pieces();
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      buffer_index_[program_.buffers[b].name] = b;
    }
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      if (places_.needs_kernel[n]) add_node(graph.nodes[n]);
    }
  }

  loop::Program finish() && {
    // Constants that no kernel takes (folded into code) are not part of the program.
    std::erase_if(program_.buffers, [&](const loop::Buffer& b) {
      return b.kind == loop::BufferKind::kConstant && !used_.contains(b.name);
    });
    return std::move(program_);
  }

 private:
  int64_t alignment_of(DType dtype) const {
    return std::max(options_.buffer_alignment, size_in_bytes(dtype));
  }

  void add_caller_buffers(const std::vector<std::string>& output_names) {
    for (size_t h = 0; h < graph_.inputs.size() + graph_.outputs.size(); ++h) {
      const Home& home = places_.homes[h];
      const Value& value = graph_[home.value];
      const bool is_input = home.kind == HomeKind::kInput;
      loop::Buffer b;
      b.name = fmt::format("{}{}", is_input ? "input" : "output", home.slot);
      b.dtype = value.type.dtype;
      b.num_elements = value.type.num_elements();
      b.kind = is_input ? loop::BufferKind::kInput : loop::BufferKind::kOutput;
      b.alignment = size_in_bytes(value.type.dtype);
      b.tensor = is_input ? value.name : output_names.at(static_cast<size_t>(home.slot));
      b.type = value.type;
      buffer_of_home_.push_back(b.name);
      program_.buffers.push_back(std::move(b));
    }
  }

  void add_buffer_of_home(size_t h) {
    const Home& home = places_.homes[h];
    const Value& value = graph_[home.value];
    const bool constant = home.kind == HomeKind::kConstant;
    loop::Buffer b;
    b.name = constant ? fmt::format("c{}", num_constants_++) : fmt::format("t{}", num_tensors_++);
    b.dtype = value.type.dtype;
    b.num_elements = value.type.num_elements();
    b.kind = constant ? loop::BufferKind::kConstant : loop::BufferKind::kArena;
    b.alignment = alignment_of(value.type.dtype);
    b.tensor = value.name;
    b.data = value.constant;
    buffer_of_home_.push_back(b.name);
    program_.buffers.push_back(std::move(b));
  }

  // A piece in place inside an arena buffer is tied to it; inside a caller's buffer it is part of
  // that and needs no buffer. Offsets of pieces within pieces add up.
  void tie_pieces() {
    std::map<int64_t, int64_t> group_of_root;
    for (size_t h = 0; h < places_.homes.size(); ++h) {
      if (places_.homes[h].parent < 0) continue;
      int64_t root = static_cast<int64_t>(h);
      int64_t offset = 0;
      while (places_.homes[static_cast<size_t>(root)].parent >= 0) {
        offset += places_.homes[static_cast<size_t>(root)].offset_bytes;
        root = places_.homes[static_cast<size_t>(root)].parent;
      }
      inside_[h] = {root, offset};
      if (places_.homes[static_cast<size_t>(root)].kind != HomeKind::kArena) continue;
      const auto [it, is_new] =
          group_of_root.try_emplace(root, static_cast<int64_t>(group_of_root.size()));
      if (is_new) buffer(static_cast<size_t>(root)).tie_group = it->second;
      buffer(h).tie_group = it->second;
      buffer(h).tie_offset_bytes = offset;
      // A piece need not start at a multiple of more than its element.
      buffer(h).alignment = size_in_bytes(buffer(h).dtype);
    }
    std::set<std::string> inside_ports;
    for (const auto& [h, place] : inside_) {
      if (!is_in_arena(place.first)) inside_ports.insert(buffer_of_home_[h]);
    }
    std::erase_if(program_.buffers,
                  [&](const loop::Buffer& b) { return inside_ports.contains(b.name); });
  }

  bool is_in_arena(int64_t home) const {
    return places_.homes[static_cast<size_t>(home)].kind == HomeKind::kArena;
  }

  loop::Buffer& buffer(size_t h) {
    // Homes and buffers are in the same order until tie_pieces has removed some.
    return program_.buffers.at(h);
  }

  // A constant of the model is named at its first use.
  void name_constant(ValueId id, const std::string& name) {
    const auto h = static_cast<size_t>(places_.home_of.at(static_cast<size_t>(id.index)));
    if (places_.homes[h].kind != HomeKind::kConstant || !used_.insert(buffer_of_home_[h]).second) {
      return;
    }
    program_.buffers.at(buffer_index_.at(buffer_of_home_[h])).name = name;
    buffer_of_home_[h] = name;
    used_.insert(name);
  }

  loop::BufferRef ref_of(ValueId id) {
    const int64_t h = places_.home_of.at(static_cast<size_t>(id.index));
    CHECK(h >= 0);
    const auto place = inside_.find(static_cast<size_t>(h));
    if (place != inside_.end()) {
      const auto& [root, offset] = place->second;
      if (!is_in_arena(root)) {
        return {buffer_of_home_[static_cast<size_t>(root)],
                offset / size_in_bytes(graph_[id].type.dtype)};
      }
    }
    used_.insert(buffer_of_home_[static_cast<size_t>(h)]);
    return {buffer_of_home_[static_cast<size_t>(h)], 0};
  }

  // `param` is the kernel's name for it; constants are called after it and the call's number.
  loop::BufferRef bind(const KernelArg& arg, const std::string& param) {
    const std::string name = fmt::format("{}_{}", param, program_.notes.size());
    if (const auto* id = std::get_if<ValueId>(&arg)) {
      name_constant(*id, name);
      return ref_of(*id);
    }
    loop::Buffer b;
    if (const auto* constant = std::get_if<ConstantArg>(&arg)) {
      const std::span<const uint8_t> bytes = constant->bytes.view();
      // Equal tables are stored once.
      const auto [known, is_new] =
          tables_.try_emplace({constant->dtype, std::string(bytes.begin(), bytes.end())}, name);
      if (!is_new) return {known->second, 0};
      table_bytes_ += constant->bytes.size();
      check_limit(table_bytes_, kMostTableBytes, "the bytes of tables that operators need");
      b.name = name;
      b.dtype = constant->dtype;
      b.num_elements = constant->bytes.size() / size_in_bytes(constant->dtype);
      b.kind = loop::BufferKind::kConstant;
      b.data = constant->bytes;
    } else {
      const auto& scratch = std::get<ScratchArg>(arg);
      b.name = fmt::format("s{}", num_scratch_++);
      b.dtype = scratch.dtype;
      b.num_elements = scratch.num_elements;
    }
    b.alignment = alignment_of(b.dtype);
    used_.insert(b.name);
    program_.buffers.push_back(b);
    return {b.name, 0};
  }

  // The kernel's name in the program: that of an equal one, if there is one already.
  std::string add_kernel(loop::Kernel kernel, const std::string& kind) {
    const std::string text = loop::print(kernel);
    const auto [it, is_new] = kernel_names_.try_emplace(text, "");
    if (is_new) {
      kernel_text_ += std::ssize(text);
      check_limit(kernel_text_, kMostKernelText,
                  "the letters of loop text for different operators");
      kernel.name = fmt::format("{}_{}", kind, num_kernels_of_[kind]++);
      it->second = kernel.name;
      program_.kernels.push_back(std::move(kernel));
    }
    return it->second;
  }

  void add_functions(const std::vector<loop::Function>& functions) {
    for (const loop::Function& f : functions) {
      if (!loop::find_function(program_, f.name)) program_.functions.push_back(f);
    }
  }

  void add_node(const Node& node) {
    LoweredKernel lowered = lower_node(graph_, node, options_.rounding, searches_, options_.forms);
    const std::string kind = display_name(node.op);
    add_functions(lowered.functions);
    loop::CallKernel call;
    for (size_t i = 0; i < lowered.args.size(); ++i) {
      call.args.push_back(bind(lowered.args[i], lowered.kernel.params[i].name));
    }
    const std::vector<loop::Param> params = lowered.kernel.params;
    call.kernel = add_kernel(std::move(lowered.kernel), kind);
    name_buffers(lowered, params, call);
    program_.notes.push_back({node.name, kind, node.sources, macs_of(node),
                              std::move(lowered.requantization), std::move(lowered.sums)});
    program_.runner.emplace_back(std::move(call));
    num_macs_ = checked_add(num_macs_, program_.notes.back().macs).value_or(kMostMacs + 1);
    check_limit(num_macs_, kMostMacs, "the multiply-accumulates of a run");
  }

  int64_t macs_of(const Node& node) const {
    const OpRules& rules = rules_of(node.op);
    if (!rules.macs) return 0;
    std::vector<Operand> inputs;
    for (const ValueId id : node.inputs) {
      if (!id.present()) {
        inputs.push_back({});
        continue;
      }
      const Value& v = graph_[id];
      inputs.push_back({&v.type, v.is_constant() ? &*v.constant : nullptr});
    }
    const TensorType type = produced_type(graph_, node);
    return rules.macs(node.op, inputs, {&type, 1});
  }

  const Graph& graph_;
  const LowerOptions& options_;
  Places places_;
  loop::Program program_;
  std::vector<std::string> buffer_of_home_;
  std::map<std::string, size_t> buffer_index_;  // of the homes' buffers, by their first names
  // Names of the tables that operators have asked for, by their contents.
  std::map<std::pair<DType, std::string>, std::string> tables_;
  // Homes that lie inside another: the outermost one and the offset there.
  std::map<size_t, std::pair<int64_t, int64_t>> inside_;
  std::set<std::string> used_;
  PlaneSearches searches_;
  std::map<std::string, std::string> kernel_names_;
  std::map<std::string, int64_t> num_kernels_of_;
  int64_t num_constants_ = 0;
  int64_t num_tensors_ = 0;
  int64_t num_scratch_ = 0;
  int64_t table_bytes_ = 0;
  int64_t kernel_text_ = 0;
  int64_t num_macs_ = 0;
};

}  // namespace

loop::Program lower(const Graph& graph, const LowerOptions& options) {
  std::vector<std::string> output_names;
  for (const ValueId id : graph.outputs) output_names.push_back(graph[id].name);
  const Graph prepared = prepare(graph);
  return ProgramBuilder(prepared, output_names, options).finish();
}

}  // namespace ingot
