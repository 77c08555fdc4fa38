// SPDX-License-Identifier: Apache-2.0
// The innermost sums of a contraction that step through neighbouring elements of x, as one: its
// run. A run is read in words of some elements. Where its length is no multiple of them, the last
// word reaches back over elements that were read before, whose weights are zero there.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/positions.h"

namespace ingot {

// The columns (values of the innermost position) at which the run is the same part of the whole.
struct RunClass {
  Span columns;
  Span elements;           // of the run
  int64_t first_word = 0;  // in the table of weights
  int64_t num_words = 0;
  int64_t last_offset =
      0;  // of the last word, in elements of the run; the others follow each other
};

struct Run {
  int64_t word = 4;  // elements

  size_t num_outer = 0;  // sums outside of the run
  int64_t length = 0;    // where it is full
  // The one merged sum whose bounds depend on the column, and what one step of it is in elements;
  // negative: none.
  int64_t varying_sum = -1;
  int64_t varying_step = 1;
  // In order of columns. One class alone stands for all columns if no bounds vary. Where every
  // class begins and ends between words, all use the words of the full one.
  std::vector<RunClass> classes;
  bool shares_words = false;
  int64_t num_words = 0;  // in the table

  // The element of the run that word `number` of the table has at `lane`; nullopt if its weight
  // there is zero.
  std::optional<int64_t> element_at(int64_t number, int64_t lane) const;
};

// `ranges`: of all sums; `column`: the innermost position, empty if there is none. nullopt if
// neighbouring elements do not lie side by side, or if words cannot be read inside x, which has
// `num_elements`.
std::optional<Run> find_run(const Contraction& c, const std::vector<SumRange>& ranges,
                            const std::string& column, int64_t num_elements, int64_t word = 4);

// The values of the merged sums at element `element` of the run.
void set_run_variables(const Contraction& c, const Run& run, const std::vector<SumRange>& ranges,
                       int64_t element, std::map<std::string, int64_t>& at);

}  // namespace ingot
