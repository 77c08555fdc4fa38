// SPDX-License-Identifier: Apache-2.0
#include "assay/load.h"

#include <algorithm>

namespace ingot::assay {
namespace {

// What moves as one is a line.
Pieces pieces_of(const std::vector<Life>& lives, int64_t cell_bytes) {
  std::vector<Stretch> stretches;
  for (const Life& life : lives) {
    const int64_t begin = floor_div(begin_in_unit(*life.buffer), cell_bytes);
    const int64_t cells = -floor_div(-life.buffer->size_bytes, cell_bytes);
    stretches.push_back({unit_of(*life.buffer), begin, begin + cells});
  }
  return Pieces(stretches);
}

}  // namespace

Load::Load(const Layout& layout, const Distances& distances, Least Pair::*least, int64_t cell_bytes)
    : layout_(layout),
      least_(least),
      cell_bytes_(cell_bytes),
      pieces_(pieces_of(layout.lives, cell_bytes)) {
  for (const Pair& pair : distances.all()) pairs_.emplace(pair.step, &pair);
}

int64_t Load::of(const std::set<size_t>& lives, int64_t call, const Counts& counts) const {
  const auto cells = [&](size_t i) {
    return -floor_div(-layout_.lives[i].buffer->size_bytes, cell_bytes_);
  };
  std::set<size_t> pieces;
  int64_t padding = 0;  // the last cell of one buffer may stick out of the arena
  for (const size_t i : lives) {
    if (layout_.lives[i].region == nullptr) continue;
    for (const size_t p : pieces_.of[i]) pieces.insert(p);
    padding = std::max(padding, cells(i) * cell_bytes_ - layout_.lives[i].buffer->size_bytes);
  }
  int64_t total = 0;
  for (const size_t p : pieces) total += pieces_.lengths[p];
  // As much as pairs may share, at most the whole output where inputs are older than outputs (else
  // two outputs might count each other's bytes).
  std::map<size_t, int64_t> by_output;
  const auto [first, last] = pairs_.equal_range(call);
  for (auto at = first; at != last; ++at) {
    const Pair& pair = *at->second;
    if (!lives.contains(pair.output) || !lives.contains(pair.input)) continue;
    if (counts && !counts(pair)) continue;
    const Life& output = layout_.lives[pair.output];
    const Life& input = layout_.lives[pair.input];
    const int64_t shared =
        most_shared(pair.*least_, cells(pair.output), cells(pair.input), cell_bytes_);
    const bool is_tied = output.buffer->tie_group >= 0 || input.buffer->tie_group >= 0;
    if (input.begin >= output.begin || is_tied) total -= shared;
    if (input.begin < output.begin && !is_tied) by_output[pair.output] += shared;
  }
  for (const auto& [output, shared] : by_output) total -= std::min(shared, cells(output));
  return std::max<int64_t>(0, total * cell_bytes_ - padding);
}

}  // namespace ingot::assay
