// SPDX-License-Identifier: Apache-2.0
// Damaged files end in diagnostics or in a well-formed graph, never in a crash. Built with
// sanitizers, these tests also show that nothing outside of the file is read. Last, files that are
// unusual but good.
#include <gtest/gtest.h>

#include <cstring>

#include "support/file.h"
#include "tests/import/import_testing.h"
#include "tests/import/tflite_fault_rows.h"
#include "tests/support/sample_models.h"
#include "tests/support/shared_files.h"
#include "tests/support/tflite_damage.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SampleModel> all_models() {
  std::vector<SampleModel> models = sample_models();
  for (SampleModel& model : guarantee_models()) models.push_back(std::move(model));
  models.push_back({"good_model", good_model().bytes()});
  return models;
}

// Imports from a buffer of exactly the file's size, so that a sanitizer sees what lies behind.
// True if the file is accepted.
bool survives(const std::vector<uint8_t>& file) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
  if (!file.empty()) std::memcpy(exact.get(), file.data(), file.size());
  const Result<Imported> result = import_tflite({exact.get(), file.size()}, {});
  if (result) {
    EXPECT_THAT(find_faults(result->graph), IsEmpty());
    EXPECT_FALSE(has_errors(result->warnings));
    return true;
  }
  EXPECT_TRUE(has_errors(result.error()));
  for (const Diagnostic& diagnostic : result.error()) EXPECT_FALSE(diagnostic.what.empty());
  return false;
}

TEST(TfliteDamage, SampleModelsAreGood) {
  for (const SampleModel& model : all_models()) {
    SCOPED_TRACE(model.name);
    const Result<Imported> result = import_tflite(model.file, {.name = model.name});
    ASSERT_TRUE(result) << ::testing::PrintToString(lines(result.error()));
    EXPECT_THAT(result->warnings, IsEmpty());
    EXPECT_EQ(result->graph.name, model.name);
    const Result<Graph> again = parse_graph(print(result->graph));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, renumbered(result->graph));
  }
}

TEST(TfliteDamage, TruncationAtEveryByte) {
  for (const SampleModel& model : all_models()) {
    SCOPED_TRACE(model.name);
    int64_t num_accepted = 0;
    for (int64_t size = 0; size < std::ssize(model.file); ++size) {
      num_accepted += survives(truncated(model.file, size)) ? 1 : 0;
    }
    // A file may end in padding, which nobody misses.
    EXPECT_LE(num_accepted, 16);
  }
}

TEST(TfliteDamage, SeededCorruption) {
  const std::vector<SampleModel> models = all_models();
  int64_t num_refused = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    const SampleModel& model = models[seed % models.size()];
    const auto count = static_cast<int64_t>(1 + seed % 5);
    num_refused += survives(corrupted(model.file, seed, count)) ? 0 : 1;
  }
  EXPECT_GT(num_refused, 300);
}

// Z06, K01: every byte on its own, so that every offset and length is hit.
TEST(TfliteDamage, EveryByteOfAModel) {
  const std::vector<uint8_t> file = good_model().bytes();
  for (int64_t i = 0; i < std::ssize(file); ++i) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      survives(with_bytes(file, i, {static_cast<uint8_t>(value)}));
    }
    survives(with_bytes(file, i, {static_cast<uint8_t>(file[static_cast<size_t>(i)] + 1)}));
  }
}

TEST(TfliteDamage, MutationByField) {
  const std::vector<SampleModel> models = all_models();
  int64_t num_refused = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const SampleModel& model = models[seed % models.size()];
    const std::unique_ptr<format::ModelT> table = unpack(model.file);
    std::string trace;
    for (uint64_t i = 0; i <= seed % 3; ++i) trace += mutate(*table, 3 * seed + i) + "; ";
    SCOPED_TRACE(model.name + ": " + trace);
    num_refused += survives(serialize(*table)) ? 0 : 1;
  }
  EXPECT_GT(num_refused, 1000);
}

// A04.
TEST(TfliteDamage, MisalignedFilesAreRead) {
  const std::vector<uint8_t> file = good_model().bytes();
  std::vector<uint8_t> shifted(file.size() + 16);
  for (size_t shift = 0; shift < 16; ++shift) {
    std::memcpy(shifted.data() + shift, file.data(), file.size());
    EXPECT_TRUE(import_tflite({shifted.data() + shift, file.size()}, {}));
  }
}

// ---- Unusual but good ----

// T01: old files, new files, and operators that the old field has no room for.
TEST(TfliteForms, OperatorCodesOldAndNew) {
  for (const OpcodeForm form :
       {OpcodeForm::kBoth, OpcodeForm::kDeprecatedOnly, OpcodeForm::kExtendedOnly}) {
    TfliteWriter w(form);
    const Quantization q = per_tensor(1, 0);
    w.output(w.relu("y", w.input("x", {DType::kInt8, {1}, q}), q));
    EXPECT_EQ(name_of(imported(w.bytes()).nodes.at(0).op), "clamp");
  }
  TfliteWriter late;
  const int64_t x = late.input("x", {DType::kInt8, {1}, std::nullopt});
  late.op(BuiltinOperator::GELU, {x}, {late.output(late.tensor("y", {DType::kInt8, {1}, {}}))});
  EXPECT_THAT(faults_of(late.bytes()), ElementsAre(HasSubstr("GELU \"y\" (operator 0)")));
}

// T03, K05: what is empty may be absent. The packer writes no vector that is empty.
TEST(TfliteForms, AbsentVectorsAreEmpty) {
  TfliteWriter w;
  w.graph().tensors.push_back(std::make_unique<format::TensorT>());  // no shape, name, buffer, ...
  w.graph().inputs = {0};
  w.graph().outputs = {0};
  w.model().buffers.clear();
  w.model().operator_codes.clear();
  const Graph graph = imported(w.bytes());
  EXPECT_EQ(print(graph), "graph \"\"\ntensor_0: float32[] = input\noutput tensor_0\n");

  const auto stripped = [](auto change) {
    TfliteWriter model = good_model();
    change(model);
    return survives(model.bytes());
  };
  EXPECT_FALSE(stripped([](auto& m) { m.graph().tensors.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.graph().inputs.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.graph().outputs.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.graph().operators.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.model().buffers.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.model().operator_codes.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { operator_at(m, 0).inputs.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { operator_at(m, 0).outputs.clear(); }));
  EXPECT_FALSE(stripped([](auto& m) { m.tensor_at(1).shape.clear(); }));
  EXPECT_TRUE(stripped([](auto& m) { m.tensor_at(3).shape_signature.clear(); }));
  EXPECT_TRUE(stripped([](auto& m) { m.tensor_at(3).name.clear(); }));
}

// T05
TEST(TfliteForms, OtherSubgraphsAreIgnoredWithANote) {
  TfliteWriter w = good_model();
  w.subgraph("other");
  w.custom("nonsense", {99}, {-7});
  const Result<Imported> result = import_tflite(w.bytes(), {});
  ASSERT_TRUE(result);
  EXPECT_THAT(lines(result->warnings),
              ElementsAre("subgraph-ignored: : of 2 subgraphs only the first is compiled"));
  EXPECT_EQ(result->warnings[0].severity, Severity::kNote);
  EXPECT_EQ(result->graph, imported(good_model().bytes()));
}

TEST(TfliteForms, NamesAreMadeUnique) {
  TfliteWriter w;
  const Quantization q = per_tensor(1, 0);
  const int64_t x = w.input("", {DType::kInt8, {1}, q});
  w.output(w.relu("a", w.relu("a", w.relu("a_1", x, q), q), q));
  EXPECT_EQ(print(imported(w.bytes())),
            "graph \"\"\n"
            "tensor_0: int8[1] scale 1 zero_point 0 = input\n"
            "a_1: int8[1] scale 1 zero_point 0 = clamp(high=127) tensor_0 sources 0\n"
            "a: int8[1] scale 1 zero_point 0 = clamp(high=127) a_1 sources 1\n"
            "a_2: int8[1] scale 1 zero_point 0 = clamp(high=127) a sources 2\n"
            "output a_2\n");
}

// G07
TEST(TfliteForms, OperatorsOutOfOrderAreSorted) {
  TfliteWriter w = good_model();
  const auto sources = [](const Graph& graph) {
    std::vector<int64_t> list;
    for (const Node& node : graph.nodes) list.push_back(node.sources.at(0));
    return list;
  };
  EXPECT_THAT(sources(imported(w.bytes())), ElementsAre(0, 1, 2, 3, 4));
  std::swap(w.graph().operators.at(0), w.graph().operators.at(3));
  EXPECT_THAT(sources(imported(w.bytes())), ElementsAre(3, 1, 2, 0, 4));
}

// Tensors that nothing refers to are not looked at, whatever they are.
TEST(TfliteForms, UnusedTensorsAreIgnored) {
  TfliteWriter w = good_model();
  format::TensorT odd;
  odd.type = format::TensorType::RESOURCE;
  odd.shape = std::vector<int32_t>(100, -5);
  odd.is_variable = true;
  w.tensor(odd);
  EXPECT_EQ(imported(w.bytes()), imported(good_model().bytes()));
}

// Data may stand behind the FlatBuffer, at any offset.
TEST(TfliteForms, DataBehindTheFlatBuffer) {
  TfliteWriter w;
  const int64_t c = w.constant("c", {DType::kInt32, {2}, std::nullopt}, std::vector<int32_t>{7, 9});
  w.output(c);
  format::BufferT& buffer = *w.model().buffers.at(w.tensor_at(c).buffer);
  const std::vector<uint8_t> data = std::move(buffer.data);
  buffer.data = {};
  buffer.offset = 9999;  // so that the field is there when the size is taken
  buffer.size = data.size();
  buffer.offset = w.bytes().size() + 3;
  std::vector<uint8_t> file = w.bytes();
  file.resize(buffer.offset);
  file.insert(file.end(), data.begin(), data.end());
  EXPECT_THAT(print(imported(file)), HasSubstr("c: int32[2] = const {7,9}"));
  file.pop_back();
  EXPECT_THAT(faults_of(file), ElementsAre(HasSubstr("its data are 8 bytes at")));
}

// G14: a weight without elements needs no data.
TEST(TfliteForms, ConstantsWithoutElements) {
  TfliteWriter w;
  w.output(w.tensor("c", {DType::kInt8, {2, 0}, std::nullopt}));
  EXPECT_EQ(print(imported(w.bytes())), "graph \"\"\nc: int8[2,0] = const {}\noutput c\n");
}

class RealModels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!shared_folder()) GTEST_SKIP() << "no ../shared and INGOT_SHARED is not set";
  }
};

// Models that other programs wrote. Those below use only what Ingot reads; all others must be
// refused with the operators or tensors at fault.
TEST_F(RealModels, AreReadOrRefusedByName) {
  int64_t num_read = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(*shared_folder() / "models")) {
    if (entry.path().filename() != "model.tflite") continue;
    SCOPED_TRACE(entry.path());
    const Result<std::vector<uint8_t>> bytes = read_file(entry.path());
    ASSERT_TRUE(bytes);
    const Result<Imported> result = import_tflite(*bytes, {});
    num_read += result ? 1 : 0;
    if (result) continue;
    for (const Diagnostic& fault : result.error()) {
      EXPECT_TRUE(fault.code == Code::kOperatorUnsupported ||
                  fault.code == Code::kTensorUnsupported)
          << fault.where << ": " << fault.what;
    }
  }
  EXPECT_GE(num_read, 7);
}

}  // namespace
}  // namespace ingot::testing
