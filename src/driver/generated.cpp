// SPDX-License-Identifier: Apache-2.0
#include "driver/generated.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/stack.h"
#include "support/check.h"
#include "toolchain/board.h"
#include "toolchain/build.h"

namespace ingot {
namespace {

toolchain::BuildOptions build_options(const Compiled& compiled, const BuildSettings& settings) {
  toolchain::BuildOptions options;
  options.compiler = settings.compiler;
  options.flags = settings.flags.empty() ? compiled.compile_flags : settings.flags;
  return options;
}

toolchain::Sources sources_of(const Compiled& compiled) {
  toolchain::Sources sources;
  // The harness calls the model itself, which TVM's forms call too; they need an application.
  const std::string adapter = compiled.interface.name + "_tvm.c";
  for (const OutputFile& file : compiled.files) {
    if (file.name == adapter) continue;
    if (file.name.ends_with(".c") || file.name.ends_with(".h")) sources.model.push_back(file);
  }
  sources.harness = toolchain::validation_harness(compiled.interface);
  return sources;
}

int64_t median_of(std::vector<int64_t> values) {
  CHECK(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void compare_vector(const Compiled& compiled, const toolchain::Tensors& expected,
                    const toolchain::Tensors& actual, ValidationReport& result) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const DType dtype = compiled.interface.outputs.at(i).dtype;
    const toolchain::Comparison one = toolchain::compare(dtype, expected[i], actual.at(i));
    result.tensors.at(i).comparison += one;
    result.total += one;
  }
}

void check_stack(ValidationReport& result) {
  if (!result.stack_bytes || !result.stack_bound) return;
  if (*result.stack_bytes <= *result.stack_bound) return;
  result.violations.push_back(fmt::format("the run used {} bytes of stack, stated are at most {}",
                                          *result.stack_bytes, *result.stack_bound));
}

}  // namespace

Result<const toolchain::Board*> board_for(const std::string& target) {
  if (const toolchain::Board* board = toolchain::find_board(target)) {
    const std::string missing = toolchain::missing_feature(*board);
    if (missing.empty()) return board;
    return Diagnostic{Code::kUsage, "", "programs for " + target + " cannot be run: " + missing,
                      "--target c99 runs everywhere"};
  }
  std::string names;
  for (const toolchain::Board& board : toolchain::boards()) {
    names += (names.empty() ? "" : ", ") + std::string(board.target);
  }
  return Diagnostic{Code::kUsage, "", "programs for " + target + " cannot be run in this version",
                    "targets that can: " + names};
}

Diagnostics check_programs(const toolchain::Board& board, const BuildSettings& settings) {
  Diagnostics missing;
  for (const std::string& program : toolchain::missing_programs(board, settings.compiler)) {
    missing.push_back(toolchain::missing_program(program));
  }
  return missing;
}

Result<toolchain::Program> build_generated(const Compiled& compiled, const std::string& target,
                                           const BuildSettings& settings) {
  const Result<const toolchain::Board*> board = board_for(target);
  if (!board) return board.error();
  const Diagnostics missing = check_programs(**board, settings);
  if (!missing.empty()) return missing;
  return toolchain::build(**board, sources_of(compiled), build_options(compiled, settings));
}

Result<ValidationReport> validate(const Compiled& compiled, const std::string& target,
                                  std::span<const toolchain::GoldenVector> vectors,
                                  const BuildSettings& settings) {
  const Result<toolchain::Program> program = build_generated(compiled, target, settings);
  if (!program) return program.error();
  std::vector<toolchain::Tensors> inputs;
  for (const toolchain::GoldenVector& vector : vectors) inputs.push_back(vector.inputs);
  const Result<toolchain::Validation> run =
      toolchain::run_vectors(*program, compiled.interface, inputs);
  if (!run) return run.error();
  ValidationReport result;
  for (const ValueId id : compiled.model.outputs) {
    result.tensors.push_back({compiled.model[id].name, {}});
  }
  for (size_t v = 0; v < run->outputs.size(); ++v) {
    compare_vector(compiled, vectors[v].outputs, run->outputs[v], result);
  }
  result.num_vectors = static_cast<int64_t>(run->outputs.size());
  result.violations = run->violations;
  if (run->outputs.size() != vectors.size() && result.violations.empty()) {
    result.violations.push_back(
        fmt::format("only {} of {} vectors were run", run->outputs.size(), vectors.size()));
  }
  result.stack_bytes = run->stack_bytes;
  // The bound holds for the target's own flags and compiler only.
  if (settings.flags.empty() && settings.compiler.empty()) {
    result.stack_bound = stack_bound(compiled.storage.program, *find_target(target));
  }
  check_stack(result);
  return result;
}

Result<Measurement> measure(const Compiled& compiled, const std::string& target,
                            std::span<const toolchain::Tensors> inputs, bool has_marks,
                            const BuildSettings& settings) {
  BuildSettings with_marks = settings;
  if (has_marks) {
    if (with_marks.flags.empty()) with_marks.flags = compiled.compile_flags;
    with_marks.flags.insert(with_marks.flags.end(), {"-include", "../runtime/harness.h"});
  }
  const Result<toolchain::Program> program = build_generated(compiled, target, with_marks);
  if (!program) return program.error();
  const Result<toolchain::Validation> run =
      toolchain::run_vectors(*program, compiled.interface, inputs);
  if (!run) return run.error();
  if (!run->violations.empty() || run->run_costs.empty()) {
    Diagnostic failure{Code::kProgramFailed, "", "the generated program did not run to its end",
                       "`ingot validate` looks into it"};
    failure.notes = run->violations;
    return failure;
  }
  Measurement result;
  result.unit = program->board->is_host() ? "nanoseconds" : "instructions";
  result.median = median_of(run->run_costs);
  result.least = std::ranges::min(run->run_costs);
  result.greatest = std::ranges::max(run->run_costs);
  if (!has_marks) return result;
  for (size_t step = 0; step < run->step_costs.at(0).size(); ++step) {
    std::vector<int64_t> costs;
    for (const std::vector<int64_t>& of_run : run->step_costs) costs.push_back(of_run.at(step));
    result.step_spreads.push_back(std::ranges::max(costs) - std::ranges::min(costs));
    result.steps.push_back(median_of(std::move(costs)));
  }
  return result;
}

}  // namespace ingot
