// SPDX-License-Identifier: Apache-2.0
#include "report/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/order.h"
#include "support/diagnostic.h"

namespace ingot {
namespace {

std::string row(std::string_view key, const std::string& value) {
  return fmt::format("{:<13}{}\n", key, value);
}

std::string ports(const loop::Program& program, loop::BufferKind kind) {
  std::string text;
  for (const loop::Buffer& buffer : program.buffers) {
    if (buffer.kind != kind) continue;
    const std::string key =
        text.empty() ? (kind == loop::BufferKind::kInput ? "inputs" : "outputs") : "";
    text += row(key, fmt::format("{} {} as {}", quote(buffer.tensor),
                                 buffer.type ? print(*buffer.type) : "", buffer.name));
  }
  return text;
}

// "3,727,313 of the model's 7,489,664".
std::string before_and_after(int64_t left, int64_t removed, std::string_view unit) {
  const std::string text = grouped(left) + std::string(unit);
  return removed == 0 ? text : text + " of the model's " + grouped(left + removed);
}

std::string summary(const InspectFacts& facts) {
  const plan::PoolPlan& pool = facts.arena.plan.pools.at(0);
  const bool has_pools = facts.arena.plan.pools.size() > 1;
  const std::string proof = pool.optimal
                                ? has_pools ? "proved least for the buffers in it"
                                            : "proved least for this order of operators"
                                : fmt::format("proved bound {}", grouped(pool.lower_bound_bytes));
  std::string text =
      row("model", fmt::format("{} ({} bytes)", quote(facts.file), grouped(facts.file_bytes)));
  text += row("format", facts.format);
  text += row("sha256", facts.model_sha256);
  text += row("target", facts.target);
  text +=
      row("operators", fmt::format("{}, compiled into {} steps by {} kernels", facts.num_operators,
                                   facts.program.notes.size(), facts.program.kernels.size()));
  text += row("tensors", grouped(facts.num_tensors));
  const int64_t macs = macs_of(facts.program);
  text += row("MACs", before_and_after(macs, facts.macs_removed, ""));
  if (facts.filter_bytes_removed > 0) {
    text +=
        row("filters", before_and_after(facts.filter_bytes, facts.filter_bytes_removed, " bytes"));
  }
  text += row("weights", grouped(weights_bytes(facts.program)) + " bytes");
  for (const loop::CallNote& note : facts.program.notes) {
    if (note.expansion) text += row("", expansion_text(*note.expansion, short_name(note.name)));
  }
  text += row("arena", fmt::format("{} bytes, {}", grouped(facts.arena.bytes), proof));
  for (size_t p = 1; p < facts.arena.plan.pools.size(); ++p) {
    const bool is_lent = facts.arena.is_lent(static_cast<int64_t>(p));
    text += row((is_lent ? "in " : "pool ") + facts.arena.problem.pools.at(p).name,
                grouped(facts.arena.plan.pools[p].height_bytes) + " bytes");
  }
  text += ports(facts.program, loop::BufferKind::kInput);
  return text + ports(facts.program, loop::BufferKind::kOutput);
}

std::string table(const std::vector<OperatorFacts>& operators) {
  size_t widest_kind = 8;
  size_t widest_output = 6;
  for (const OperatorFacts& op : operators) {
    widest_kind = std::max(widest_kind, op.kind.size());
    widest_output = std::max(widest_output, op.output.size());
  }
  std::string text = fmt::format("{:>5}  {:<{}}  {:<{}}  {:>13}  {:>11}  {}\n", "index", "operator",
                                 widest_kind, "output", widest_output, "MACs", "weights", "name");
  for (const OperatorFacts& op : operators) {
    const std::string index = op.operators.empty() ? "-" : std::to_string(op.operators.front());
    text += fmt::format("{:>5}  {:<{}}  {:<{}}  {:>13}  {:>11}  {}\n", index, op.kind, widest_kind,
                        op.output, widest_output, grouped(op.macs), grouped(op.weights_bytes),
                        short_name(op.name));
  }
  return text;
}

}  // namespace

int64_t num_operators(const Graph& graph) {
  std::set<int64_t> indices;
  int64_t others = 0;  // that stand for none of the file
  for (const Node& node : graph.nodes) {
    indices.insert(node.sources.begin(), node.sources.end());
    if (node.sources.empty()) ++others;
  }
  return std::ssize(indices) + others;
}

std::string grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string short_name(const std::string& name) {
  constexpr size_t kLongest = 48;
  constexpr size_t kEnd = 20;
  if (name.size() <= kLongest) return quote(name);
  return quote(name.substr(0, kLongest - kEnd - 3) + "..." + name.substr(name.size() - kEnd));
}

std::string expansion_text(const loop::Expansion& e, const std::string& name) {
  return fmt::format("{}: weights {} bytes instead of {}, scratch {} bytes, for {}", e.algorithm,
                     grouped(e.weights_bytes), grouped(e.weights_bytes_otherwise),
                     grouped(e.scratch_bytes), name);
}

std::string inspect_text(const InspectFacts& facts) {
  return summary(facts) + "\n" + table(facts.operators);
}

Json inspect_json(const InspectFacts& facts) {
  Json operators = Json::array();
  for (const OperatorFacts& op : facts.operators) {
    operators.push_back({{"name", op.name},
                         {"kind", op.kind},
                         {"operators", op.operators},
                         {"output", op.output},
                         {"macs", op.macs},
                         {"weights_bytes", op.weights_bytes}});
  }
  Json inputs = Json::array();
  Json outputs = Json::array();
  for (const loop::Buffer& buffer : facts.program.buffers) {
    if (buffer.kind == loop::BufferKind::kInput) inputs.push_back(port_json(buffer));
    if (buffer.kind == loop::BufferKind::kOutput) outputs.push_back(port_json(buffer));
  }
  Json expansions = Json::array();
  for (const loop::CallNote& note : facts.program.notes) {
    if (!note.expansion) continue;
    Json json = expansion_json(*note.expansion);
    json["name"] = note.name;
    expansions.push_back(std::move(json));
  }
  const plan::PoolPlan& pool = facts.arena.plan.pools.at(0);
  Json json = {{"schema_version", 1},
               {"format", facts.format},
               {"model_bytes", facts.file_bytes},
               {"model_sha256", facts.model_sha256},
               {"target", facts.target},
               {"tensors", facts.num_tensors},
               {"steps", facts.program.notes.size()},
               {"kernels", facts.program.kernels.size()},
               {"macs", macs_of(facts.program)},
               {"macs_removed", facts.macs_removed},
               {"filter_bytes", facts.filter_bytes},
               {"filter_bytes_removed", facts.filter_bytes_removed},
               {"weights_bytes", weights_bytes(facts.program)},
               {"arena_bytes", facts.arena.bytes},
               {"lower_bound_bytes", pool.lower_bound_bytes},
               {"optimal", pool.optimal && is_order_optimal(facts.program, facts.arena)},
               {"inputs", std::move(inputs)},
               {"outputs", std::move(outputs)},
               {"operators", std::move(operators)}};
  if (!expansions.empty()) json["expansions"] = std::move(expansions);
  return json;
}

}  // namespace ingot
