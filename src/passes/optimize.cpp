// SPDX-License-Identifier: Apache-2.0
// The order of the passes.
#include <utility>

#include "passes/passes.h"

namespace ingot {

Graph optimize(Graph graph, Rounding rounding, const PassHook& hook, Shrinking* shrinking) {
  const auto run = [&](std::string_view name, auto pass) {
    graph = pass(std::move(graph));
    if (hook) hook(name, graph);
  };
  run("fold_constants", [&](Graph g) { return fold_constants(std::move(g), rounding); });
  run("fold_padding", fold_padding);
  run("simplify_reshapes", simplify_reshapes);
  // Before the epilogues, which hide the tensors in between, and after the padding: a padded
  // tensor whose channel is constant is constant only where the padding holds the same value.
  run("shrink", [&](Graph g) {
    Shrunk shrunk = shrink(std::move(g), rounding);
    if (shrinking) *shrinking = std::move(shrunk.shrinking);
    return std::move(shrunk.graph);
  });
  run("drop_clamps", [&](Graph g) { return drop_clamps(std::move(g), rounding); });
  // Before the zero points: a fused step changes nothing about the bias, but a dead reader would.
  run("fuse_epilogues", fuse_epilogues);
  // After the padding: a padded convolution keeps its zero point.
  run("fold_zero_points", fold_zero_points);
  run("remove_dead_nodes", remove_dead_nodes);
  return graph;
}

}  // namespace ingot
