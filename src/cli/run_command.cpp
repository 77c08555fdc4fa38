// SPDX-License-Identifier: Apache-2.0
// ingot run: the reference executor on the host.
#include <fmt/format.h>

#include <memory>

#include "cli/application.h"
#include "cli/model_arguments.h"
#include "cli/progress.h"
#include "cli/tensor_files.h"
#include "driver/compile.h"
#include "emit/names.h"
#include "exec/reference.h"
#include "report/elements.h"
#include "report/npy.h"
#include "support/file.h"

namespace ingot::cli {
namespace {

struct Arguments {
  std::string model;
  std::vector<std::string> inputs;
  std::string folder;
  std::string rounding = "double";
  std::vector<std::string> dims;
  bool json = false;
};

constexpr std::string_view kExamples = R"(Examples:
  ingot run kws.tflite --input features.npy
      one inference by the reference kernels; prints the outputs
  ingot run two_inputs.tflite --input a.npy --input b.bin -o results
      inputs in model order, as .npy or as raw little-endian bytes; writes results/NAME.npy
  ingot run kws.tflite --input features.npy --json | jq .outputs[0].data
)";

constexpr int64_t kMostPrinted = 16;

// The model's outputs, with the names under which they are written.
struct Outputs {
  std::vector<std::string> names;
  std::vector<TensorBytes> bytes;
};

std::string outputs_json(const Graph& graph, const Outputs& outputs) {
  Json list = Json::array();
  for (size_t i = 0; i < outputs.bytes.size(); ++i) {
    const Value& value = graph[graph.outputs[i]];
    list.push_back({{"name", value.name},
                    {"c_name", outputs.names[i]},
                    {"dtype", name_of(value.type.dtype)},
                    {"shape", value.type.shape},
                    {"data", elements_json(value.type.dtype, outputs.bytes[i])}});
  }
  return to_text({{"schema_version", 1}, {"outputs", std::move(list)}});
}

std::vector<OutputFile> output_files(const Graph& graph, const Outputs& outputs) {
  std::vector<OutputFile> files;
  for (size_t i = 0; i < outputs.bytes.size(); ++i) {
    files.push_back(
        {outputs.names[i] + ".npy", write_npy(graph[graph.outputs[i]].type, outputs.bytes[i])});
  }
  return files;
}

// The names as in the generated C: inputs come first in their table.
std::vector<std::string> output_names(const Graph& graph) {
  std::vector<std::string> tensors;
  for (const ValueId id : graph.inputs) tensors.push_back(graph[id].name);
  for (const ValueId id : graph.outputs) tensors.push_back(graph[id].name);
  std::vector<std::string> names = c_names(tensors);
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(graph.inputs.size()));
  return names;
}

int run_model(const Session& session, const Arguments& arguments) {
  ModelArguments model;
  model.path = arguments.model;
  model.name = "model";
  model.rounding = arguments.rounding;
  model.dims = arguments.dims;
  const Result<CompileOptions> options = compile_options(model);
  if (!options) return report(session, options.error());
  const Result<std::vector<uint8_t>> file = read_file(arguments.model);
  if (!file) return report(session, file.error());
  const Result<ImportedModel> imported = read_model(*file, *options);
  if (!imported) return report(session, imported.error());
  report_warnings(session, imported->warnings);
  const Graph& graph = imported->graph;

  const Result<std::vector<TensorBytes>> inputs = read_inputs(graph, arguments.inputs);
  if (!inputs) return report(session, inputs.error());
  Outputs outputs{output_names(graph), {}};
  {
    const Progress progress("running " + arguments.model);
    outputs.bytes = ReferenceExecutor(graph, options->rounding).run(*inputs);
  }
  if (!arguments.folder.empty()) {
    const auto written = write_files(arguments.folder, output_files(graph, outputs));
    if (!written) return report(session, written.error());
  }
  if (arguments.json) {
    fmt::print("{}", outputs_json(graph, outputs));
  } else if (arguments.folder.empty()) {
    for (size_t i = 0; i < outputs.bytes.size(); ++i) {
      const Value& value = graph[graph.outputs[i]];
      fmt::print("{}: {}\n  {}\n", quote(value.name), print(value.type),
                 elements_text(value.type.dtype, outputs.bytes[i], kMostPrinted));
    }
  }
  return kDone;
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("run", "execute a model on this machine, for reference");
  const auto arguments = std::make_shared<Arguments>();
  command->footer(std::string(kExamples));
  command->add_option("MODEL", arguments->model, "the network, a .tflite file")
      ->required()
      ->type_name("FILE");
  command->add_option("-i,--input", arguments->inputs, ".npy or raw bytes, in model order")
      ->type_name("FILE");
  command->add_option("-o,--output", arguments->folder, "write the outputs there as .npy")
      ->type_name("DIR");
  add_choice(*command, "--rounding", arguments->rounding, "of requantisation",
             {"double", "single", "float"});
  command->add_option("--dim", arguments->dims, "extent that the model leaves open (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "print the outputs as JSON");
  command->callback([arguments, &session] {
    session.action = [arguments, &session] { return run_model(session, *arguments); };
  });
}

}  // namespace ingot::cli
