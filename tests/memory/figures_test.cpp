// SPDX-License-Identifier: Apache-2.0
// What plans come to: with inputs preserved an arena is as low as its own lower bound, on our own
// networks and on public models, where these lie beside the project; those keep to stated sizes,
// and planning takes less than 50 ms of processor time for each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "support/file.h"
#include "tests/memory/judging.h"
#include "tests/support/random_network.h"
#include "tests/support/shared_files.h"

namespace ingot::testing {
namespace {

using Io = EmitOptions::Io;

std::string proved_least(const Compiled& compiled) {
  const plan::PoolPlan& arena = compiled.storage.plan.pools.at(0);
  if (arena.optimal && arena.height_bytes == arena.lower_bound_bytes) return "";
  return fmt::format("arena {}, lower bound {}", arena.height_bytes, arena.lower_bound_bytes);
}

TEST(Figures, ArenasOfOurNetworksAreTheirLowerBounds) {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 40; ++seed) models.push_back(random_network(seed));
  for (const SampleModel& model : models) {
    for (const bool reuse : {false, true}) {
      const Compiled compiled =
          compiled_with(model, {.name = model.name, .io = Io::kArena, .reuse_inputs = reuse});
      EXPECT_EQ(proved_least(compiled), "") << model.name << " " << reuse;
    }
  }
}

TEST(Figures, AssayAgreesUnderEveryOption) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const SampleModel model = random_network(seed);
    for (const char* target : {"c99", "cortex-m4"}) {
      for (int64_t options = 0; options < 8; ++options) {
        const Compiled compiled =
            compiled_with(model, {.name = model.name,
                                  .target = target,
                                  .io = (options & 1) ? Io::kArena : Io::kCaller,
                                  .reuse_inputs = (options & 2) != 0,
                                  .scratch_in_outputs = (options & 4) != 0});
        EXPECT_EQ(verdict(compiled), "") << model.name << " " << target << " " << options;
      }
    }
  }
}

struct PublicModel {
  const char* name;
  int64_t preserved;  // bytes of the arena with inputs preserved
  int64_t reused;     // and with inputs that may be overwritten
};

// Bounds that hold for any schedule of the kernels; what is reached today is printed.
constexpr PublicModel kPublicModels[] = {
    {"ad01_int8", 1'408, 832},
    {"kws_ref_model", 16'496, 8'448},
    {"vww_96_int8", 82'944, 36'928},
    {"pretrainedResnet_quant", 52'224, 33'360},
};

class OfPublicModels : public ::testing::TestWithParam<PublicModel> {
 protected:
  // Empty if the models are not there.
  std::vector<uint8_t> file() const {
    const std::optional<std::filesystem::path> shared = shared_folder();
    if (!shared) return {};
    return *read_file((*shared / "models" / GetParam().name / "model.tflite").string());
  }
};

TEST_P(OfPublicModels, ArenasAreSmallAndProvedLeast) {
  const SampleModel model{"net", file()};
  if (model.file.empty()) GTEST_SKIP() << "the shared models are not there";
  for (const bool reuse : {false, true}) {
    const Compiled compiled =
        compiled_with(model, {.name = "net", .io = Io::kArena, .reuse_inputs = reuse});
    EXPECT_EQ(proved_least(compiled), "") << reuse;
    EXPECT_EQ(verdict(compiled), "") << reuse;
    const int64_t bytes = compiled.storage.arena_bytes;
    EXPECT_LE(bytes, reuse ? GetParam().reused : GetParam().preserved);
    fmt::print("{} {}: {} bytes\n", GetParam().name, reuse ? "reused" : "preserved", bytes);
  }
}

TEST_P(OfPublicModels, PlanningTakesLessThanFiftyMilliseconds) {
  const std::vector<uint8_t> bytes = file();
  if (bytes.empty()) GTEST_SKIP() << "the shared models are not there";
  double least = 1e9;
  for (int run = 0; run < 5; ++run) {
    std::clock_t before = 0;
    double seconds = 0;
    Hooks hooks;
    hooks.after_step = [&](std::string_view step, const std::function<std::string()>&) {
      const std::clock_t now = std::clock();
      if (step == "storage") seconds = static_cast<double>(now - before) / CLOCKS_PER_SEC;
      before = now;
    };
    const Result<Compiled> compiled =
        compile(bytes, {.name = "net", .io = Io::kArena, .reuse_inputs = true}, hooks);
    ASSERT_TRUE(compiled.has_value());
    least = std::min(least, seconds);
  }
  EXPECT_LT(least, 0.05);
  fmt::print("{}: planned in {:.1f} ms\n", GetParam().name, 1000 * least);
}

INSTANTIATE_TEST_SUITE_P(All, OfPublicModels, ::testing::ValuesIn(kPublicModels),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ingot::testing
