// SPDX-License-Identifier: Apache-2.0
// The importer with the operators' own rules for shapes: the shapes that writers state are those
// that the rules compute, and no damaged model makes a rule misbehave.
#include "ops/rules.h"
#include "support/file.h"
#include "tests/import/import_testing.h"
#include "tests/import/tflite_fault_rows.h"
#include "tests/support/sample_models.h"
#include "tests/support/shared_files.h"
#include "tests/support/tflite_damage.h"

namespace ingot::testing {
namespace {

using ::testing::IsEmpty;

ImportOptions with_rules() {
  ImportOptions options;
  options.infer = [](const Op& op, Operands inputs, std::span<const TensorType> declared) {
    return rules_of(op).infer.call(op, inputs, declared);
  };
  return options;
}

std::vector<SampleModel> all_models() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  models.push_back({"good_model", good_model().bytes()});
  return models;
}

TEST(TfliteRules, AgreeWithTheShapesOfTheWriter) {
  for (const SampleModel& model : all_models()) {
    SCOPED_TRACE(model.name);
    const Result<Imported> result = import_tflite(model.file, with_rules());
    ASSERT_TRUE(result) << ::testing::PrintToString(lines(result.error()));
    EXPECT_THAT(lines(result->warnings), IsEmpty());
    EXPECT_EQ(result->graph, imported(model.file));
  }
}

TEST(TfliteRules, RefuseOrTakeMutants) {
  const std::vector<SampleModel> models = all_models();
  int64_t num_refused = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const SampleModel& model = models[seed % models.size()];
    const std::unique_ptr<format::ModelT> table = unpack(model.file);
    std::string trace;
    for (uint64_t i = 0; i <= seed % 3; ++i) trace += mutate(*table, 3 * seed + i + 100000) + "; ";
    SCOPED_TRACE(model.name + ": " + trace);
    const Result<Imported> result = import_tflite(serialize(*table), with_rules());
    if (result) {
      EXPECT_THAT(find_faults(result->graph), IsEmpty());
    } else {
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, 1000);
}

TEST(TfliteRules, RefuseOrTakeEveryFault) {
  for (const FaultRow& row : fault_rows()) {
    SCOPED_TRACE(row.title);
    TfliteWriter w = good_model();
    row.change(w);
    EXPECT_FALSE(import_tflite(w.bytes(), with_rules()));
  }
}

// Models that other programs wrote: no rule disagrees with the shapes in them.
TEST(TfliteRules, AgreeWithTheShapesOfRealModels) {
  if (!shared_folder()) GTEST_SKIP() << "no ../shared and INGOT_SHARED is not set";
  int64_t num_models = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(*shared_folder() / "models")) {
    if (entry.path().filename() != "model.tflite") continue;
    SCOPED_TRACE(entry.path());
    const Result<std::vector<uint8_t>> bytes = read_file(entry.path());
    ASSERT_TRUE(bytes);
    if (!import_tflite(*bytes, {})) continue;  // uses what is not read: tested elsewhere
    const Result<Imported> result = import_tflite(*bytes, with_rules());
    if (!result) {
      // Combinations of element types that the operators do not have yet.
      for (const Diagnostic& fault : result.error()) {
        EXPECT_EQ(fault.code, Code::kOperatorType) << fault.where << ": " << fault.what;
      }
      continue;
    }
    ++num_models;
    for (const Diagnostic& warning : result->warnings) {
      EXPECT_EQ(warning.severity, Severity::kNote) << warning.where << ": " << warning.what;
    }
  }
  EXPECT_GE(num_models, 7);
}

}  // namespace
}  // namespace ingot::testing
