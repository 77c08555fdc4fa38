// SPDX-License-Identifier: Apache-2.0
#include "assay/load.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace ingot::assay {

Load::Load(const Layout& layout, Least Pair::*least, const std::vector<size_t>& aligned)
    : layout_(layout), least_(least) {
  for (const size_t i : aligned)
    cell_bytes_ = std::gcd(cell_bytes_, layout.lives[i].buffer->alignment);
  cell_bytes_ = std::max<int64_t>(cell_bytes_, 1);
}

int64_t Load::of(const std::set<size_t>& lives, std::span<const Pair> pairs,
                 const std::set<size_t>& kept) const {
  std::vector<std::tuple<size_t, int64_t, int64_t>> spans;  // unit, begin, end
  int64_t padding = 0;  // the last cell of one buffer may stick out of the arena
  for (const size_t i : lives) {
    const Life& life = layout_.lives[i];
    if (life.region == nullptr) continue;
    const int64_t bytes = life.buffer->size_bytes;
    const int64_t begin = floor_div(life.first_byte(), cell_bytes_) * cell_bytes_;
    spans.emplace_back(life.unit, begin, begin + up(bytes));
    padding = std::max(padding, up(bytes) - bytes);
  }
  // What moves as one may have bytes in common.
  std::ranges::sort(spans);
  int64_t total = 0;
  std::map<size_t, int64_t> ends;  // of units, so far
  for (const auto& [unit, begin, end] : spans) {
    int64_t& so_far = ends.emplace(unit, begin).first->second;
    total += std::max<int64_t>(0, end - std::max(begin, so_far));
    so_far = std::max(so_far, end);
  }
  // As much as pairs may share, at most the whole output where inputs are older than outputs (else
  // two outputs might count each other's bytes).
  int64_t saved = 0;
  std::map<size_t, int64_t> saved_of;  // outputs
  for (const Pair& pair : pairs) {
    if (!lives.contains(pair.output) || !lives.contains(pair.input)) continue;
    if (kept.contains(pair.output) || kept.contains(pair.input)) continue;
    const Life& output = layout_.lives[pair.output];
    const Life& input = layout_.lives[pair.input];
    const int64_t shared = most_shared(up(pair.*least_), up(pair.apart));
    const bool is_tied = output.buffer->tie_group >= 0 || input.buffer->tie_group >= 0;
    const bool is_limited = input.begin < output.begin && !is_tied;
    (is_limited ? saved_of[pair.output] : saved) += shared;
  }
  for (const auto& [output, shared] : saved_of)
    saved += std::min(shared, up(layout_.lives[output].buffer->size_bytes));
  return std::max<int64_t>(0, total - saved - padding);
}

}  // namespace ingot::assay
