// SPDX-License-Identifier: Apache-2.0
// On cores of Cortex-M with DSP a run of an int8 network takes the same number of instructions for
// every input, step by step, but for the kinds that are listed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "driver/compile.h"
#include "driver/generated.h"
#include "driver/vectors.h"
#include "tests/support/sample_models.h"
#include "toolchain/board_fixture.h"

namespace ingot::testing {
namespace {

constexpr int64_t kInputs = 12;

// By kind: how far the counts of two inputs may lie apart, as a share of the step's instructions.
const std::map<std::string, double>& spreads() {
  // A mean is rounded away from zero: an output takes one instruction more on one side.
  static const std::map<std::string, double> table = {{"average_pool_2d", 0.02}};
  return table;
}

class InstructionCounts : public toolchain::OnBoard {
 protected:
  void check(const SampleModel& model) const {
    const std::string target(board_->target);
    const Result<Compiled> compiled = compile(
        model.file, {.name = model.name, .target = target, .step_mark = std::string(kStepMark)});
    ASSERT_TRUE(compiled.has_value()) << compiled.error().front().what;
    std::vector<toolchain::Tensors> inputs;
    for (int64_t i = 0; i < kInputs; ++i) inputs.push_back(random_inputs(compiled->model, 1, i));
    const Result<Measurement> result = measure(*compiled, target, inputs, true, {});
    ASSERT_TRUE(result.has_value()) << result.error().front().what;
    for (size_t s = 0; s < result->steps.size(); ++s) {
      const std::string& kind = compiled->storage.program.notes.at(s).kind;
      const auto allowed = spreads().find(kind);
      const double most = allowed == spreads().end() ? 0 : allowed->second;
      EXPECT_LE(static_cast<double>(result->step_spreads[s]),
                most * static_cast<double>(result->steps[s]))
          << model.name << ", step " << s << ", " << kind << ": " << result->steps[s]
          << " instructions, spread " << result->step_spreads[s];
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Cores, InstructionCounts,
                         ::testing::Values("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55"),
                         toolchain::name_of_case);

TEST_P(InstructionCounts, DoNotDependOnTheInput) {
  for (const SampleModel& model : {dense_chain(), depthwise_separable(), residual(), two_branches(),
                                   explicit_padding(), mean_over_space(), broadcasts(), gates()}) {
    check(model);
  }
}

}  // namespace
}  // namespace ingot::testing
