// SPDX-License-Identifier: Apache-2.0
// Ingot's C beside XNNPACK's operators, on this machine, one thread, in one run:
//     compare_xnnpack [--target TARGET] [--cflags "FLAGS"] MODEL...
// For each model, every convolution, depthwise and dense layer of it on both sides, their sum, and
// the whole model as Ingot runs it. XNNPACK's layers are those of the file; what Ingot removes or
// fuses shows in its times. Both sides are measured in turn, kRounds times, and the medians of all
// runs are printed, in microseconds. Ingot's layers are measured in a program with marks between
// them, the whole model in one without.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "bench/xnnpack_layer.h"
#include "driver/generated.h"
#include "driver/vectors.h"
#include "support/file.h"

namespace ingot::bench {
namespace {

constexpr int64_t kRounds = 5;
constexpr int64_t kRunsPerRound = 41;

double median_us(std::vector<int64_t> nanoseconds) {
  if (nanoseconds.empty()) return 0;
  const auto middle = nanoseconds.begin() + std::ssize(nanoseconds) / 2;
  std::ranges::nth_element(nanoseconds, middle);
  return static_cast<double>(*middle) / 1000;
}

// One model on both sides; all times in nanoseconds.
struct Times {
  std::vector<std::vector<int64_t>> xnnpack;      // of each layer
  std::map<int64_t, std::vector<int64_t>> steps;  // Ingot's, by operator of the file
  std::vector<int64_t> whole;
};

Diagnostics measure_ingot(const Compiled& compiled, const std::string& target,
                          const BuildSettings& settings, bool has_marks, Times& times) {
  const std::vector<toolchain::Tensors> inputs(kRunsPerRound, random_inputs(compiled.model, 0, 0));
  const Result<Measurement> measured = measure(compiled, target, inputs, has_marks, settings);
  if (!measured) return measured.error();
  if (!has_marks) times.whole.push_back(measured->median);
  for (size_t s = 0; s < measured->steps.size(); ++s) {
    for (const int64_t op : compiled.storage.program.notes.at(s).operators) {
      times.steps[op].push_back(measured->steps[s]);
    }
  }
  return {};
}

void print_table(const std::string& path, const std::vector<XnnpackLayer>& layers,
                 const Times& times) {
  fmt::print("\n{}\n{:>10} {:>10} {:>7}\n", path, "XNNPACK", "Ingot", "ratio");
  double sum = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const double theirs = median_us(times.xnnpack[i]);
    sum += theirs;
    const auto found = times.steps.find(layers[i].source());
    const double ours = found == times.steps.end() ? 0 : median_us(found->second);
    fmt::print("{:>10.2f} {:>10.2f} {:>7} {}\n", theirs, ours,
               ours > 0 ? fmt::format("{:.2f}", theirs / ours) : "", layers[i].shape());
  }
  const double whole = median_us(times.whole);
  fmt::print("{:>10.2f} {:>10.2f} {:>7.2f} XNNPACK's layers, Ingot's whole model\n", sum, whole,
             sum / whole);
}

Diagnostics compare(const std::string& path, const std::string& target,
                    const BuildSettings& settings) {
  const Result<std::vector<uint8_t>> bytes = read_file(path);
  if (!bytes) return bytes.error();
  CompileOptions options;
  options.name = "model";
  options.target = target;
  const Result<Compiled> plain = compile(*bytes, options);
  options.step_mark = kStepMark;
  const Result<Compiled> marked = compile(*bytes, options);
  if (!plain || !marked) return plain ? marked.error() : plain.error();
  std::vector<XnnpackLayer> layers;
  for (const Node& node : plain->model.nodes) {
    if (auto layer = XnnpackLayer::make(plain->model, node)) layers.push_back(*std::move(layer));
  }
  Times times;
  times.xnnpack.resize(layers.size());
  for (int64_t round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < layers.size(); ++i) {
      for (const int64_t time : layers[i].times(kRunsPerRound)) times.xnnpack[i].push_back(time);
    }
    for (const bool has_marks : {false, true}) {
      const Compiled& compiled = has_marks ? *marked : *plain;
      if (auto faults = measure_ingot(compiled, target, settings, has_marks, times);
          !faults.empty())
        return faults;
    }
  }
  print_table(path, layers, times);
  return {};
}

int run(int argc, char** argv) {
  CLI::App app("Ingot's C beside XNNPACK's operators");
  std::string target = "x86-64-avx512vnni";
  std::vector<std::string> models;
  BuildSettings settings;
  app.add_option("--target", target);
  app.add_option("--cc", settings.compiler);
  app.add_option("--cflags", settings.flags, "instead of the target's flags")->delimiter(' ');
  app.add_option("model", models)->required();
  CLI11_PARSE(app, argc, argv);
  if (xnn_initialize(nullptr) != xnn_status_success) {
    fmt::print(stderr, "XNNPACK does not run on this machine\n");
    return 1;
  }
  for (const std::string& model : models) {
    const Diagnostics faults = compare(model, target, settings);
    for (const Diagnostic& fault : faults) fmt::print(stderr, "error: {}\n", fault.what);
    if (!faults.empty()) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ingot::bench

int main(int argc, char** argv) { return ingot::bench::run(argc, argv); }
