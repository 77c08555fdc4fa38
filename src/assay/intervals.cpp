// SPDX-License-Identifier: Apache-2.0
#include "assay/intervals.h"

#include <map>

namespace ingot::assay {

Pieces::Pieces(const std::vector<Stretch>& stretches) {
  struct Line {
    std::vector<int64_t> cuts = {};
    size_t first = 0;  // piece
  };
  std::map<std::string, Line> lines;
  for (const Stretch& s : stretches) {
    std::vector<int64_t>& cuts = lines[s.line].cuts;
    cuts.insert(cuts.end(), {s.begin, s.end});
  }
  for (auto& [name, line] : lines) {
    std::ranges::sort(line.cuts);
    line.cuts.erase(std::unique(line.cuts.begin(), line.cuts.end()), line.cuts.end());
    line.first = lengths.size();
    for (size_t c = 1; c < line.cuts.size(); ++c)
      lengths.push_back(line.cuts[c] - line.cuts[c - 1]);
  }
  for (const Stretch& s : stretches) {
    const Line& line = lines[s.line];
    const auto piece_at = [&](int64_t cut) {
      const auto at = std::ranges::lower_bound(line.cuts, cut) - line.cuts.begin();
      return line.first + static_cast<size_t>(at);
    };
    of.push_back({piece_at(s.begin), piece_at(s.end)});
  }
}

}  // namespace ingot::assay
