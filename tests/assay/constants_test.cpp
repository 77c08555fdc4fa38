// SPDX-License-Identifier: Apache-2.0
// assay against wrong constants of requantisations and sums: changed in the JSON alone, and in the
// JSON and the program's tables alike, so that only the arithmetic can tell.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "assay/judge.h"
#include "loop/text.h"
#include "support/check.h"
#include "tests/assay/mutations.h"
#include "tests/support/sample_models.h"
#include "tests/support/sample_network.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;

std::string lie_in(const loop::Program& program, const Json& json) {
  const std::optional<assay::Json> read = assay::parse_json(to_text(json));
  if (!read) return "no JSON";
  return assay::find_lie(*read, assay::read_loops(print(program)));
}

Judged compiled(const SampleModel& model, Rounding rounding, const std::string& target = "c99") {
  const CompileOptions options = {.name = model.name, .target = target, .rounding = rounding};
  const Result<Compiled> result = compile(model.file, options);
  if (!result) throw InternalError(model.name + " does not compile");
  return judged(*result, options);
}

std::vector<Judged> all_compiled() {
  std::vector<Judged> all;
  for (const SampleModel& model : sample_models()) {
    for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle, Rounding::kFloat}) {
      all.push_back(compiled(model, rounding));
    }
  }
  return all;
}

// The number at `i` of a list, which may be written as text, with `change` added.
void add_to(Json& list, size_t i, int64_t change) {
  if (list[i].is_string()) {
    list[i] =
        std::to_string(std::strtoll(list[i].get<std::string>().c_str(), nullptr, 10) + change);
  } else {
    list[i] = list[i].get<int64_t>() + change;
  }
}

// The same in the program's constant.
void add_to_table(loop::Program& program, const std::string& name, size_t i, int64_t change) {
  const auto buffer = std::ranges::find(program.buffers, name, &loop::Buffer::name);
  ASSERT_NE(buffer, program.buffers.end()) << name;
  if (buffer->dtype == DType::kInt64) {
    std::vector<int64_t> values = buffer->data->as<int64_t>();
    values.at(i) += change;
    buffer->data = Bytes::of(values);
  } else {
    std::vector<int32_t> values = buffer->data->as<int32_t>();
    values.at(i) += static_cast<int32_t>(change);
    buffer->data = Bytes::of(values);
  }
}

struct Count {
  int64_t formulas = 0;
  int64_t tables = 0;
  int64_t sums = 0;
};

// An offset that is a whole unit too large gives another output wherever the clamp does not.
void try_offsets(const Judged& original, size_t op, Count& count) {
  const Json& stated = original.json["operators"][op]["requantisation"];
  if (!stated["proved"].get<bool>() || stated["lowest"] == stated["highest"]) return;
  const int64_t unit = int64_t{1} << stated["shift"].get<int64_t>();
  for (size_t c = 0; c < stated["offsets"].size(); ++c) {
    ++count.formulas;
    Json json = original.json;
    Json& changed = json["operators"][op]["requantisation"];
    add_to(changed["offsets"], c, unit);
    loop::Program program = original.program;
    if (stated["tables"].contains("offsets")) {
      ++count.tables;
      EXPECT_THAT(lie_in(program, json), HasSubstr("requantisation of")) << "the JSON alone";
      add_to_table(program, stated["tables"]["offsets"].get<std::string>(), c, unit);
    }
    EXPECT_THAT(lie_in(program, json), HasSubstr("that are wrong for accumulator"))
        << original.name << " operator " << op << " channel " << c;
  }
}

void try_multipliers(const Judged& original, size_t op) {
  const Json& stated = original.json["operators"][op]["requantisation"];
  if (!stated["proved"].get<bool>()) return;
  for (size_t c = 0; c < stated["multipliers"].size(); ++c) {
    const int64_t multiplier = stated["multipliers"][c].get<int64_t>();
    if (multiplier == 0) continue;  // the output is one number
    Json json = original.json;
    Json& changed = json["operators"][op]["requantisation"];
    add_to(changed["multipliers"], c, -multiplier / 2);
    loop::Program program = original.program;
    if (stated["tables"].contains("multipliers")) {
      add_to_table(program, stated["tables"]["multipliers"].get<std::string>(), c, -multiplier / 2);
    }
    EXPECT_THAT(lie_in(program, json), HasSubstr("that are wrong for accumulator"))
        << original.name << " operator " << op << " channel " << c;
  }
}

TEST(Assay, RejectsWrongConstants) {
  Count count;
  for (const Judged& original : all_compiled()) {
    EXPECT_EQ(lie_in(original.program, original.json), "") << original.name;
    const Json& operators = original.json["operators"];
    for (size_t op = 0; op < operators.size(); ++op) {
      if (!operators[op].contains("requantisation")) continue;
      try_offsets(original, op, count);
      try_multipliers(original, op);
    }
  }
  EXPECT_GT(count.formulas, 50);
  EXPECT_GT(count.tables, 20);
}

TEST(Assay, RejectsWrongSums) {
  int64_t sums = 0;
  for (const Judged& original : all_compiled()) {
    const Json& operators = original.json["operators"];
    for (size_t op = 0; op < operators.size(); ++op) {
      if (!operators[op].contains("sums")) continue;
      ++sums;
      const Json& stated = operators[op]["sums"][0];
      const int64_t unit = int64_t{1} << stated["shift"].get<int64_t>();
      for (const auto& [key, change] : {std::pair<const char*, int64_t>{"offset", unit},
                                        {"x_multiplier", unit / 16},
                                        {"z_multiplier", -unit / 16},
                                        {"base", 1}}) {
        Json json = original.json;
        Json& number = json["operators"][op]["sums"][0][key];
        number = number.get<int64_t>() + change;
        EXPECT_THAT(lie_in(original.program, json), HasSubstr("of a sum in")) << key;
      }
    }
  }
  EXPECT_GT(sums, 2);
}

// Sums of operands whose scales are far apart in their last digits.
SampleModel sums_of_many_scales() {
  SampleNetwork net(77);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 8});
  const int64_t a = w.add("a", x, x, per_tensor(0.10907F, 4));
  const int64_t b = w.add("b", x, x, per_tensor(0.04123F, -128));
  for (int i = 0; i < 16; ++i) {
    const float scale = 0.0191F + 0.00231F * static_cast<float>(i);
    w.output(w.add("y" + std::to_string(i), a, b, per_tensor(scale, -17)));
  }
  return {"sums", w.bytes()};
}

TEST(Assay, RejectsWrongTablesOfSums) {
  int64_t sums = 0;
  for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
    const Judged original = compiled(sums_of_many_scales(), rounding, "cortex-m4");
    const Json& operators = original.json["operators"];
    for (size_t op = 0; op < operators.size(); ++op) {
      if (!operators[op].contains("sums") || !operators[op]["sums"][0].contains("z_offsets")) {
        continue;
      }
      ++sums;
      const std::string table = operators[op]["sums"][0]["z_offsets_table"].get<std::string>();
      const int64_t unit = int64_t{1} << operators[op]["sums"][0]["shift"].get<int64_t>();
      for (const size_t i : {size_t{100}, size_t{130}}) {
        Json json = original.json;
        add_to(json["operators"][op]["sums"][0]["z_offsets"], i, unit);
        EXPECT_THAT(lie_in(original.program, json), HasSubstr("other numbers than " + table));
        loop::Program program = original.program;
        add_to_table(program, table, i, unit);
        EXPECT_THAT(lie_in(program, json), HasSubstr("constants that are wrong"));
      }
      Json json = original.json;
      json["operators"][op]["sums"][0]["z_offsets"].erase(0);
      EXPECT_THAT(lie_in(original.program, json), HasSubstr("no offset for each operand"));
    }
  }
  EXPECT_GT(sums, 0);
}

// What else is stated: each of these changes contradicts the rest.
TEST(Assay, RejectsOtherStatementsOfRequantisation) {
  const Judged original = compiled(dense_chain(), Rounding::kDouble);
  struct Row {
    const char* pointer;
    Json value;
    const char* sentence;
  };
  const Row rows[] = {
      {"/options/rounding", "none", "no rounding that is known"},
      {"/operators/0/requantisation/accumulators/low/0", -3000000000, "leave int32"},
      {"/operators/0/requantisation/accumulators/high", Json::array({1}), "range of accumulators"},
      {"/operators/0/requantisation/proved", false, "unproved constants"},
      {"/operators/0/requantisation/proved", nullptr, "neither a proof"},
      {"/operators/0/requantisation/shift", 63, "no amount to shift by"},
      {"/operators/0/requantisation/output_scale", 0, "no scale"},
      {"/operators/0/requantisation/zero_point", 1000000, "no range"},
      {"/operators/0/requantisation/offsets/0", "12x", "no number"},
      {"/operators/0/requantisation/multipliers/0", -1, "not of int32"},
  };
  for (const Row& row : rows) {
    Json json = original.json;
    json[Json::json_pointer(row.pointer)] = row.value;
    EXPECT_THAT(lie_in(original.program, json), HasSubstr(row.sentence)) << row.pointer;
  }
}

}  // namespace
}  // namespace ingot::testing
