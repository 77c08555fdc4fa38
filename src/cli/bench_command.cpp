// SPDX-License-Identifier: Apache-2.0
// ingot bench: exact instruction counts on an emulated core, time on the host.
#include <fmt/format.h>

#include <memory>

#include "cli/application.h"
#include "cli/model_arguments.h"
#include "cli/progress.h"
#include "driver/generated.h"
#include "driver/vectors.h"
#include "report/inspect.h"
#include "report/json_text.h"
#include "report/metadata.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  ModelArguments model;
  BuildSettings build;
  int64_t runs = 0;
  bool layers = false;
  bool json = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot bench kws.tflite --target cortex-m4
      the instructions of one inference on an emulated core: exact, the same on every run
  ingot bench kws.tflite --target cortex-m4 --layers
      and of each step, with its multiply-accumulates per instruction
  ingot bench kws.tflite --target cortex-m4 --layers --runs 20
      on 20 random inputs: which steps take longer for some than for others
  ingot bench kws.tflite --runs 200
      time on this machine: median and spread
)";

constexpr int64_t kRunsOnHost = 31;

// Null if there is nothing to divide by.
Json macs_per_instruction(const Measurement& result, int64_t macs, int64_t cost) {
  if (result.unit != "instructions" || macs == 0 || cost == 0) return {};
  return static_cast<double>(macs) / static_cast<double>(cost);
}

// Null for the unit that was not measured.
Json in_unit(const Measurement& result, std::string_view unit, int64_t value) {
  return result.unit == unit ? Json(value) : Json();
}

std::string report_json(const Measurement& result, const loop::Program& program,
                        const std::string& target) {
  Json layers = Json::array();
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const loop::CallNote& note = program.notes.at(i);
    layers.push_back(
        {{"name", note.name},
         {"kind", note.kind},
         {"macs", note.macs},
         {"instructions", in_unit(result, "instructions", result.steps[i])},
         {"nanoseconds", in_unit(result, "nanoseconds", result.steps[i])},
         {"spread", result.step_spreads[i]},
         {"macs_per_instruction", macs_per_instruction(result, note.macs, result.steps[i])}});
  }
  return to_text(
      {{"schema_version", 1},
       {"target", target},
       {"instructions", in_unit(result, "instructions", result.median)},
       {"nanoseconds", in_unit(result, "nanoseconds", result.median)},
       {"least", result.least},
       {"greatest", result.greatest},
       {"macs", macs_of(program)},
       {"macs_per_instruction", macs_per_instruction(result, macs_of(program), result.median)},
       {"layers", std::move(layers)}});
}

// A row per step: its cost, its share, multiply-accumulates per instruction, and the spread where
// the cost depends on the input.
std::string steps_text(const Measurement& result, const loop::Program& program) {
  if (result.steps.empty()) return "";
  const bool counts = result.unit == "instructions";
  std::string text = fmt::format("{:>12} {:>7}  {:>8}  {:<18} name\n", result.unit, "share",
                                 counts ? "MAC/insn" : "", "kind");
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const loop::CallNote& note = program.notes.at(i);
    const int64_t cost = result.steps[i];
    const double share = 100.0 * static_cast<double>(cost) / static_cast<double>(result.median);
    const Json ratio = macs_per_instruction(result, note.macs, cost);
    text += fmt::format("{:>12} {:>5.1f} %  {:>8}  {:<18} {}", cost, share,
                        ratio.is_null() ? "" : fmt::format("{:.2f}", ratio.get<double>()),
                        note.kind, short_name(note.name));
    if (counts && result.step_spreads[i] > 0) {
      text += fmt::format(" (spread {})", result.step_spreads[i]);
    }
    text += "\n";
  }
  return text;
}

std::string report_text(const Measurement& result, const loop::Program& program,
                        const std::string& target) {
  const int64_t macs = macs_of(program);
  std::string text = fmt::format("{}: {} {}", target, result.median, result.unit);
  if (result.least != result.greatest) {
    text += fmt::format(" (median; {} to {})", result.least, result.greatest);
  }
  if (macs > 0) {
    text += fmt::format(", {:.2f} per multiply-accumulate",
                        static_cast<double>(result.median) / static_cast<double>(macs));
  }
  text += "\n";
  return text + steps_text(result, program);
}

int bench_model(const Session& session, const Arguments& arguments) {
  Result<CompileOptions> options = compile_options(arguments.model);
  if (!options) return report(session, options.error());
  CompileOptions compile_options = *std::move(options);
  const Result<std::vector<uint8_t>> bytes = read_file(arguments.model.path);
  if (!bytes) return report(session, bytes.error());
  const Result<const toolchain::Board*> board = board_for(compile_options.target);
  if (!board) return report(session, board.error());
  if ((*board)->is_host() && !(*board)->emulator.empty()) {
    return report(session,
                  {Diagnostic{Code::kUsage, "",
                              compile_options.target +
                                  " is emulated here, which gives neither its times nor counts",
                              "`ingot validate` runs it; cores are measured in instructions"}});
  }
  if (arguments.layers) compile_options.step_mark = kStepMark;
  const Result<Compiled> compiled = compile(*bytes, compile_options);
  if (!compiled) return report(session, compiled.error());
  report_warnings(session, compiled->warnings);

  const Progress progress("measuring on " + compile_options.target);
  const int64_t runs = arguments.runs > 0 ? arguments.runs : (*board)->is_host() ? kRunsOnHost : 1;
  // Counts are exact, so that more runs are for more inputs; times are of one input.
  std::vector<toolchain::Tensors> inputs;
  for (int64_t run = 0; run < runs; ++run) {
    inputs.push_back(random_inputs(compiled->model, 0, (*board)->is_host() ? 0 : run));
  }
  const Result<Measurement> result =
      measure(*compiled, compile_options.target, inputs, arguments.layers, arguments.build);
  if (!result) return report(session, result.error());
  const loop::Program& program = compiled->storage.program;
  fmt::print("{}", arguments.json ? report_json(*result, program, compile_options.target)
                                  : report_text(*result, program, compile_options.target));
  return kDone;
}

}  // namespace

void add_bench_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("bench", "measure one inference");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  add_model_arguments(*command, arguments->model);
  command->add_option("--runs", arguments->runs, "number of runs (default: 1 on cores, else 31)")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}).description(""));
  command->add_flag("--layers", arguments->layers, "measure each step");
  command->add_option("--cc", arguments->build.compiler, "C compiler (default: the target's)")
      ->type_name("PROGRAM");
  command->add_option("--cflags", arguments->build.flags, "instead of the target's flags")
      ->delimiter(' ')
      ->type_name("FLAGS");
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return bench_model(session, *arguments); };
  });
}

}  // namespace ingot::cli
