// SPDX-License-Identifier: Apache-2.0
#include "report/metadata.h"

#include <algorithm>
#include <set>

#include "plan/bound.h"
#include "report/order.h"

namespace ingot {
namespace {

// An object whose members are appended, in their order. A list of pairs in braces says the same but
// allocates for each pair, which shows where a model has 100,000 objects.
Json::object_t members(size_t count) {
  Json::object_t object;
  object.reserve(count);
  return object;
}

Json ports_json(const loop::Program& program, loop::BufferKind kind) {
  Json ports = Json::array();
  for (const loop::Buffer& buffer : program.buffers) {
    if (buffer.kind == kind) ports.push_back(port_json(buffer));
  }
  return ports;
}

// The kernels that the runner calls, in textual order, as the notes are.
void collect_calls(const loop::Block& runner, std::vector<std::string>& kernels) {
  for (const loop::Stmt& stmt : runner) {
    if (const auto* call = std::get_if<loop::CallKernel>(&stmt.kind)) {
      kernels.push_back(call->kernel);
    } else if (const auto* loop = std::get_if<loop::For>(&stmt.kind)) {
      collect_calls(loop->body, kernels);
    } else if (const auto* branch = std::get_if<loop::If>(&stmt.kind)) {
      collect_calls(branch->then_body, kernels);
      collect_calls(branch->else_body, kernels);
    }
  }
}

// Numbers of 64 bits, which not every reader of JSON keeps, as text.
std::vector<std::string> as_text(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const int64_t n : numbers) texts.push_back(std::to_string(n));
  return texts;
}

Json requantization_json(const loop::Requantization& r) {
  Json json = {
      {"input_scale", static_cast<double>(r.input_scale)},
      {"weight_scales", std::vector<double>(r.weight_scales.begin(), r.weight_scales.end())},
      {"output_scale", static_cast<double>(r.output_scale)},
      {"zero_point", r.zero_point},
      {"lowest", r.lowest},
      {"highest", r.highest},
      {"accumulators",
       {{"dtype", "int32"}, {"low", r.accumulator_low}, {"high", r.accumulator_high}}},
      {"proved", r.proved}};
  if (!r.proved) return json;
  json["base"] = r.base;
  json["shift"] = r.shift;
  json["clamps"] = r.clamps;
  json["multipliers"] = r.multipliers;
  json["offsets"] = as_text(r.offsets);
  if (!r.bends.empty()) json["bends"] = r.bends;
  if (!r.biases_in_offsets.empty()) json["biases_in_offsets"] = r.biases_in_offsets;
  Json tables = Json::object();
  if (!r.multipliers_table.empty()) tables["multipliers"] = r.multipliers_table;
  if (!r.offsets_table.empty()) tables["offsets"] = r.offsets_table;
  if (!r.bends_table.empty()) tables["bends"] = r.bends_table;
  json["tables"] = std::move(tables);
  return json;
}

Json sum_json(const loop::ProvedSum& s) {
  Json json = {{"kind", s.subtracts ? "sub" : "add"},
               {"x_scale", static_cast<double>(s.x_scale)},
               {"z_scale", static_cast<double>(s.z_scale)},
               {"output_scale", static_cast<double>(s.output_scale)},
               {"x_zero_point", s.x_zero_point},
               {"z_zero_point", s.z_zero_point},
               {"zero_point", s.zero_point},
               {"lowest", s.lowest},
               {"highest", s.highest},
               {"x_multiplier", s.x_multiplier}};
  if (s.z_offsets.empty()) {
    json["z_multiplier"] = s.z_multiplier;
    json["centre"] = s.centre;
    json["offset"] = s.offset;
    json["bend"] = s.bend;
  } else {
    json["z_offsets"] = s.z_offsets;
    json["z_offsets_table"] = s.z_offsets_table;
  }
  json["base"] = s.base;
  json["shift"] = s.shift;
  return json;
}

Json operators_json(const loop::Program& program) {
  std::vector<std::string> kernels;
  collect_calls(program.runner, kernels);
  Json operators = Json::array();
  for (size_t i = 0; i < program.notes.size(); ++i) {
    const loop::CallNote& note = program.notes[i];
    Json::object_t object = members(7);
    object.emplace_back("name", note.name);
    object.emplace_back("kind", note.kind);
    object.emplace_back("macs", note.macs);
    object.emplace_back("function", program.name + "_" + kernels.at(i));
    object.emplace_back("operators", note.operators);
    Json json = std::move(object);
    if (note.requantization) json["requantisation"] = requantization_json(*note.requantization);
    if (note.expansion) json["expansion"] = expansion_json(*note.expansion);
    for (const loop::ProvedSum& sum : note.sums) json["sums"].push_back(sum_json(sum));
    operators.push_back(std::move(json));
  }
  return operators;
}

Json optional_number(const std::optional<int64_t>& number) {
  return number ? Json(*number) : Json();
}

Json distances_json(const plan::Problem& problem, const plan::Plan& plan) {
  std::set<int64_t> in_reverse;
  for (const plan::StepDirection& d : plan.directions) {
    if (d.direction == plan::Direction::kReverse) in_reverse.insert(d.step);
  }
  Json distances = Json::array();
  for (const plan::Overlap& overlap : problem.overlaps) {
    const auto name_of_buffer = [&](int64_t b) {
      return problem.buffers.at(static_cast<size_t>(b)).name;
    };
    Json::object_t object = members(6);
    object.emplace_back("output", name_of_buffer(overlap.output));
    object.emplace_back("input", name_of_buffer(overlap.input));
    object.emplace_back("step", overlap.step);
    object.emplace_back("forward", optional_number(overlap.forward));
    object.emplace_back("reverse", optional_number(overlap.reverse));
    object.emplace_back("runs", in_reverse.contains(overlap.step) ? "reverse" : "forward");
    distances.push_back(std::move(object));
  }
  return distances;
}

Json buffers_json(const loop::Program& program, const ArenaFacts& arena) {
  Json buffers = Json::array();
  for (size_t b = 0; b < arena.problem.buffers.size(); ++b) {
    const plan::Buffer& buffer = arena.problem.buffers[b];
    Json::object_t object = members(10);
    object.emplace_back("name", buffer.name);
    object.emplace_back("tensor", program.buffers.at(arena.buffers[b]).tensor);
    object.emplace_back("size_bytes", buffer.size_bytes);
    object.emplace_back("alignment", buffer.alignment);
    object.emplace_back("first", buffer.lifetime.begin);
    object.emplace_back("last", buffer.lifetime.end);
    object.emplace_back("offset_bytes", arena.plan.offsets.at(b));
    Json json = std::move(object);
    const int64_t pool = arena.plan.pool_of.at(b);
    if (pool > 0) {
      json[arena.is_lent(pool) ? "inside" : "pool"] =
          arena.problem.pools.at(static_cast<size_t>(pool)).name;
    }
    if (buffer.group >= 0) {
      json["tie_group"] = buffer.group;
      json["tie_offset_bytes"] = buffer.group_offset;
    }
    buffers.push_back(std::move(json));
  }
  return buffers;
}

// Whether the arena is as low as what can lie nowhere else needs.
bool must_lie_there(const ArenaFacts& arena) {
  std::vector<int64_t> bound_to_arena;
  for (size_t b = 0; b < arena.problem.buffers.size(); ++b) {
    const std::vector<int64_t>& pools = arena.problem.buffers[b].pools;
    if (pools.empty() || pools == std::vector<int64_t>{0})
      bound_to_arena.push_back(static_cast<int64_t>(b));
  }
  if (bound_to_arena.size() == arena.problem.buffers.size()) return true;
  return plan::greatest_load(arena.problem, bound_to_arena).bytes == arena.bytes;
}

// The decisions of a search: two places in "buffers", or the number of a step.
Json search_json(const ArenaFacts& arena) {
  Json search = Json::array();
  for (const plan::Decision& d : arena.refutation) {
    search.push_back(d.step >= 0 ? Json(d.step) : Json({d.first, d.second}));
  }
  return search;
}

Json plan_json(const loop::Program& program, const ArenaFacts& arena) {
  const plan::PoolPlan& pool = arena.plan.pools.at(0);
  Json order = Json::array();
  for (size_t i = 0; i < program.notes.size(); ++i) order.push_back(i);
  Json witness_buffers = Json::array();
  for (const int64_t b : pool.witness) {
    witness_buffers.push_back(arena.problem.buffers.at(static_cast<size_t>(b)).name);
  }
  const bool order_optimal = is_order_optimal(program, arena);
  // With pools, "packing_optimal" speaks of the buffers that lie in the arena; that less of them
  // could lie there is another claim.
  const bool packing_optimal = pool.optimal;
  const bool optimal = packing_optimal && order_optimal && must_lie_there(arena);
  return {{"order", std::move(order)},
          {"buffers", buffers_json(program, arena)},
          {"distances", distances_json(arena.problem, arena.plan)},
          {"lower_bound_bytes", pool.lower_bound_bytes},
          {"optimal", optimal},
          {"packing_optimal", packing_optimal},
          {"order_optimal", order_optimal},
          {"within", {{"overlap", true}, {"streaming", false}}},
          {"witness",
           {{"time", pool.witness_time},
            {"buffers", std::move(witness_buffers)},
            {"load_bytes", pool.load_bytes},
            {"searched", pool.searched},
            {"search", search_json(arena)}}}};
}

// The memories that NAME_run works in, if there are more than the arena.
Json memory_json(const loop::Program& program, const ArenaFacts& arena) {
  Json memory = Json::array();
  memory.push_back({{"name", "arena"},
                    {"kind", "arena"},
                    {"bytes", arena.bytes},
                    {"alignment", arena.alignment}});
  for (size_t p = 1; p <= arena.num_pools; ++p) {
    const plan::Pool& pool = arena.problem.pools.at(p);
    int64_t alignment = 1;
    for (const loop::Buffer& b : program.buffers) {
      if (b.pool == pool.name) alignment = std::max(alignment, b.alignment);
    }
    memory.push_back({{"name", pool.name},
                      {"kind", "pool"},
                      {"bytes", arena.plan.pools[p].height_bytes},
                      {"alignment", alignment},
                      {"capacity_bytes", optional_number(pool.capacity_bytes)}});
  }
  return memory;
}

}  // namespace

Json expansion_json(const loop::Expansion& e) {
  return {{"algorithm", e.algorithm},
          {"weights_bytes", e.weights_bytes},
          {"weights_bytes_otherwise", e.weights_bytes_otherwise},
          {"scratch_bytes", e.scratch_bytes},
          {"estimated_instructions", e.instructions},
          {"estimated_instructions_otherwise", e.instructions_otherwise}};
}

int64_t weights_bytes(const loop::Program& program) { return loop::constant_bytes(program); }

int64_t macs_of(const loop::Program& program) {
  int64_t macs = 0;
  for (const loop::CallNote& note : program.notes) macs += note.macs;
  return macs;
}

Json port_json(const loop::Buffer& buffer) {
  Json json = {{"name", buffer.tensor}, {"c_name", buffer.name}, {"dtype", name_of(buffer.dtype)}};
  json["shape"] = buffer.type ? buffer.type->shape : Shape{buffer.num_elements};
  json["bytes"] = buffer.size_bytes();
  json["scale"] = nullptr;
  json["zero_point"] = nullptr;
  if (buffer.type && buffer.type->quantization) {
    const Quantization& quantization = *buffer.type->quantization;
    if (quantization.per_tensor()) {
      json["scale"] = static_cast<double>(quantization.scale());
      json["zero_point"] = quantization.zero_point();
    } else {
      json["scales"] = std::vector<double>(quantization.scales.begin(), quantization.scales.end());
      json["zero_points"] = quantization.zero_points;
      json["axis"] = quantization.axis;
    }
  }
  json["offset_bytes"] = optional_number(buffer.offset_bytes);
  return json;
}

Json metadata(const loop::Program& program, const ArenaFacts& arena, const ModelFacts& facts) {
  Json json = {{"schema_version", 1},
               {"ingot_version", facts.ingot_version},
               {"name", program.name},
               {"model_sha256", facts.model_sha256},
               {"options", facts.options},
               {"target", facts.target},
               {"compile_flags", facts.compile_flags},
               {"arena_bytes", arena.bytes},
               {"arena_alignment", arena.alignment},
               {"stack_bytes", optional_number(facts.stack_bytes)},
               {"weights_bytes", weights_bytes(program)},
               {"macs", macs_of(program)},
               {"macs_removed", facts.macs_removed},
               {"inputs", ports_json(program, loop::BufferKind::kInput)},
               {"outputs", ports_json(program, loop::BufferKind::kOutput)},
               {"operators", operators_json(program)},
               {"plan", plan_json(program, arena)}};
  if (!facts.shrinking.is_null()) json["shrinking"] = facts.shrinking;
  if (arena.num_pools > 0) json["memory"] = memory_json(program, arena);
  return json;
}

}  // namespace ingot
