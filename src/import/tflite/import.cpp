// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/import.h"

#include "graph/verify.h"
#include "import/tflite/operators.h"
#include "import/tflite/order.h"

namespace ingot {
namespace {

// FlatBuffers reads scalars in place, for which the file must begin where they are aligned.
constexpr uintptr_t kAlignment = 16;

Result<Imported> import_aligned(std::span<const uint8_t> bytes, const ImportOptions& options) {
  Report report;
  const tflite::Model model = tflite::read_model(bytes, options.limits, report);
  if (report.has_errors()) return report.errors();

  UniqueNames names(options.limits.name_bytes);
  std::vector<tflite::Tensor> tensors = tflite::read_tensors(model, options, names, report);
  const int64_t errors_before = report.num_errors();
  const std::vector<int64_t> order = tflite::execution_order(model, tensors, report);
  const bool is_graph = report.num_errors() == errors_before;
  tflite::GraphBuilder builder(model, tensors, options, names, report);
  for (const int64_t position : order) {
    const tflite::Operator& op = model.operators[static_cast<size_t>(position)];
    // If tensors have no single origin, attributes cannot be judged; the table of operators can.
    if (tflite::is_supported(builder, op) && is_graph) tflite::read_operator(builder, op);
  }
  if (report.has_errors()) return report.errors();

  Imported imported{builder.take(), report.warnings()};
  CHECK(find_faults(imported.graph).empty());
  return imported;
}

}  // namespace

Result<Imported> import_tflite(std::span<const uint8_t> bytes, const ImportOptions& options) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) {
    return import_aligned(bytes, options);
  }
  const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());
  return import_aligned(aligned, options);
}

std::vector<std::string> supported_tflite_operators() {
  std::vector<std::string> names;
  for (const tflite::OperatorRow& row : tflite::operator_rows()) {
    names.emplace_back(tflite::format::EnumNameBuiltinOperator(row.code));
  }
  return names;
}

}  // namespace ingot
