// SPDX-License-Identifier: Apache-2.0
#include "toolchain/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace ingot::toolchain {
namespace {

constexpr std::string_view kViolationPrefix = "[harness] violation: ";
constexpr double kFloatTolerance = 1e-5;
constexpr int64_t kExitCodeOfViolations = 4;

std::string vectors_file(const ModelInterface& model, std::span<const Tensors> inputs) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((inputs.size() >> static_cast<unsigned>(shift)) & 0xffU);
  }
  for (const Tensors& tensors : inputs) {
    CHECK(tensors.size() == model.inputs.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      CHECK(static_cast<int64_t>(tensors[i].size()) == model.inputs[i].bytes);
      bytes.append(tensors[i].begin(), tensors[i].end());
    }
  }
  return bytes;
}

std::vector<Tensors> split_outputs(const ModelInterface& model, size_t num_vectors,
                                   const std::vector<uint8_t>& bytes) {
  int64_t vector_bytes = 0;
  for (const Port& port : model.outputs) vector_bytes += port.bytes;
  std::vector<Tensors> outputs;
  auto next = bytes.begin();
  while (outputs.size() < num_vectors && bytes.end() - next >= vector_bytes) {
    Tensors tensors;
    for (const Port& port : model.outputs) {
      tensors.emplace_back(next, next + port.bytes);
      next += port.bytes;
    }
    outputs.push_back(std::move(tensors));
  }
  return outputs;
}

std::vector<std::string> violations_of(const Execution& execution,
                                       std::chrono::milliseconds timeout) {
  std::vector<std::string> violations;
  std::string_view rest = execution.console;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with(kViolationPrefix)) {
      violations.emplace_back(line.substr(kViolationPrefix.size()));
    }
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  if (execution.timed_out) {
    violations.push_back(fmt::format("the run did not end in {} ms", timeout.count()));
  } else if (!execution.fault.empty()) {
    violations.push_back("the run ended by a fault: " + execution.fault);
  } else if (execution.exit_code != 0 &&
             !(execution.exit_code == kExitCodeOfViolations && !violations.empty())) {
    violations.push_back(fmt::format("the run ended with exit code {}", execution.exit_code));
  }
  return violations;
}

// Every vector executes the same regions.
void split_costs(const std::vector<int64_t>& regions, size_t num_vectors, Validation& validation) {
  if (num_vectors == 0 || regions.size() % num_vectors != 0) return;
  const auto num_steps = static_cast<int64_t>(regions.size() / num_vectors);
  if (num_steps == 0) return;
  for (auto step = regions.begin(); step != regions.end(); step += num_steps) {
    validation.step_costs.emplace_back(step, step + num_steps);
    validation.run_costs.push_back(std::accumulate(step, step + num_steps, int64_t{0}));
  }
}

template <class T>
std::vector<T> elements_of(std::span<const uint8_t> bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), elements.size() * sizeof(T));
  return elements;
}

// |x - y| of two elements that are not equal; infinite if that is no number.
template <class T>
double difference_of(T x, T y) {
  const double difference = std::fabs(static_cast<double>(x) - static_cast<double>(y));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

template <class T>
Comparison compare_elements(std::span<const uint8_t> expected_bytes,
                            std::span<const uint8_t> actual_bytes) {
  const std::vector<T> expected = elements_of<T>(expected_bytes);
  const std::vector<T> actual = elements_of<T>(actual_bytes);
  double tolerance = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (const T x : expected) {
      if (std::isfinite(x)) tolerance = std::max(tolerance, std::fabs(static_cast<double>(x)));
    }
    tolerance *= kFloatTolerance;
  }
  Comparison result;
  result.compared = static_cast<int64_t>(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const T x = expected[i];
    const T y = actual[i];
    if (x == y || (x != x && y != y)) continue;
    const double difference = difference_of(x, y);
    result.max_difference = std::max(result.max_difference, difference);
    if (!std::is_floating_point_v<T> || difference > tolerance) ++result.different;
  }
  return result;
}

}  // namespace

Result<Validation> run_vectors(const Program& program, const ModelInterface& model,
                               std::span<const Tensors> inputs, std::chrono::milliseconds timeout) {
  RunOptions options;
  options.timeout = timeout;
  options.input_files = {{"vectors.bin", vectors_file(model, inputs)}};
  options.result_files = {"outputs.bin"};
  Result<Execution> execution = execute(program, options);
  if (!execution) return execution.error();
  Validation validation;
  validation.execution = *std::move(execution);
  validation.violations = violations_of(validation.execution, timeout);
  validation.stack_bytes = validation.execution.greatest("stack_bytes");
  const auto bytes = validation.execution.files.find("outputs.bin");
  if (bytes != validation.execution.files.end()) {
    validation.outputs = split_outputs(model, inputs.size(), bytes->second);
    validation.execution.files.erase(bytes);
  }
  if (validation.outputs.size() == inputs.size()) {
    split_costs(validation.execution.regions, inputs.size(), validation);
  }
  return validation;
}

Comparison& Comparison::operator+=(const Comparison& other) {
  compared += other.compared;
  different += other.different;
  max_difference = std::max(max_difference, other.max_difference);
  return *this;
}

Comparison compare(DType dtype, std::span<const uint8_t> expected,
                   std::span<const uint8_t> actual) {
  if (expected.size() != actual.size()) {
    const int64_t n = static_cast<int64_t>(expected.size()) / size_in_bytes(dtype);
    return {n, std::max<int64_t>(n, 1), std::numeric_limits<double>::infinity()};
  }
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return compare_elements<uint8_t>(expected, actual);
    case DType::kInt8:
      return compare_elements<int8_t>(expected, actual);
    case DType::kInt16:
      return compare_elements<int16_t>(expected, actual);
    case DType::kUInt16:
    case DType::kFloat16:
      return compare_elements<uint16_t>(expected, actual);
    case DType::kInt32:
      return compare_elements<int32_t>(expected, actual);
    case DType::kUInt32:
      return compare_elements<uint32_t>(expected, actual);
    case DType::kInt64:
      return compare_elements<int64_t>(expected, actual);
    case DType::kUInt64:
      return compare_elements<uint64_t>(expected, actual);
    case DType::kFloat32:
      return compare_elements<float>(expected, actual);
    case DType::kFloat64:
      return compare_elements<double>(expected, actual);
  }
  return {};
}

}  // namespace ingot::toolchain
