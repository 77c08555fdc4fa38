// SPDX-License-Identifier: Apache-2.0
// assay against random lies: 10,000 changed plans and programs that go wrong in a shadow run, or
// contradict themselves, are rejected.
//
// INGOT_MUTANTS=N tries N of them instead.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "assay/judge.h"
#include "assay/lexer.h"
#include "assay/machine.h"
#include "loop/text.h"
#include "support/check.h"
#include "tests/assay/mutations.h"
#include "tests/support/random_network.h"

namespace ingot::testing {
namespace {

// Why assay does not accept the files; empty if it does.
std::string refusal(const std::string& loops, const std::string& json_text) {
  const std::optional<assay::Json> json = assay::parse_json(json_text);
  if (!json) return "no JSON";
  try {
    return assay::find_lie(*json, assay::read_loops(loops));
  } catch (const assay::Damage& damage) {
    return damage.what();
  } catch (const assay::TooLarge& limit) {
    return limit.what();
  }
}

std::vector<SampleModel> all_models() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 0; seed < 12; ++seed) models.push_back(random_network(seed));
  return models;
}

// With all kinds of memory: the caller's, the arena alone, what the caller lends, pools.
std::vector<CompileOptions> all_ways(const std::string& name) {
  using Io = EmitOptions::Io;
  return {{.name = name},
          {.name = name, .io = Io::kArena},
          {.name = name, .io = Io::kArena, .reuse_inputs = true},
          {.name = name, .scratch_in_outputs = true},
          {.name = name, .reuse_inputs = true, .scratch_in_outputs = true},
          {.name = name, .io = Io::kArena, .reuse_inputs = true, .pools = {{"fast", 150}}},
          {.name = name,
           .reuse_inputs = true,
           .scratch_in_outputs = true,
           .pools = {{"fast", 64}, {"middle", 500}}}};
}

std::vector<Judged> all_judged() {
  std::vector<Judged> all;
  for (const SampleModel& model : all_models()) {
    for (const CompileOptions& options : all_ways(model.name)) {
      const Result<Compiled> compiled = compile(model.file, options);
      if (!compiled) throw InternalError(model.name + " does not compile");
      all.push_back(judged(*compiled, options));
    }
  }
  return all;
}

TEST(Assay, AcceptsWhatIsCompiled) {
  for (const Judged& original : all_judged()) {
    EXPECT_EQ(refusal(print(original.program), to_text(original.json)), "") << original.name;
  }
}

TEST(Assay, RejectsMutantsThatGoWrong) {
  const char* const wanted = std::getenv("INGOT_MUTANTS");
  const int64_t count = wanted ? std::strtoll(wanted, nullptr, 10) : 10'000;
  const std::vector<Judged> originals = all_judged();
  Random random(7);
  int64_t wrong = 0;
  int64_t missed = 0;
  int64_t unclear = 0;
  std::map<std::string, std::pair<int64_t, int64_t>> right;  // refused, of all, by kind
  while (wrong < count) {
    const Judged& original = random.pick(originals);
    const Mutant mutant = mutated(original, random);
    std::string why = "a claim that contradicts itself";
    const std::optional<bool> bad =
        mutant.is_lie ? std::optional(true) : goes_wrong(mutant, original, why);
    const std::string refused = refusal(mutant.loops, to_text(mutant.json));
    if (!bad) {
      ++unclear;
    } else if (!*bad) {
      auto& [refusals, all] = right[mutant.kind.substr(0, mutant.kind.find(' '))];
      refusals += refused.empty() ? 0 : 1;
      ++all;
    } else {
      ++wrong;
      if (!refused.empty()) continue;
      ++missed;
      ADD_FAILURE() << original.name << ": " << mutant.kind << "\nis accepted: " << why;
    }
  }
  std::string kinds;
  for (const auto& [kind, counts] : right) {
    kinds += fmt::format(" {} {}/{}", kind, counts.first, counts.second);
  }
  fmt::print("{} wrong, {} missed, {} unclear; refused though they go right:{}\n", wrong, missed,
             unclear, kinds);
  // Moving a buffer to where nothing is, is no lie.
  EXPECT_LT(right["move"].first * 10, right["move"].second);
}

}  // namespace
}  // namespace ingot::testing
