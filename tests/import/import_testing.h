// SPDX-License-Identifier: Apache-2.0
// What tests of the .tflite importer share.
#pragma once
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/text.h"
#include "graph/verify.h"
#include "import/tflite/import.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {

// One line for each diagnostic: `code: where: what`.
inline std::vector<std::string> lines(const Diagnostics& diagnostics) {
  std::vector<std::string> list;
  for (const Diagnostic& d : diagnostics) {
    list.push_back(fmt::format("{}: {}: {}", spelling(d.code), d.where, d.what));
  }
  return list;
}

// The graph of a model that must be good.
inline Graph imported(const std::vector<uint8_t>& file, const ImportOptions& options = {}) {
  const Result<Imported> result = import_tflite(file, options);
  if (!result) {
    ADD_FAILURE() << ::testing::PrintToString(lines(result.error()));
    return {};
  }
  return result->graph;
}

// The messages about a model that must be bad; empty, with a failure, if it is good.
inline std::vector<std::string> faults_of(const std::vector<uint8_t>& file,
                                          const ImportOptions& options = {}) {
  const Result<Imported> result = import_tflite(file, options);
  if (!result) return lines(result.error());
  ADD_FAILURE() << "the model is accepted:\n" << print(result->graph);
  return {};
}

}  // namespace ingot::testing
