// SPDX-License-Identifier: Apache-2.0
// assay against lies: a small compiled model, written down here, one change, and the sentence that
// must come out. What the compiler really writes is accepted, for every sample network.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "assay/judge.h"
#include "assay/lexer.h"
#include "driver/compile.h"
#include "support/check.h"
#include "target/target.h"
#include "tests/support/random_network.h"
#include "tests/support/sample_models.h"

namespace ingot::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// t2 and t3 are the halves of t1.
const char* const kLoops = R"(program net
buffer x int8[8] input align 1 tensor "x"
buffer y int8[16] output align 1 tensor "y"
buffer w int8[8] constant align 4 data 0102030405060708
buffer t0 int8[8] arena align 4 offset 16 tensor "a"
buffer t1 int8[16] arena align 4 offset 0 tie 0 0 tensor "whole"
buffer t2 int8[8] arena align 1 offset 0 tie 0 0 tensor "left"
buffer t3 int8[8] arena align 1 offset 8 tie 0 8 tensor "right"
kernel eight(x: int8[8] read align 1, w: int8[8] constant align 1, y: int8[8] write align 1) "" {
  for i = 0 to 8 {
    y[i] = x[i]
  }
}
kernel sixteen(x: int8[16] read align 1, y: int8[16] write align 1) "" {
  for i = 0 to 16 {
    y[i] = x[i]
  }
}
run {
  call eight(x, w, t0) note "a" copy macs 0 operators [0]
  call eight(t0, w, t2) note "left" copy macs 0 operators [1]
  call eight(t0, w, t3) note "right" copy macs 0 operators [2]
  call sixteen(t1, y) note "y" copy macs 0 operators [3]
}
)";

const char* const kJson = R"({
  "schema_version": 1,
  "name": "net",
  "model_sha256": "aeea436800704fce17b17292e4412630ad856e9d777c044c64ef748a880bd0ae",
  "target": "c99",
  "stack_bytes": null,
  "options": {"io": "caller", "reuse_inputs": false},
  "arena_bytes": 24,
  "arena_alignment": 4,
  "weights_bytes": 8,
  "macs": 0,
  "macs_removed": 0,
  "inputs": [{"name": "x", "c_name": "x", "dtype": "int8", "bytes": 8, "offset_bytes": null}],
  "outputs": [{"name": "y", "c_name": "y", "dtype": "int8", "bytes": 16, "offset_bytes": null}],
  "operators": [
    {"name": "a", "kind": "copy", "macs": 0, "function": "net_eight", "operators": [0]},
    {"name": "left", "kind": "copy", "macs": 0, "function": "net_eight", "operators": [1]},
    {"name": "right", "kind": "copy", "macs": 0, "function": "net_eight", "operators": [2]},
    {"name": "y", "kind": "copy", "macs": 0, "function": "net_sixteen", "operators": [3]}
  ],
  "plan": {
    "order": [0, 1, 2, 3],
    "buffers": [
      {"name": "t0", "tensor": "a",
       "size_bytes": 8, "alignment": 4, "first": 0, "last": 3, "offset_bytes": 16},
      {"name": "t1", "tensor": "whole", "tie_group": 0, "tie_offset_bytes": 0,
       "size_bytes": 16, "alignment": 4, "first": 3, "last": 4, "offset_bytes": 0},
      {"name": "t2", "tensor": "left", "tie_group": 0, "tie_offset_bytes": 0,
       "size_bytes": 8, "alignment": 1, "first": 1, "last": 4, "offset_bytes": 0},
      {"name": "t3", "tensor": "right", "tie_group": 0, "tie_offset_bytes": 8,
       "size_bytes": 8, "alignment": 1, "first": 2, "last": 4, "offset_bytes": 8}
    ],
    "distances": [],
    "lower_bound_bytes": 24,
    "optimal": false,
    "packing_optimal": true,
    "order_optimal": false,
    "within": {"overlap": false, "streaming": false},
    "witness": {"time": 2, "buffers": ["t0", "t2", "t3"], "load_bytes": 24, "searched": false}
  }
})";

// What assay says of the two texts; empty if all claims hold.
std::string verdict(const std::string& json, const std::string& loops) {
  const std::optional<assay::Json> parsed = assay::parse_json(json);
  if (!parsed) return "no JSON";
  try {
    return assay::find_lie(*parsed, assay::read_loops(loops));
  } catch (const assay::Damage& damage) {
    return damage.what();
  }
}

struct Change {
  const char* from;
  const char* to;
};

std::string changed(std::string text, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const size_t at = text.find(change.from);
    CHECK(at != std::string::npos);
    text.replace(at, std::string(change.from).size(), change.to);
  }
  return text;
}

struct Lie {
  const char* title;
  std::vector<Change> json;
  std::vector<Change> loops;
  const char* sentence;
};

std::vector<Lie> lies_of_the_json() {
  return {
      {"another place",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 12)"}},
       {},
       "the JSON states another offset_bytes of t0"},
      {"another size",
       {{R"("size_bytes": 8)", R"("size_bytes": 7)"}},
       {},
       "the JSON states another size_bytes of t0"},
      {"another alignment",
       {{R"("alignment": 4)", R"("alignment": 2)"}},
       {},
       "the JSON states another alignment of t0"},
      {"dies early", {{R"("last": 3)", R"("last": 2)"}}, {}, "the JSON states another last of t0"},
      {"begins late",
       {{R"("first": 2)", R"("first": 3)"}},
       {},
       "the JSON states another first of t3"},
      {"another name",
       {{R"("name": "t3")", R"("name": "t4")"}},
       {},
       "the JSON states another name of t3"},
      {"the same name twice",
       {{R"("name": "t3")", R"("name": "t2")"}},
       {},
       "the JSON states another name of t3"},
      {"a number that is none",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 16.5)"}},
       {},
       "the JSON states another offset_bytes of t0"},
      {"no plan", {{R"("plan")", R"("plans")"}}, {}, "the JSON states another order"},
      {"no arena", {{R"("arena_bytes": 24,)", ""}}, {}, "t0 is outside the arena"},
      {"a larger arena",
       {{R"("arena_bytes": 24)", R"("arena_bytes": 28)"}},
       {},
       "the JSON states another arena_bytes of the program"},
      {"a smaller arena",
       {{R"("arena_bytes": 24)", R"("arena_bytes": 20)"}},
       {},
       "t0 is outside the arena"},
      {"an arena aligned less than its buffers",
       {{R"("arena_alignment": 4)", R"("arena_alignment": 2)"}},
       {},
       "the JSON states another arena_alignment of the program"},
      {"no hash of the model", {{"aeea", "xxxx"}}, {}, "the JSON states no hash of the model"},
      {"half a hash", {{"aeea43680070", ""}}, {}, "the JSON states no hash of the model"},
      {"a bound of the stack where none is painted",
       {{R"("stack_bytes": null)", R"("stack_bytes": 400)"}},
       {},
       "the JSON states a bound of the stack of a target without one"},
      {"no bound of the stack",
       {{R"("target": "c99")", R"("target": "cortex-m4")"}},
       {},
       "the JSON states no bound of the stack"},
      {"less stack than arguments take",
       {{R"("target": "c99")", R"("target": "cortex-m4")"},
        {R"("stack_bytes": null)", R"("stack_bytes": 23)"}},
       {},
       "the JSON states less stack than arguments and local arrays take"},
      {"a larger alignment of the arena",
       {{R"("arena_alignment": 4)", R"("arena_alignment": 8)"}},
       {},
       "the JSON states another arena_alignment of the program"},
      {"no bound",
       {{R"("lower_bound_bytes": 24,)", ""}},
       {},
       "the JSON states no lower bound with a witness"},
      {"a bound above the arena",
       {{R"("lower_bound_bytes": 24)", R"("lower_bound_bytes": 25)"}},
       {},
       "the lower bound is above the arena"},
      {"the best without the best order",
       {{R"("optimal": false)", R"("optimal": true)"}},
       {},
       "optimal is claimed without an optimal packing and order"},
      {"a witness of another time",
       {{R"("time": 2)", R"("time": 1)"}},
       {},
       "the witness does not name what is alive then"},
      {"a witness that needs more",
       {{R"("load_bytes": 24)", R"("load_bytes": 25)"}},
       {},
       "the witness needs 24 bytes, not what is stated"},
      {"an operator of another kind",
       {{R"("kind": "copy")", R"("kind": "pad")"}},
       {},
       "the JSON states operator 0 otherwise than the program"},
      {"a port of another size",
       {{R"("bytes": 16)", R"("bytes": 15)"}},
       {},
       "the JSON states another size of y"},
  };
}

// Both files tell it.
std::vector<Lie> lies_of_both() {
  return {
      {"two that are alive share bytes",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 12)"},
        {R"("arena_bytes": 24)", R"("arena_bytes": 20)"}},
       {{"offset 16", "offset 12"}},
       "t0 and t3 are alive together and share bytes"},
      {"a part that moved",
       {{R"("offset_bytes": 8})", R"("offset_bytes": 12})"}},
       {{"offset 8 tie 0 8", "offset 12 tie 0 8"}},
       "tied, but not at their distance"},
      {"misaligned",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 18)"},
        {R"("arena_bytes": 24)", R"("arena_bytes": 26)"}},
       {{"offset 16", "offset 18"}},
       "t0 is misaligned"},
      {"before the arena",
       {{R"("offset_bytes": 16)", R"("offset_bytes": -4)"}},
       {{"offset 16", "offset -4"}},
       "t0 is outside the arena"},
      {"behind the arena",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 20)"}},
       {{"offset 16", "offset 20"}},
       "t0 is outside the arena"},
      {"far behind the arena",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 9223372036854775804)"}},
       {{"offset 16", "offset 9223372036854775804"}},
       "t0 is outside the arena"},
      {"optimal with a hole",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 20)"},
        {R"("arena_bytes": 24)", R"("arena_bytes": 28)"}},
       {{"offset 16", "offset 20"}},
       "the plan is called optimal, but the arena is above its lower bound"},
      {"a bound that nothing reaches",
       {{R"("offset_bytes": 16)", R"("offset_bytes": 20)"},
        {R"("arena_bytes": 24)", R"("arena_bytes": 28)"},
        {R"("lower_bound_bytes": 24)", R"("lower_bound_bytes": 28)"}},
       {{"offset 16", "offset 20"}},
       "the lower bound has no witness: it shows 24 bytes"},
  };
}

std::vector<Lie> lies_of_the_loops() {
  return {
      {"no place", {}, {{" offset 16", ""}}, "t0 has no place in the arena"},
      {"the caller's buffer in the arena",
       {},
       {{"input align 1", "input align 1 offset 0"}},
       "x has a place in the arena, where it does not belong"},
      {"a buffer too small",
       {},
       {{"t0 int8[8]", "t0 int8[7]"}},
       "eight needs more of t0 than it has"},
      {"a buffer that is not there",
       {},
       {{"buffer t3 int8[8] arena align 1 offset 8 tie 0 8 tensor \"right\"\n", ""}},
       "the runner uses t3, which does not exist"},
      {"behind a buffer's end",
       {},
       {{"sixteen(t1, y)", "sixteen(t1 + 1, y)"}},
       "sixteen needs more of t1 than it has"},
      {"far behind a buffer's end",
       {},
       {{"sixteen(t1, y)", "sixteen(t1 + 9223372036854775807, y)"}},
       "sixteen needs more of t1 than it has"},
      {"stores to what it only reads",
       {},
       {{"y: int8[8] write", "y: int8[8] read"}},
       "eight stores to y, which it says it only reads"},
      {"writes a constant",
       {},
       {{"eight(x, w, t0)", "eight(x, w, w)"}},
       "eight writes the constant w"},
      {"writes an input",
       {},
       {{"eight(t0, w, t2)", "eight(t0, w, x)"}},
       "eight writes the caller's input x"},
      {"a kernel that is not there",
       {},
       {{"call sixteen", "call seventeen"}},
       "the runner calls seventeen, which does not exist"},
      {"an argument too few",
       {},
       {{"eight(t0, w, t2)", "eight(t0, t2)"}},
       "the runner calls eight with another number of arguments"},
      {"a kernel twice",
       {},
       {{"kernel sixteen", "kernel eight"}},
       "line 19 of the loop program: two kernels of a name"},
      {"a type that is none",
       {},
       {{"t0 int8", "t0 int9"}},
       "line 5 of the loop program: expected a type of elements"},
      {"a size beyond all bounds",
       {},
       {{"x int8[8]", "x int64[9223372036854775807]"}},
       "line 2 of the loop program: an impossible number of elements"},
      {"no size", {}, {{"t0 int8[8]", "t0 int8"}}, "line 5 of the loop program: expected ["},
      {"a step left out",
       {},
       {{"  call eight(t0, w, t3) note \"right\" copy macs 0 operators [2]\n", ""}},
       "the JSON states operator 2 otherwise than the program"},
  };
}

// t3 begins in the step in which t0 ends, and its elements may follow four bytes behind.
const std::vector<Change> kOverlapInJson = {
    {R"("overlap": false)", R"("overlap": true)"},
    {R"("distances": [])", R"("distances": [{"output": "t3", "input": "t0", "step": 2,)"
                           R"( "forward": 4, "reverse": null, "runs": "forward"}])"},
    {R"("offset_bytes": 16)", R"("offset_bytes": 12)"},
    {R"("arena_bytes": 24)", R"("arena_bytes": 20)"},
    {R"("lower_bound_bytes": 24)", R"("lower_bound_bytes": 20)"},
    {R"("load_bytes": 24)", R"("load_bytes": 20)"}};
const std::vector<Change> kOverlapInLoops = {{"offset 16", "offset 12"}};

std::vector<Lie> lies_about_overlap() {
  return {
      {"none allowed",
       {{R"("overlap": true)", R"("overlap": false)"}},
       {},
       "distances are stated where no overlap is allowed"},
      {"not stated",
       {{R"("output": "t3")", R"("output": "t2")"}},
       {},
       "is of buffers that do not begin and end in its step"},
      {"nearer than stated",
       {{R"("forward": 4)", R"("forward": 5)"}},
       {},
       "t0 and t3 are alive together and share bytes"},
      {"in the other direction",
       {{R"("runs": "forward")", R"("runs": "reverse")"}},
       {},
       "t0 and t3 are alive together and share bytes"},
      {"in no direction", {{R"("runs": "forward")", R"("runs": "")"}}, {}, "has no direction"},
      {"in another step",
       {{R"("step": 2)", R"("step": 1)"}},
       {},
       "is of buffers that do not begin and end in its step"},
      {"in no step", {{R"("step": 2)", R"("step": 4)"}}, {}, "is of no step"},
      {"of nobody", {{R"("input": "t0")", R"("input": "x")"}}, {}, "is of no arena buffers"},
      {"still read later",
       {{R"("last": 3)", R"("last": 5)"}},
       {{"operators [3]\n", "operators [3]\n  call eight(t0, w, y)\n"}},
       "is of buffers that do not begin and end in its step"},
  };
}

TEST(Assay, JudgesOverlap) {
  const std::string json = changed(kJson, kOverlapInJson);
  const std::string loops = changed(kLoops, kOverlapInLoops);
  EXPECT_EQ(verdict(json, loops), "");
  for (const Lie& lie : lies_about_overlap()) {
    EXPECT_THAT(verdict(changed(json, lie.json), changed(loops, lie.loops)),
                HasSubstr(lie.sentence))
        << lie.title;
  }
}

TEST(Assay, AcceptsWhatIsTrue) { EXPECT_EQ(verdict(kJson, kLoops), ""); }

TEST(Assay, SaysWhatIsWrong) {
  for (const auto& lies : {lies_of_the_json(), lies_of_both(), lies_of_the_loops()}) {
    for (const Lie& lie : lies) {
      EXPECT_THAT(verdict(changed(kJson, lie.json), changed(kLoops, lie.loops)),
                  HasSubstr(lie.sentence))
          << lie.title;
    }
  }
}

// Every number of every buffer, one more and one less.
TEST(Assay, RefusesEveryChangedNumberOfABuffer) {
  const std::string json = kJson;
  const std::regex number(R"re("(size_bytes|alignment|first|last|offset_bytes)": (\d+))re");
  int64_t count = 0;
  for (std::sregex_iterator i(json.begin(), json.end(), number), end; i != end; ++i) {
    for (const int64_t step : {-1, 1}) {
      std::string lie = json;
      lie.replace(static_cast<size_t>(i->position(2)), static_cast<size_t>(i->length(2)),
                  std::to_string(std::stoll((*i)[2].str()) + step));
      EXPECT_THAT(verdict(lie, kLoops), StartsWith("the JSON states another")) << i->str();
      ++count;
    }
  }
  EXPECT_EQ(count, 2 * 4 * 5);
}

TEST(Assay, RefusesTruncatedFiles) {
  const std::string json = kJson;
  for (size_t size = 0; size < json.size(); ++size) {
    EXPECT_EQ(verdict(json.substr(0, size), kLoops), "no JSON") << size;
  }
  const std::string loops = kLoops;
  const size_t last_brace = loops.rfind('}');
  for (size_t size = 0; size <= last_brace; ++size) {
    const std::string said = verdict(kJson, loops.substr(0, size));
    EXPECT_THAT(said, HasSubstr("of the loop program: ")) << loops.substr(0, size);
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

std::string text_of(const Compiled& compiled, std::string_view suffix) {
  for (const OutputFile& file : compiled.files) {
    if (file.name.ends_with(suffix)) return file.bytes.str();
  }
  return "";
}

TEST(Assay, AcceptsWhatTheCompilerWrites) {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  for (uint64_t seed = 1; seed <= 60; ++seed) models.push_back(random_network(seed));
  for (const SampleModel& model : models) {
    for (const bool io_in_arena : {false, true}) {
      for (const bool reuse_inputs : {false, true}) {
        CompileOptions options{.name = model.name, .reuse_inputs = reuse_inputs};
        if (io_in_arena) options.io = EmitOptions::Io::kArena;
        const Result<Compiled> compiled = compile(model.file, options);
        ASSERT_TRUE(compiled.has_value()) << model.name;
        EXPECT_EQ(verdict(text_of(*compiled, ".json"), text_of(*compiled, ".loops")), "")
            << model.name << (io_in_arena ? ", io in the arena" : "")
            << (reuse_inputs ? ", inputs reused" : "");
      }
    }
  }
}

// Nothing is left to read of layers whose outputs are constant.
TEST(Assay, AcceptsConstantLayersOnEveryTarget) {
  const SampleModel model = constant_layers();
  for (const Target& target : all_targets()) {
    for (const bool reuse_inputs : {false, true}) {
      const Result<Compiled> compiled = compile(
          model.file, {.name = "m",
                       .target = target.name,
                       .io = reuse_inputs ? EmitOptions::Io::kArena : EmitOptions::Io::kCaller,
                       .reuse_inputs = reuse_inputs});
      ASSERT_TRUE(compiled.has_value());
      const std::string loops = text_of(*compiled, ".loops");
      EXPECT_EQ(verdict(text_of(*compiled, ".json"), loops), "") << target.name;
      for (const char* table : {"buffer b_weights", "buffer dense_weights"}) {
        EXPECT_EQ(loops.find(table), std::string::npos) << target.name << ": " << table;
      }
    }
  }
}

}  // namespace
}  // namespace ingot::testing
