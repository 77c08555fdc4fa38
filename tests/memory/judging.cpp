// SPDX-License-Identifier: Apache-2.0
#include "tests/memory/judging.h"

#include "assay/judge.h"
#include "assay/lexer.h"
#include "assay/machine.h"
#include "driver/vectors.h"
#include "support/check.h"

namespace ingot::testing {

Compiled compiled_with(const SampleModel& model, const CompileOptions& options) {
  Result<Compiled> compiled = compile(model.file, options);
  if (!compiled) throw InternalError(model.name + ": " + compiled.error().front().what);
  return *std::move(compiled);
}

std::string text_of(const Compiled& compiled, std::string_view suffix) {
  for (const OutputFile& file : compiled.files) {
    if (file.name.ends_with(suffix)) return file.bytes.str();
  }
  return "";
}

std::string verdict(const std::string& json, const std::string& loops) {
  const std::optional<assay::Json> parsed = assay::parse_json(json);
  if (!parsed) return "no JSON";
  try {
    return assay::find_lie(*parsed, assay::read_loops(loops));
  } catch (const assay::Damage& damage) {
    return damage.what();
  } catch (const assay::TooLarge& limit) {
    return limit.what();
  }
}

std::string verdict(const Compiled& compiled) {
  return verdict(text_of(compiled, ".json"), text_of(compiled, ".loops"));
}

std::vector<toolchain::GoldenVector> vectors_of(const Compiled& compiled, int64_t count) {
  return random_vectors(compiled.model, Rounding::kDouble, 5, count);
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  CHECK(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace ingot::testing
