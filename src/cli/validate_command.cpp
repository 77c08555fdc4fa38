// SPDX-License-Identifier: Apache-2.0
// ingot validate: the generated C against recorded or reference outputs.
#include <fmt/format.h>

#include <memory>

#include "cli/application.h"
#include "cli/diagnostics_text.h"
#include "cli/model_arguments.h"
#include "cli/progress.h"
#include "cli/tensor_files.h"
#include "driver/generated.h"
#include "driver/layers.h"
#include "driver/shadow.h"
#include "driver/vectors.h"
#include "report/json_text.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  ModelArguments model;
  BuildSettings build;
  std::string folder;
  int64_t num_random = 4;
  uint64_t seed = 0;
  bool layers = false;
  bool shadow = false;
  bool json = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot validate kws.tflite
      build the C with the host's compiler, run it on random inputs, compare with the reference
  ingot validate kws.tflite --target cortex-m4 --vectors recorded/
      the same on an emulated Cortex-M4, with recorded inputs and outputs
  ingot validate kws.tflite --random 20 --seed 7 --layers --json
      compare every inner tensor, too
)";

using toolchain::GoldenVector;

// The vectors to compare with: recorded ones, or random ones run by the reference. With --layers
// the inner tensors' values are the reference's in both cases.
Result<std::vector<GoldenVector>> vectors_for(const Arguments& arguments, const Graph& model,
                                              const Graph& compared, Rounding rounding) {
  if (arguments.folder.empty()) {
    return random_vectors(compared, rounding, arguments.seed, arguments.num_random);
  }
  Result<std::vector<GoldenVector>> recorded = read_vectors(model, arguments.folder);
  if (!recorded || !arguments.layers) return recorded;
  std::vector<GoldenVector> vectors = *std::move(recorded);
  const ReferenceExecutor executor(compared, rounding);
  for (GoldenVector& vector : vectors) {
    std::vector<TensorBytes> outputs = executor.run(vector.inputs);
    std::ranges::copy(vector.outputs, outputs.begin());
    vector.outputs = std::move(outputs);
  }
  return vectors;
}

std::string report_json(const ValidationReport& result, const std::string& target) {
  Json tensors = Json::array();
  for (const TensorComparison& tensor : result.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"compared", tensor.comparison.compared},
                       {"different", tensor.comparison.different},
                       {"max_difference", tensor.comparison.max_difference}});
  }
  Json json = {{"schema_version", 1},
               {"equal", result.all_is_well()},
               {"compared", result.total.compared},
               {"different", result.total.different},
               {"max_difference", result.total.max_difference},
               {"vectors", result.num_vectors},
               {"target", target},
               {"stack_bytes", nullptr},
               {"violations", result.violations},
               {"tensors", std::move(tensors)}};
  if (result.stack_bytes) json["stack_bytes"] = *result.stack_bytes;
  return to_text(json);
}

std::string report_text(const ValidationReport& result, const std::string& target) {
  std::string text;
  if (result.all_is_well()) {
    text = fmt::format("equal on {}: {}, {} elements", target,
                       counted(result.num_vectors, "vector"), result.total.compared);
  } else {
    text = fmt::format("different on {}: {} of {} elements in {}, by {} at most", target,
                       result.total.different, result.total.compared,
                       counted(result.num_vectors, "vector"), result.total.max_difference);
  }
  if (result.stack_bytes) text += fmt::format(", {} bytes of stack", *result.stack_bytes);
  text += "\n";
  for (const std::string& violation : result.violations) text += "  " + violation + "\n";
  for (const TensorComparison& tensor : result.tensors) {
    if (tensor.comparison.equal()) continue;
    text += fmt::format("  {}: {} of {} elements differ, by {} at most\n", quote(tensor.name),
                        tensor.comparison.different, tensor.comparison.compared,
                        tensor.comparison.max_difference);
  }
  return text;
}

int validate_model(const Session& session, const Arguments& arguments) {
  const Result<CompileOptions> options = compile_options(arguments.model);
  if (!options) return report(session, options.error());
  const Result<std::vector<uint8_t>> bytes = read_file(arguments.model.path);
  if (!bytes) return report(session, bytes.error());
  const Result<ImportedModel> imported = read_model(*bytes, *options);
  if (!imported) return report(session, imported.error());
  report_warnings(session, imported->warnings);
  const Graph& model = imported->graph;
  const Graph compared = arguments.layers ? with_inner_outputs(model) : model;
  const Result<Compiled> compiled = compile_graph(compared, *options, imported->sha256);
  if (!compiled) return report(session, compiled.error());

  const Progress progress("validating on " + options->target);
  const Result<std::vector<GoldenVector>> vectors =
      vectors_for(arguments, model, compared, options->rounding);
  if (!vectors) return report(session, vectors.error());
  Result<ValidationReport> validated =
      validate(*compiled, options->target, *vectors, arguments.build);
  if (!validated) return report(session, validated.error());
  ValidationReport result = *std::move(validated);
  if (arguments.shadow) {
    const std::vector<std::string> faults =
        shadow_violations(*compiled, options->reuse_inputs, *vectors);
    result.violations.insert(result.violations.end(), faults.begin(), faults.end());
  }
  fmt::print("{}", arguments.json ? report_json(result, options->target)
                                  : report_text(result, options->target));
  return result.all_is_well() ? kDone : kDifferent;
}

}  // namespace

void add_validate_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("validate", "build and run the C, and compare");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  add_model_arguments(*command, arguments->model);
  CLI::Option* folder =
      command->add_option("--vectors", arguments->folder, "recorded vectors (desc.json, K.in0.bin)")
          ->type_name("DIR");
  command->add_option("--random", arguments->num_random, "number of random vectors")
      ->check(CLI::Range(int64_t{1}, int64_t{100000}).description(""))
      ->excludes(folder)
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the random vectors")->capture_default_str();
  command->add_flag("--layers", arguments->layers, "compare every inner tensor");
  command->add_flag("--shadow", arguments->shadow,
                    "interpret it, too, and check that each read of the arena finds its value");
  command->add_option("--cc", arguments->build.compiler, "C compiler (default: the target's)")
      ->type_name("PROGRAM");
  command->add_option("--cflags", arguments->build.flags, "instead of the target's flags")
      ->delimiter(' ')
      ->type_name("FLAGS");
  command->add_flag("--json", arguments->json, "print the comparison as JSON");
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return validate_model(session, *arguments); };
  });
}

}  // namespace ingot::cli
