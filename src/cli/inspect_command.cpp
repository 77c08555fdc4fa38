// SPDX-License-Identifier: Apache-2.0
// ingot inspect: what is in a model and what it will need, or everything that keeps it from being
// compiled.
#include <fmt/format.h>

#include <memory>

#include "cli/application.h"
#include "cli/model_arguments.h"
#include "driver/compile.h"
#include "driver/limits.h"
#include "ops/operands.h"
#include "report/inspect.h"
#include "report/plan_text.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  ModelArguments model;
  bool json = false;
  bool plan = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot inspect kws.tflite
      format, operators, multiply-accumulates, weights, arena, inputs and outputs
  ingot inspect kws.tflite --io arena --reuse-inputs --json | jq .arena_bytes
      the RAM that other options would need
  ingot inspect kws.tflite --io arena --plan
      the arena drawn as text: which tensor lies where and when, what is alive at the peak
  ingot inspect new.tflite || echo "see the messages: they name everything that is unsupported"
)";

std::vector<OperatorFacts> operator_facts(const Graph& graph) {
  std::vector<OperatorFacts> list;
  for (const Node& node : graph.nodes) {
    OperatorFacts facts{node.name, display_name(node.op), node.sources, "", 0, 0};
    facts.output = print_plain(graph[node.outputs.at(0)].type);
    const OpRules& rules = rules_of(node.op);
    if (rules.macs != nullptr) {
      facts.macs =
          rules.macs(node.op, operands_of(graph, node.inputs), output_types_of(graph, node));
    }
    for (const ValueId id : node.inputs) {
      if (id.present() && graph[id].is_constant())
        facts.weights_bytes += graph[id].constant->size();
    }
    list.push_back(std::move(facts));
  }
  return list;
}

int inspect_model(const Session& session, const Arguments& arguments) {
  const Result<CompileOptions> options = compile_options(arguments.model);
  if (!options) return report(session, options.error());
  const Result<std::vector<uint8_t>> bytes = read_file(arguments.model.path);
  if (!bytes) return report(session, bytes.error());
  const Result<Compiled> compiled = compile(*bytes, *options);
  if (!compiled) return report(session, compiled.error());
  report_warnings(session, compiled->warnings, true);
  const Storage& storage = compiled->storage;
  const Shrinking& shrinking = compiled->shrinking;
  const ArenaFacts arena{
      storage.problem,         storage.plan,         storage.buffers,    storage.arena_bytes,
      storage.arena_alignment, storage.pools.size(), storage.refutation, storage.order_bound_bytes};
  const InspectFacts facts{
      .file = arguments.model.path,
      .format = "TensorFlow Lite",
      .file_bytes = static_cast<int64_t>(bytes->size()),
      .model_sha256 = compiled->sha256,
      .target = options->target,
      .program = storage.program,
      .arena = arena,
      .num_operators = num_operators(compiled->model),
      .operators = operator_facts(compiled->model),
      .num_tensors = static_cast<int64_t>(compiled->model.values.size()),
      .macs_removed = shrinking.macs_removed(),
      .filter_bytes = shrinking.weights_bytes_after,
      .filter_bytes_removed = shrinking.weights_bytes_before - shrinking.weights_bytes_after};
  if (arguments.plan) {
    fmt::print("{}", plan_text(storage.program, arena));
    return kDone;
  }
  fmt::print("{}", arguments.json ? to_text(inspect_json(facts)) : inspect_text(facts));
  Diagnostics excess;
  if (arguments.model.arena_limit) {
    excess = check_arena_limit(*compiled, *arguments.model.arena_limit);
  }
  if (arguments.model.flash_limit) {
    const Diagnostics more = check_flash_limit(*compiled, *arguments.model.flash_limit);
    excess.insert(excess.end(), more.begin(), more.end());
  }
  return report(session, excess);
}

}  // namespace

void add_inspect_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("inspect", "say what is in a model and what it needs");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  add_model_arguments(*command, arguments->model);
  CLI::Option* json = command->add_flag("--json", arguments->json, "as JSON");
  command->add_flag("--plan", arguments->plan, "draw the arena")->excludes(json);
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return inspect_model(session, *arguments); };
  });
}

}  // namespace ingot::cli
