// SPDX-License-Identifier: Apache-2.0
// ingot compile: a model becomes C.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/application.h"
#include "cli/diagnostics_text.h"
#include "cli/model_arguments.h"
#include "cli/step_watch.h"
#include "driver/limits.h"
#include "driver/vectors.h"
#include "report/inspect.h"
#include "report/metadata.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  ModelArguments model;
  std::string folder;
  int64_t emit_test = 0;
  uint64_t seed = 0;
  std::vector<std::string> print_after;
  bool time = false;
  bool quiet = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot compile kws.tflite -o out
      out/kws.h, out/kws.c and out/kws_weights.c: build them with any C99 compiler
  ingot compile kws.tflite -o out --target cortex-m4 --io arena --reuse-inputs
      for a named core, with inputs and outputs inside the arena: least RAM
  ingot compile kws.tflite -o out --emit-test 3 --arena-limit 20000
      also out/test/kws_test.c, which checks the C on the device; exit 3 if it needs more RAM
)";

void print_summary(const Compiled& compiled, const Arguments& arguments) {
  const Storage& storage = compiled.storage;
  const loop::Program& program = storage.program;
  fmt::print("{}: {} in {}, {} multiply-accumulates\n", program.name,
             counted(num_operators(compiled.model), "operator"),
             counted(std::ssize(program.notes), "step"), macs_of(program));
  fmt::print("arena {} bytes{}, weights {} bytes\n", storage.arena_bytes,
             storage.plan.optimal && storage.pools.empty() ? " (proved least for this order)" : "",
             weights_bytes(program));
  for (const loop::CallNote& note : program.notes) {
    if (!note.expansion) continue;
    fmt::print("{}\n", expansion_text(*note.expansion, short_name(note.name)));
  }
  for (const PoolUse& pool : storage.pools) {
    fmt::print("pool {} {} bytes\n", pool.name, pool.bytes);
  }
  std::string names;
  for (const OutputFile& file : compiled.files) names += " " + file.name;
  fmt::print("wrote into {}:{}\n", arguments.folder, names);
}

int compile_model(const Session& session, const Arguments& arguments) {
  const Result<CompileOptions> options = compile_options(arguments.model);
  if (!options) return report(session, options.error());
  Result<std::vector<uint8_t>> bytes = read_file(arguments.model.path);
  if (!bytes) return report(session, bytes.error());

  StepWatch watch(arguments.print_after);
  Result<Compiled> result = compile(*std::move(bytes), *options, watch.hooks());
  if (arguments.time) fmt::print(stderr, "{}", watch.times_text());
  if (!result) return report(session, result.error());
  Compiled compiled = *std::move(result);
  report_warnings(session, compiled.warnings);

  if (arguments.model.arena_limit) {
    const Diagnostics excess = check_arena_limit(compiled, *arguments.model.arena_limit);
    if (!excess.empty()) return report(session, excess);
  }
  if (arguments.model.flash_limit) {
    const Diagnostics excess = check_flash_limit(compiled, *arguments.model.flash_limit);
    if (!excess.empty()) return report(session, excess);
  }
  if (arguments.emit_test > 0) {
    compiled.files.push_back(
        self_check_file(compiled, *options, arguments.emit_test, arguments.seed));
  }
  const Result<std::monostate> written = write_files(arguments.folder, compiled.files);
  if (!written) return report(session, written.error());
  if (!arguments.quiet) print_summary(compiled, arguments);
  return kDone;
}

}  // namespace

void add_compile_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("compile", "write C for a model");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  add_model_arguments(*command, arguments->model);
  command->add_option("-o,--output", arguments->folder, "folder for the files (made if missing)")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--emit-test", arguments->emit_test,
                   "add a self-check with N vectors in the subfolder test")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}).description(""))
      ->type_name("N");
  command->add_option("--seed", arguments->seed, "of the vectors of --emit-test")
      ->type_name("SEED")
      ->capture_default_str();
  std::vector<std::string> steps = step_names();
  steps.emplace_back("all");
  std::string list;
  for (const std::string& step : steps) list += (list.empty() ? "" : ", ") + step;
  command
      ->add_option("--print-after", arguments->print_after,
                   "print the program after a step (repeatable): " + list)
      ->check(one_of(steps))
      ->allow_extra_args(false)
      ->type_name("STEP");
  command->add_flag("--time", arguments->time, "print how long each step took");
  command->add_flag("-q,--quiet", arguments->quiet, "no summary");
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return compile_model(session, *arguments); };
  });
}

}  // namespace ingot::cli
