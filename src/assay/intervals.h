// SPDX-License-Identifier: Apache-2.0
// Sets of intervals.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::assay {

// Calls f, for each of the `chosen` of `intervals` (with members begin and end) in the order in
// which they begin, with its number and those of the chosen that have begun and not ended by then.
template <class T, class F>
void sweep(const std::vector<T>& intervals, std::vector<size_t> chosen, const F& f) {
  std::ranges::stable_sort(chosen, {}, [&](size_t i) { return intervals[i].begin; });
  std::vector<size_t> open;
  for (const size_t i : chosen) {
    std::erase_if(open, [&](size_t j) { return intervals[j].end <= intervals[i].begin; });
    f(i, open);
    open.push_back(i);
  }
}

// An interval on a line of that name.
struct Stretch {
  std::string line;
  int64_t begin = 0;
  int64_t end = 0;
};

// The numbers from `first` on, before `last`.
struct Numbers {
  struct Iterator {
    size_t at = 0;
    size_t operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  size_t first = 0;
  size_t last = 0;
  Iterator begin() const { return {first}; }
  Iterator end() const { return {last}; }
};

// All lines cut where any stretch begins or ends: pieces that none divides.
struct Pieces {
  explicit Pieces(const std::vector<Stretch>& stretches);

  std::vector<int64_t> lengths;  // of each piece
  std::vector<Numbers> of;       // each stretch
};

}  // namespace ingot::assay
