// SPDX-License-Identifier: Apache-2.0
// One operator with its tensors, as tests of ops/ state it, and what its rules say about it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/rules.h"

namespace ingot::testing {

struct TestInput {
  TensorType type;
  bool constant = false;
  std::optional<Bytes> bytes = {};  // drawn at random if not given
  bool absent = false;              // an optional input that is not there
};

// A one-node network. Bytes that are not given are random numbers from `seed`: integers of the
// whole range of their type (int32 and wider: -2000 .. 2000), floats of -4 .. 4.
struct OneNode {
  Op op;
  std::vector<TestInput> inputs;
  std::vector<TensorType> outputs;  // as a file declares them; shapes are inferred
  Rounding rounding = Rounding::kDouble;
  uint64_t seed = 1;
};

// Inputs in one line each: TestInput by type and elements.
template <class T>
TestInput given(TensorType type, const std::vector<T>& elements) {
  return {std::move(type), false, Bytes::of(elements)};
}
template <class T>
TestInput constant(TensorType type, const std::vector<T>& elements) {
  return {std::move(type), true, Bytes::of(elements)};
}
inline TestInput random_input(TensorType type) { return {std::move(type), false}; }
inline TestInput random_constant(TensorType type) { return {std::move(type), true}; }
inline TestInput absent_input() { return {TensorType{}, false, std::nullopt, true}; }

// Why infer or a limit refuses it: the diagnostic's or the limit's text; empty if nothing does.
std::string refusal(const OneNode& node);
// The diagnostic of infer, which must refuse it.
Diagnostic diagnostic_of(const OneNode& node);
// The types of its outputs; infer must accept it.
std::vector<TensorType> output_types(const OneNode& node);

// Every input's bytes drawn where not given. Absent inputs keep none.
OneNode with_data(OneNode node);
// What `reference` computes, one tensor after the other. Infer and limits must accept the node.
std::vector<std::vector<uint8_t>> reference_outputs(const OneNode& node);
// The only output's elements.
template <class T>
std::vector<T> reference_output(const OneNode& node) {
  return Bytes(reference_outputs(node).at(0)).as<T>();
}

}  // namespace ingot::testing
