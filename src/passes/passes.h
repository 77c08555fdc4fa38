// SPDX-License-Identifier: Apache-2.0
// Graph to graph. Every pass keeps the value of every output bit for bit, takes time near-linear in
// the size of the graph, and leaves alone what it cannot improve. What a pass makes unread,
// remove_dead_nodes drops.
#pragma once
#include <functional>
#include <string_view>

#include "graph/graph.h"
#include "ops/rules.h"
#include "passes/constant_nodes.h"
#include "passes/shrink.h"
#include "support/diagnostic.h"

namespace ingot {

// Every limit of every node that does not hold, all at once, each naming the operator and its
// tensors. Empty: the rest of the compiler takes the graph and reports nothing more about it.
Diagnostics legalize(const Graph& graph);

// op(constants) -> constant, by the operator's reference, as far as the budget reaches.
Graph fold_constants(Graph graph, Rounding rounding, FoldBudget budget = {});

// pad(x) -> conv_2d or depthwise_conv_2d: the padding becomes an attribute of the convolution,
// where only height and width are padded, with the zero point (0 for floats), and nothing else
// reads the padded tensor.
Graph fold_padding(Graph graph);

// reshape(reshape(x)) -> reshape(x); a reshape to the shape that x has, and a copy, give way to x,
// except where they are the graph's outputs.
Graph simplify_reshapes(Graph graph);

// clamp(x) -> x, where no integer that x can hold (ops/intervals.h) is outside the bounds.
Graph drop_clamps(Graph graph, Rounding rounding);

// producer, elementwise operator -> the producer with one more step in its epilogue, where nothing
// else reads the tensor in between, and the operator's other operands are constants or stand before
// the producer and have one element or the shape of the result.
// clamp after clamp becomes one clamp.
Graph fuse_epilogues(Graph graph);

// conv_2d, depthwise_conv_2d, fully_connected on int8 without padding: bias - zero_point(x) *
// sum(filter) becomes the bias, and the accumulation takes x as it is. Only where the new bias fits
// int32.
Graph fold_zero_points(Graph graph);

// Nodes and values that no output of the graph needs. Inputs stay.
Graph remove_dead_nodes(Graph graph);

// Called after each pass with its name and the graph as it left it.
using PassHook = std::function<void(std::string_view pass, const Graph& graph)>;

// All passes in their order. What shrinking did goes to `shrinking`, if that is given.
Graph optimize(Graph graph, Rounding rounding, const PassHook& hook = nullptr,
               Shrinking* shrinking = nullptr);

}  // namespace ingot
