// SPDX-License-Identifier: Apache-2.0
// --scratch-in-outputs: the caller's outputs hold inner values until they are written; and
// --reuse-inputs: so do inputs when they have been read. No byte beyond them is touched. Everything
// is compiled, built, run between guard bytes, interpreted with tags, and judged by assay.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/generated.h"
#include "driver/shadow.h"
#include "loop/memory.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "tests/memory/judging.h"
#include "tests/support/random_network.h"

namespace ingot::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Io = EmitOptions::Io;

std::vector<SampleModel> all_models() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 30; ++seed) models.push_back(random_network(seed));
  return models;
}

// Buffers of `program` that lie in outputs.
std::vector<const loop::Buffer*> borrowers(const loop::Program& program) {
  std::vector<const loop::Buffer*> found;
  for (const loop::Buffer& b : program.buffers) {
    if (!loop::lender_of(b).empty()) found.push_back(&b);
  }
  return found;
}

struct Lent {
  bool outputs = false;
  bool inputs = false;
};
constexpr Lent kLent[] = {{true, false}, {false, true}, {true, true}};

void expect_right_places(const loop::Program& program, Lent lent) {
  for (const loop::Buffer* b : borrowers(program)) {
    const loop::Buffer* port = loop::find_buffer(program, loop::lender_of(*b));
    ASSERT_NE(port, nullptr);
    EXPECT_TRUE((port->kind == loop::BufferKind::kOutput && lent.outputs) ||
                (port->kind == loop::BufferKind::kInput && lent.inputs));
    EXPECT_GE(*b->offset_bytes, 0);
    EXPECT_LE(*b->offset_bytes + b->size_bytes(), port->size_bytes());
    EXPECT_TRUE(b->dtype == port->dtype || loop::is_of_bytes(b->dtype));
    EXPECT_LE(b->alignment, size_in_bytes(port->dtype));
  }
}

TEST(Lent, EveryPlanIsAcceptedByAllJudges) {
  for (const Lent lent : kLent) {
    int64_t num_borrowers = 0;
    int64_t smaller = 0;
    for (const SampleModel& model : all_models()) {
      const std::string which =
          fmt::format("{} outputs {} inputs {}", model.name, lent.outputs, lent.inputs);
      const Compiled plain = compiled_with(model, {.name = model.name});
      const Compiled compiled = compiled_with(
          model,
          {.name = model.name, .reuse_inputs = lent.inputs, .scratch_in_outputs = lent.outputs});
      EXPECT_EQ(verdict(compiled), "") << which;
      EXPECT_THAT(shadow_violations(compiled, lent.inputs, vectors_of(compiled, 1)), IsEmpty())
          << which;
      EXPECT_LE(compiled.storage.arena_bytes, plain.storage.arena_bytes) << which;
      smaller += compiled.storage.arena_bytes < plain.storage.arena_bytes ? 1 : 0;
      expect_right_places(compiled.storage.program, lent);
      num_borrowers += std::ssize(borrowers(compiled.storage.program));
      const Result<loop::Program> read = loop::parse(text_of(compiled, ".loops"));
      ASSERT_TRUE(read.has_value());
      EXPECT_TRUE(loop::equal(*read, compiled.storage.program)) << which;
    }
    EXPECT_GT(num_borrowers, 30);
    EXPECT_GT(smaller, 10);
  }
}

TEST(Lent, TheCRunsBetweenGuardBytes) {
  std::vector<SampleModel> models = {outputs_of_different_sizes(), narrow_output_after_float(),
                                     output_read_later(), residual(), requantised()};
  for (uint64_t seed = 1; seed <= 6; ++seed) models.push_back(random_network(seed));
  for (const SampleModel& model : models) {
    CompileOptions options{.name = model.name,
                           .reuse_inputs = &model - models.data() >= 3,
                           .scratch_in_outputs = true};
    if (model.name == "residual") options.pools = {{"fast", 200}};
    const Compiled compiled = compiled_with(model, options);
    const Result<ValidationReport> report =
        validate(compiled, "c99", vectors_of(compiled, 2),
                 {"",
                  {"-O1", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
                   "-Werror", "-fsanitize=address,undefined"}});
    ASSERT_TRUE(report.has_value())
        << model.name << ::testing::PrintToString(report.error().front().notes);
    EXPECT_TRUE(report->all_is_well())
        << model.name << ::testing::PrintToString(report->violations);
  }
}

// With inputs and outputs in the arena the plan shares their bytes anyway.
TEST(Lent, ChangesNothingInTheArena) {
  for (const SampleModel& model : {residual(), outputs_of_different_sizes()}) {
    CompileOptions options{.name = model.name, .io = Io::kArena};
    const Compiled plain = compiled_with(model, options);
    options.scratch_in_outputs = true;
    const Compiled compiled = compiled_with(model, options);
    EXPECT_EQ(text_of(compiled, ".loops"), text_of(plain, ".loops"));
    EXPECT_EQ(verdict(compiled), "");
  }
}

// A network of which an inner value lies in an output.
struct Borrowing {
  std::string json;
  std::string loops;
  std::string line;  // of that value's buffer, up to its tensor
  const loop::Buffer* buffer = nullptr;
  std::string lender;  // the output that it lies in
  Compiled compiled;
};

Borrowing a_borrowing() {
  Borrowing b;
  for (const SampleModel& model : all_models()) {
    b.compiled = compiled_with(model, {.name = "net", .scratch_in_outputs = true});
    if (!borrowers(b.compiled.storage.program).empty()) break;
  }
  b.json = text_of(b.compiled, ".json");
  b.loops = text_of(b.compiled, ".loops");
  b.buffer = borrowers(b.compiled.storage.program).at(0);
  b.lender = loop::lender_of(*b.buffer);
  const size_t begin = b.loops.find("buffer " + b.buffer->name + " ");
  b.line = b.loops.substr(begin, b.loops.find(" tensor", begin) - begin);
  return b;
}

TEST(Lent, AssaySeesLies) {
  const Borrowing b = a_borrowing();
  ASSERT_EQ(verdict(b.json, b.loops), "");
  const std::string& name = b.buffer->name;
  const std::string place = fmt::format(" offset {} in {}", *b.buffer->offset_bytes, b.lender);
  ASSERT_THAT(b.line, HasSubstr(place));
  const auto with_line = [&](const std::string& line) { return changed(b.loops, b.line, line); };
  EXPECT_THAT(
      verdict(changed(b.json, "\"scratch_in_outputs\": true", "\"scratch_in_outputs\": false"),
              b.loops),
      HasSubstr("lies in the pool caller's " + b.lender + ", which does not exist"));
  EXPECT_THAT(verdict(b.json, with_line(changed(b.line, place, " offset 0 in nobody"))),
              HasSubstr("which does not exist"));
  EXPECT_THAT(verdict(b.json, with_line(changed(b.line, place,
                                                fmt::format(" offset 4000 in {}", b.lender)))),
              HasSubstr(name + " is outside the caller's " + b.lender));
  EXPECT_NE(verdict(b.json, with_line(changed(b.line, place, " offset 0"))), "");
  EXPECT_THAT(verdict(changed(b.json, "\"inside\": \"" + b.lender + "\"", "\"inside\": \"nobody\""),
                      b.loops),
              HasSubstr("another inside of"));
}

TEST(Lent, TheVerifierSeesWhatMayNotLieThere) {
  const Borrowing b = a_borrowing();
  const struct {
    std::string from;
    std::string to;
    const char* fault;
  } rows[] = {
      {" in " + b.lender, " in nobody", "is not the caller's"},
      {fmt::format("offset {} in", *b.buffer->offset_bytes), "offset 4000 in", "does not fit"},
      {"align 1", "align 4", "more alignment than"},
  };
  for (const auto& row : rows) {
    const Result<loop::Program> program =
        loop::parse(changed(b.loops, b.line, changed(b.line, row.from, row.to)));
    ASSERT_TRUE(program.has_value()) << row.to;
    EXPECT_THAT(loop::find_faults(*program, false), Contains(HasSubstr(row.fault))) << row.to;
  }
}

}  // namespace
}  // namespace ingot::testing
