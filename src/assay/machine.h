// SPDX-License-Identifier: Apache-2.0
// The run of a program without data: every call's reads and writes happen in their order, and every
// byte of memory remembers the value it belongs to. A read must find its value; an overlap that
// destroys something too early shows, whatever was said about it.
//
// What depends on data is taken at its worst: an index may be any number of its range, both sides
// of a branch happen, and what only one of them stores may be there or not.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/code.h"
#include "assay/loops.h"
#include "assay/range.h"

namespace ingot::assay {

// More memory or time would be needed than is allowed.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How near `output`, written in call `step`, may start to `input`, read there, as the run shows:
// never is a byte of the input read after the output was written over it if
//     offset(input) - offset(output) > forward, or offset(output) - offset(input) > reverse.
// Nothing if no read follows a write.
struct Distance {
  std::string output;
  std::string input;
  int64_t step = 0;
  std::optional<int64_t> forward = {};
  std::optional<int64_t> reverse = {};
  // The same of the run in which every loop that stores runs the other way, the loops of one block
  // in either order.
  std::optional<int64_t> turned_forward = {};
  std::optional<int64_t> turned_reverse = {};
};

// What a stretch of a run does to a pair of an output and an input.
struct Trace {
  int64_t first_read = INT64_MAX;  // addresses
  int64_t last_read = INT64_MIN;
  int64_t first_written = INT64_MAX;
  int64_t last_written = INT64_MIN;
  int64_t forward = INT64_MIN;  // the greatest of a byte written less one read after that
  int64_t reverse = INT64_MIN;  // the greatest of a byte read less one written before that

  void read(int64_t first, int64_t last);
  void write(int64_t first, int64_t last);
  // What follows this.
  void then(const Trace& later);
};

// Of the run the other way: with the loops of one block in the order of the text, and the last
// first.
struct Turned {
  Trace as_written;
  Trace last_first;

  void then(const Turned& later) {
    as_written.then(later.as_written);
    last_first.then(later.last_first);
  }
};

class Machine {
 public:
  // Buffers with an offset lie in the memory `pool`, as large as it must be for them. `wanted` are
  // the distances to be found. Throws TooLarge before memory is taken.
  Machine(const Loops& loops, bool inputs_may_change, std::vector<Distance> wanted);

  // Throws Lie at the first access that is wrong, TooLarge after `most_steps` steps.
  void run(int64_t most_steps = 3'000'000'000);
  const std::vector<Distance>& distances() const { return wanted_; }

 private:
  using Tag = uint32_t;  // 0: nothing is known to be there

  struct Pair {  // of a parameter that is read with one that is written
    size_t wanted = 0;
    size_t trace = 0;
    size_t written = 0;  // place
    int64_t begin = 0;   // addresses of the input
    int64_t end = 0;
  };
  struct Bound {           // a place while a call runs
    int64_t address = -1;  // -1: not watched
    Tag tag = 0;
    bool was_written = false;
    int64_t first_written = 0;
    int64_t last_written = 0;
    std::vector<Pair> pairs = {};
    std::vector<size_t> traced = {};  // the traces of pairs that are written here
  };
  struct Memory {  // of a buffer
    int64_t address = -1;
    int64_t alignment = 1;
    Tag tag = 0;
  };
  struct Frame {
    const Code* code = nullptr;
    const std::string* name = nullptr;
    Values values;
    std::vector<Bound> places = {};
    std::vector<size_t> wanted = {};  // by trace
    std::vector<Turned> traces = {};
  };
  struct Change {
    int64_t address = 0;
    Tag before = 0;
  };

  void place_buffers();
  void fill(const Buffer& buffer);
  void expect_whole(const Buffer& buffer);
  const Code& code_of(const std::string& kernel);
  Frame bind(int64_t step);
  void bind_place(Frame& frame, const Call& call, size_t param);
  void add_pairs(Frame& frame, const Call& call, int64_t step);

  void run(Frame& frame, std::span<const Action> actions);
  void run_turned(Frame& frame, std::span<const Action> actions);
  void run(Frame& frame, const Action& action);
  void call(int64_t step);
  void read(Frame& frame, const Action& action);
  void write(Frame& frame, const Action& action);
  void set(Frame& frame, const Action& action);
  void loop(Frame& frame, const Action& action);
  void branch(Frame& frame, const Action& action);
  template <class A, class B>
  void either(const A& a, const B& b);
  Range elements_of(const Frame& frame, const Action& action);
  void tag(int64_t address, Tag tag);
  void step(int64_t count = 1);

  const Loops& loops_;
  bool inputs_may_change_;
  std::vector<Distance> wanted_;
  std::vector<std::vector<size_t>> wanted_at_;  // by call
  std::map<std::string, size_t> buffers_;
  std::vector<Memory> memory_;  // by buffer
  std::map<std::string, Code> codes_;
  Code runner_;
  std::vector<Tag> tags_;
  std::vector<Change> changes_;  // since the outermost branch that depends on data
  int uncertain_ = 0;            // how many such branches are around
  int64_t steps_left_ = 0;
};

}  // namespace ingot::assay
