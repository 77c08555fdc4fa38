// SPDX-License-Identifier: Apache-2.0
// Shapes of a .tflite model: what inference makes of those that the file states, and extents that
// it leaves open.
#include "tests/import/import_testing.h"
#include "tests/import/small_models.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- Inference ----

// Yields `shape` for every operator, with the declared element type and quantisation.
Infer yields(const Shape& shape) {
  return [=](const Op&, Operands, std::span<const TensorType> declared) {
    TensorType type = declared[0];
    type.shape = shape;
    return Result<std::vector<TensorType>>(std::vector{type});
  };
}

TEST(TfliteInference, ReplacesTheShapesOfTheFile) {
  const auto file = model_of([](TfliteWriter& w) {
    return w.relu("y", w.input("x", int8_type({2, 3})), kX);
  });
  ImportOptions options;
  options.infer = yields({6});
  const Result<Imported> result = import_tflite(file, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->graph[result->graph.outputs[0]].type.shape, Shape{6});
  EXPECT_THAT(lines(result->warnings),
              ElementsAre("shape-disagrees: RELU \"y\" (operator 0): the output \"y\" is [2,3] in "
                          "the file, but the operator yields [6]"));
  EXPECT_EQ(result->warnings[0].severity, Severity::kWarning);
  options.infer = yields({2, 3});
  EXPECT_THAT(import_tflite(file, options)->warnings, IsEmpty());
}

TEST(TfliteInference, SeesTypesConstantsAndAbsentInputs) {
  const auto file = model_of([](TfliteWriter& w) {
    const int64_t x = w.input("x", int8_type({1, 3}));
    return w.fully_connected("y", x, weights(w, {4, 3}), kAbsent, kY, Activation::RELU);
  });
  std::vector<std::string> seen;
  ImportOptions options;
  options.infer = [&](const Op& op, Operands inputs, std::span<const TensorType> declared) {
    std::string text(name_of(op));
    for (const Operand& input : inputs) {
      text += " " + (input.present() ? print_plain(*input.type) : "_");
      if (input.is_constant()) text += fmt::format("={}", input.constant->size());
    }
    seen.push_back(text + " -> " + print(declared[0]));
    return Result<std::vector<TensorType>>(std::vector(declared.begin(), declared.end()));
  };
  imported(file, options);
  EXPECT_THAT(seen, ElementsAre("fully_connected int8[1,3] int8[4,3]=12 _ -> int8[1,4] scale 0.25 "
                                "zero_point -7",
                                "clamp int8[1,4] -> int8[1,4] scale 0.25 zero_point -7"));
}

TEST(TfliteInference, ItsFaultsNameTheOperatorAndItsTensors) {
  const auto file = model_of([](TfliteWriter& w) {
    return w.relu("y", w.relu("h", w.input("x", int8_type({2, 3})), kX), kX);
  });
  ImportOptions options;
  options.infer = [](const Op&, Operands, std::span<const TensorType>) {
    return Result<std::vector<TensorType>>(
        Diagnostic{Code::kOperatorUnsupported, "", "it is too blue", "paint it"});
  };
  const Result<Imported> result = import_tflite(file, options);
  ASSERT_FALSE(result);
  EXPECT_THAT(lines(result.error()),
              ElementsAre("operator-unsupported: RELU \"h\" (operator 0): it is too blue",
                          "operator-unsupported: RELU \"y\" (operator 1): it is too blue"));
  EXPECT_EQ(result.error()[0].hint, "paint it");
  EXPECT_THAT(result.error()[0].notes,
              ElementsAre("input  \"x\" int8[2,3] scale 0.5 zero_point 3",
                          "output \"h\" int8[2,3] scale 0.5 zero_point 3"));
}

TEST(TfliteInference, IsHeldToTheLimits) {
  const auto per_channel = model_of(
      [](TfliteWriter& w) { return w.relu("y", w.input("x", float_type({2})), std::nullopt); });
  ImportOptions options;
  options.infer = yields({int64_t{1} << 31});
  EXPECT_THAT(faults_of(per_channel, options), ElementsAre(HasSubstr("is larger than")));
  options.infer = yields({1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THAT(faults_of(per_channel, options), ElementsAre(HasSubstr("the rank is 9")));
  // Scales per channel that fit the shape in the file, but not the operator's.
  const auto file = model_of([](TfliteWriter& w) {
    const int64_t x = w.input("x", int8_type({2}));
    const int64_t y = w.tensor("y", int8_type({2}, Quantization{{1, 2}, {0, 0}, 0}));
    w.op(BuiltinOperator::LOGISTIC, {x}, {y});
    return y;
  });
  options.infer = yields({3});
  EXPECT_THAT(faults_of(file, options),
              ElementsAre(HasSubstr("quantization-malformed: LOGISTIC \"y\" (operator 0): the "
                                    "output has 2 scales instead of 3")));
}

// ---- Open extents ----

// G13.
TEST(TfliteDimensions, OpenExtentsAreOneUnlessStated) {
  TfliteWriter w;
  const int64_t x = w.input("x:0", int8_type({1, 3}), {-1, 3});
  const int64_t y = w.relu("y", x, kX);
  w.tensor_at(y).shape_signature = {-1, 3};
  w.output(y);
  const Result<Imported> one = import_tflite(w.bytes(), {});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->graph[one->graph.inputs[0]].type.shape, (Shape{1, 3}));
  EXPECT_THAT(lines(one->warnings), ElementsAre(HasSubstr("extent 0 is open in the model")));
  EXPECT_EQ(one->warnings[0].severity, Severity::kNote);

  ImportOptions options;
  options.dims = {{"x:0:0", 4}};
  options.infer = yields({4, 3});
  const Result<Imported> four = import_tflite(w.bytes(), options);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->graph[four->graph.inputs[0]].type.shape, (Shape{4, 3}));
  EXPECT_EQ(four->graph[four->graph.outputs[0]].type.shape, (Shape{4, 3}));
  EXPECT_THAT(four->warnings, IsEmpty());  // where the file leaves it open, 4 is no disagreement

  // Old files have -1 in the shape itself.
  w.tensor_at(x).shape = {-1, 3};
  w.tensor_at(x).shape_signature = {};
  EXPECT_EQ(imported(w.bytes()).values[0].type.shape, (Shape{1, 3}));
}

TEST(TfliteDimensions, MustNameOpenExtentsOfInputs) {
  TfliteWriter w;
  w.output(w.relu("y", w.input("x", int8_type({1, 3}), {-1, 3}), kX));
  const std::pair<const char*, int64_t> wrong[] = {{"x:1", 3}, {"x", 3},   {"y:0", 3}, {"x:2", 1},
                                                   {"", 1},    {"x:0", 0}, {"x:0", -1}};
  for (const auto& [key, extent] : wrong) {
    ImportOptions options;
    options.dims[key] = extent;
    EXPECT_THAT(faults_of(w.bytes(), options), ElementsAre(HasSubstr("dim-unknown"))) << key;
  }
  ImportOptions huge;
  huge.dims["x:0"] = int64_t{1} << 40;
  EXPECT_THAT(faults_of(w.bytes(), huge), ElementsAre(HasSubstr("model-limit")));
}

}  // namespace
}  // namespace ingot::testing
