// SPDX-License-Identifier: Apache-2.0
#include "assay/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "assay/distances.h"

namespace ingot::assay {
namespace {

using ::testing::HasSubstr;

// x, in the arena, becomes t and t becomes y; each reads its input before it is overwritten.
constexpr const char* kLoops = R"(program p
buffer x int8[4] input align 1 offset 0 tensor "in" type int8[1,4] scale 0.5 zero_point -3
buffer y int8[4] output align 1 offset 0 tensor "out" type int8[1,4] scale 0.5 zero_point -3
buffer w int8[4] constant align 1 data 01020304
buffer t int16[4] arena align 2 offset 4 tensor "inner"
kernel widen(x: int8[4] read align 1, w: int8[4] constant align 1, y: int16[4] write align 2) "" {
  for i = 0 to 4 {
    y[i] = int16(int32(x[i]) * int32(w[i]))
  }
}
kernel narrow(x: int16[4] read align 2, y: int8[4] write align 1) "" {
  for i = 0 to 4 {
    y[i] = int8(int32(x[i]) >> 8)
  }
}
run {
  call widen(x, w, t) note "first" mul macs 4 operators [0]
  call narrow(t, y) note "second" shift macs 0 operators [1, 2]
}
)";
constexpr const char* kJson = R"({"schema_version": 1, "name": "p", "target": "c99",
"model_sha256": "aeea436800704fce17b17292e4412630ad856e9d777c044c64ef748a880bd0ae",
"options": {"io": "arena", "reuse_inputs": true}, "arena_bytes": 12, "arena_alignment": 2,
"weights_bytes": 4, "macs": 4, "macs_removed": 0,
"inputs": [{"name": "in", "c_name": "x", "dtype": "int8", "shape": [1, 4], "bytes": 4,
            "scale": 0.5, "zero_point": -3, "offset_bytes": 0}],
"outputs": [{"name": "out", "c_name": "y", "dtype": "int8", "shape": [1, 4], "bytes": 4,
             "scale": 0.5, "zero_point": -3, "offset_bytes": 0}],
"operators": [{"name": "first", "kind": "mul", "macs": 4, "function": "p_widen", "operators": [0]},
  {"name": "second", "kind": "shift", "macs": 0, "function": "p_narrow", "operators": [1, 2]}],
"plan": {"order": [0, 1], "buffers": [
  {"name": "x", "tensor": "in", "size_bytes": 4, "alignment": 1, "first": 0, "last": 1,
   "offset_bytes": 0},
  {"name": "y", "tensor": "out", "size_bytes": 4, "alignment": 1, "first": 1, "last": 2,
   "offset_bytes": 0},
  {"name": "t", "tensor": "inner", "size_bytes": 8, "alignment": 2, "first": 0, "last": 2,
   "offset_bytes": 4}],
 "distances": [
  {"output": "t", "input": "x", "step": 0, "forward": 3, "reverse": null, "runs": "forward"},
  {"output": "y", "input": "t", "step": 1, "forward": -1, "reverse": 3, "runs": "forward"}],
 "lower_bound_bytes": 8, "optimal": false, "packing_optimal": false, "order_optimal": false,
 "within": {"overlap": true, "streaming": false},
 "witness": {"time": 1, "buffers": ["y", "t"], "load_bytes": 8, "searched": false}}})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string lie_of(const std::string& json, const std::string& loops) {
  const std::optional<Json> parsed = parse_json(json);
  return parsed ? find_lie(*parsed, read_loops(loops)) : "no JSON";
}

TEST(Judge, AcceptsTheTruth) { EXPECT_EQ(lie_of(kJson, kLoops), ""); }

TEST(Judge, LiesOfTheJson) {
  struct {
    const char* from;
    const char* to;
    const char* lie;
  } const rows[] = {
      {"\"name\": \"p\"", "\"name\": \"q\"", "another name than the program's"},
      {"\"arena_bytes\": 12", "\"arena_bytes\": 16", "another arena_bytes of the program"},
      {"\"arena_bytes\": 12", "\"arena_bytes\": 8", "t is outside the arena"},
      {"\"arena_alignment\": 2", "\"arena_alignment\": 1", "another arena_alignment"},
      {"\"weights_bytes\": 4", "\"weights_bytes\": 5", "another size of the weights"},
      {"\"macs\": 4, \"macs_removed\"", "\"macs\": 5, \"macs_removed\"",
       "another number of multiplications"},
      {"\"macs_removed\": 0", "\"macs_removed\": 5", "multiplications that were removed"},
      {"\"macs_removed\": 0",
       R"("macs_removed": 5, "shrinking": {"macs_before": 9, "macs_after": 5})",
       "another number of multiplications that were removed"},
      {"\"macs_removed\": 0",
       R"("macs_removed": 5, "shrinking": {"macs_before": 9, "macs_after": 4, "tensors": [
          {"name": "h", "channels": 3, "removed": [3], "values": [1], "accumulators": [null]}]})",
       "a removed channel that does not exist of h"},
      {"\"macs_removed\": 0",
       R"("macs_removed": 5, "shrinking": {"macs_before": 9, "macs_after": 4, "tensors": [
          {"name": "h", "channels": 3, "removed": [1], "values": [], "accumulators": [null]}]})",
       "removed channels without their proof of h"},
      {"\"macs_removed\": 0",
       R"("macs_removed": 5, "shrinking": {"macs_before": 9, "macs_after": 4, "tensors": [
          {"name": "h", "channels": 3, "removed": [1], "values": [1], "accumulators": [[3, 2]]}]})",
       "no interval of an accumulator of h"},
      {"\"shape\": [1, 4]", "\"shape\": [4, 1]", "another shape of x"},
      {"\"scale\": 0.5", "\"scale\": 0.25", "another scale of x"},
      {"\"zero_point\": -3", "\"zero_point\": 3", "another zero point of x"},
      {"p_widen", "p_narrow", "operator 0 otherwise"},
      {"[0, 1]", "[1, 0]", "another order"},
      {"\"first\": 1", "\"first\": 0", "another first of y"},
      {"\"size_bytes\": 8", "\"size_bytes\": 6", "another size_bytes of t"},
      {"\"io\": \"arena\"", "\"io\": \"caller\"", "x has a place in the arena"},
      {"\"reuse_inputs\": true", "\"reuse_inputs\": false", "another last of x"},
      {"\"forward\": -1", "\"forward\": -2", "is -2, but the run needs -1"},
      {"\"forward\": -1", "\"forward\": 0", "is 0, but -1 is enough"},
      {"\"reverse\": 3", "\"reverse\": 4", "turned round, is 4, but 3 is enough"},
      {"\"forward\": -1", "\"forward\": null", "is 4, but -1 is enough"},
      {"\"step\": 1", "\"step\": 0", "do not begin and end in its step"},
      {"\"forward\": -1, \"reverse\": 3, \"runs\": \"forward\"",
       "\"forward\": -1, \"reverse\": 3, \"runs\": \"back\"", "has no direction"},
      {"\"overlap\": true", "\"overlap\": false", "where no overlap is allowed"},
      {"\"streaming\": false", "\"streaming\": true", "claims streaming"},
      {"\"lower_bound_bytes\": 8", "\"lower_bound_bytes\": 13", "above the arena"},
      {"\"lower_bound_bytes\": 8", "\"lower_bound_bytes\": 9", "has no witness"},
      {"\"load_bytes\": 8", "\"load_bytes\": 9", "the witness needs 8 bytes"},
      {"[\"y\", \"t\"]", "[\"t\"]", "does not name what is alive"},
      {"\"packing_optimal\": false", "\"packing_optimal\": true", "above its lower bound"},
      {"\"order_optimal\": false", "\"order_optimal\": true", "other orders may need less"},
      {"\"time\": 1", "\"time\": null", "no lower bound with a witness"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(lie_of(replaced(kJson, row.from, row.to), kLoops), HasSubstr(row.lie)) << row.to;
  }
}

TEST(Judge, LiesOfTheProgram) {
  struct {
    const char* from;
    const char* to;
    const char* lie;
  } const rows[] = {
      {"call narrow(t, y)", "call narrow(t, x)", "another last of x"},
      {"call widen(x, w, t)", "call widen(x, x, t)", "needs a constant where it gets x"},
      {"call widen(x, w, t)", "call widen(x, w)", "another number of arguments"},
      {"call widen(x, w, t)", "call nothing(x, w, t)", "which does not exist"},
      {"call widen(x, w, t)", "call widen(x + 1, w, t)", "needs more of x than it has"},
      {"int16[4] arena align 2 offset 4", "int16[4] arena align 1 offset 4", "aligned to less"},
      {"for i = 0 to 4 {", "for i = 0 to 5 {", "touches element 4"},
      {"x[i]) >> 8", "x[3 - i]) >> 8", "the run needs"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(lie_of(kJson, replaced(kLoops, row.from, row.to)), HasSubstr(row.lie)) << row.to;
  }
}

// The same with t in a pool: the arena holds x and y only, which share a place.
std::string loops_with_pool() {
  return replaced(kLoops, "arena align 2 offset 4", "arena align 2 offset 0 pool fast");
}

std::string json_with_pool() {
  std::string json = replaced(
      kJson, "\"reuse_inputs\": true}, \"arena_bytes\": 12, \"arena_alignment\": 2",
      "\"reuse_inputs\": true, \"pools\": [{\"name\": \"fast\", \"capacity_bytes\": 10}], "
      "\"places\": {\"inner\": \"fast\"}}, \"arena_bytes\": 4, \"arena_alignment\": 1, "
      "\"memory\": [{\"name\": \"arena\", \"kind\": \"arena\", \"bytes\": 4, \"alignment\": 1}, "
      "{\"name\": \"fast\", \"kind\": \"pool\", \"bytes\": 8, \"alignment\": 2, "
      "\"capacity_bytes\": 10}]");
  json = replaced(json, "\"offset_bytes\": 4}]", "\"offset_bytes\": 0, \"pool\": \"fast\"}]");
  json = replaced(json, "\"lower_bound_bytes\": 8", "\"lower_bound_bytes\": 4");
  return replaced(json, "[\"y\", \"t\"], \"load_bytes\": 8", "[\"y\"], \"load_bytes\": 4");
}

TEST(Judge, Pools) {
  EXPECT_EQ(lie_of(json_with_pool(), loops_with_pool()), "");
  struct {
    const char* from;
    const char* to;
    const char* lie;
  } const json_rows[] = {
      {"\"capacity_bytes\": 10", "\"capacity_bytes\": 7", "t is outside the pool fast"},
      {"\"kind\": \"pool\"", "\"kind\": \"heap\"", "another kind of fast"},
      {"\"bytes\": 8, \"alignment\": 2", "\"bytes\": 9, \"alignment\": 2", "another bytes of fast"},
      {"\"bytes\": 8, \"alignment\": 2", "\"bytes\": 7, \"alignment\": 2", "another bytes of fast"},
      {"\"bytes\": 8, \"alignment\": 2", "\"bytes\": 8, \"alignment\": 1",
       "another alignment of fast"},
      {"\"alignment\": 2, \"capacity_bytes\": 10", "\"alignment\": 2, \"capacity_bytes\": 9",
       "another capacity_bytes of fast"},
      {"\"bytes\": 4, \"alignment\": 1}", "\"bytes\": 5, \"alignment\": 1}",
       "another bytes of arena"},
      {"[{\"name\": \"fast\"", "[{\"name\": \"slow\"", "t lies in the pool fast, which does not"},
      {"\"pool\": \"fast\"}]", "\"pool\": \"slow\"}]", "another pool of t"},
      {"\"inner\": \"fast\"", "\"inner\": \"arena\"", "where the options place it"},
      {"\"order_optimal\": false", "\"order_optimal\": true", "other orders may need less"},
  };
  for (const auto& row : json_rows) {
    EXPECT_THAT(lie_of(replaced(json_with_pool(), row.from, row.to), loops_with_pool()),
                HasSubstr(row.lie))
        << row.to;
  }
  struct {
    const char* from;
    const char* to;
    const char* lie;
  } const loops_rows[] = {
      {" pool fast", " pool slow", "which does not exist"},
      {" pool fast", "", "where the options place it"},
      {"output align 1 offset 0", "output align 1 offset 0 pool fast", "is the caller's"},
      {"offset 0 pool fast", "offset 1 pool fast", "t is misaligned"},
  };
  for (const auto& row : loops_rows) {
    EXPECT_THAT(lie_of(json_with_pool(), replaced(loops_with_pool(), row.from, row.to)),
                HasSubstr(row.lie))
        << row.to;
  }
}

// A bound that no point in time shows needs a search.
TEST(Judge, SearchesBoundsWithoutWitness) {
  std::string json = replaced(kJson, "\"lower_bound_bytes\": 8", "\"lower_bound_bytes\": 12");
  json = replaced(json, "\"searched\": false", "\"searched\": true");
  EXPECT_THAT(lie_of(json, kLoops), HasSubstr("the search does not show"));
}

// The most bytes that two share at any allowed place; so a distance that is stated too small can
// only lower what a witness shows.
TEST(Judge, MostSharedIsThatOfTheBestPlace) {
  constexpr int64_t kMost = 5;
  for (int64_t y = 1; y <= kMost; ++y) {
    for (int64_t x = 1; x <= kMost; ++x) {
      for (int64_t forward = -x - 1; forward <= y + 1; ++forward) {
        for (int64_t reverse = -y - 1; reverse <= x + 1; ++reverse) {
          int64_t most = 0;
          for (int64_t behind = -2 * kMost; behind <= 2 * kMost; ++behind) {  // the input
            if (behind < forward && -behind < reverse) continue;
            most = std::max(most, std::min(y, behind + x) - std::max<int64_t>(0, behind));
          }
          EXPECT_EQ(most_shared({forward, reverse}, {y, x}), most)
              << y << " " << x << " " << forward << " " << reverse;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ingot::assay
