// SPDX-License-Identifier: Apache-2.0
#include "assay/machine.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace ingot::assay {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 27;

std::string number(int64_t n) { return std::to_string(n); }

int64_t value_of(const Sum& sum, const Values& values) {
  int64_t value = sum.constant;
  for (size_t t = 0; t < sum.num_terms; ++t) {
    value += sum.terms[t].factor * values.slots[static_cast<size_t>(sum.terms[t].slot)].low;
  }
  return value;
}

}  // namespace

Machine::Machine(const Loops& loops, bool inputs_may_change, std::vector<Distance> wanted)
    : loops_(loops), inputs_may_change_(inputs_may_change), wanted_(std::move(wanted)) {
  wanted_at_.resize(loops.calls.size());
  for (size_t w = 0; w < wanted_.size(); ++w) {
    wanted_at_[static_cast<size_t>(wanted_[w].step)].push_back(w);
  }
  runner_ = translate("the runner", loops.runner, 0);
  place_buffers();
}

// Memories lie one behind the other, then what is the caller's. Constants are not watched.
void Machine::place_buffers() {
  std::map<std::string, int64_t> begins;  // of memories: at first their sizes
  for (const Buffer& b : loops_.buffers) {
    if (b.size_bytes > kMostBytes || b.offset_bytes.value_or(0) > kMostBytes)
      throw TooLarge(b.name + " is too large to be judged");
    if (!b.offset_bytes) continue;
    if (*b.offset_bytes < 0) throw Lie(b.name + " lies outside the arena");
    int64_t& bytes = begins[b.pool];
    bytes = std::max(bytes, *b.offset_bytes + b.size_bytes);
  }
  int64_t end = 0;
  for (auto& [pool, bytes] : begins) end += std::exchange(bytes, end);
  std::map<int64_t, Tag> groups;
  Tag next = 1;
  for (const Buffer& b : loops_.buffers) {
    if (!buffers_.emplace(b.name, memory_.size()).second)
      throw Lie("there are two buffers " + b.name);
    Memory& m = memory_.emplace_back();
    m.alignment = std::max(b.alignment, b.element->bytes);
    if (b.kind == "constant") continue;
    m.tag = next++;
    if (b.offset_bytes) {
      m.address = begins[b.pool] + *b.offset_bytes;
      if (b.tie_group >= 0) m.tag = groups.emplace(b.tie_group, m.tag).first->second;
    } else {
      m.address = end;
      end += b.size_bytes;
    }
    if (end > kMostBytes) throw TooLarge("the buffers are too large to be judged");
  }
  tags_.assign(static_cast<size_t>(end), 0);
}

void Machine::run(int64_t most_steps) {
  steps_left_ = most_steps;
  for (const Buffer& b : loops_.buffers) {
    if (b.kind == "input") fill(b);
  }
  Frame frame{&runner_, &loops_.name, {runner_.body, {}, {}}};
  frame.values.slots.resize(runner_.body->slots.size());
  run(frame, runner_.actions);
  for (const Buffer& b : loops_.buffers) {
    if (b.kind == "output" || (b.kind == "input" && !inputs_may_change_)) expect_whole(b);
  }
  for (Distance& d : wanted_) {
    const int64_t behind =
        memory_[buffers_.at(d.input)].address - memory_[buffers_.at(d.output)].address;
    for (std::optional<int64_t>* seen : {&d.forward, &d.turned_forward}) {
      if (*seen) **seen += behind;
    }
    for (std::optional<int64_t>* seen : {&d.reverse, &d.turned_reverse}) {
      if (*seen) **seen -= behind;
    }
  }
}

void Machine::fill(const Buffer& buffer) {
  const Memory& m = memory_[buffers_.at(buffer.name)];
  std::fill_n(tags_.begin() + m.address, buffer.size_bytes, m.tag);
}

void Machine::expect_whole(const Buffer& buffer) {
  const Memory& m = memory_[buffers_.at(buffer.name)];
  for (int64_t i = 0; i < buffer.size_bytes; ++i) {
    if (tags_[static_cast<size_t>(m.address + i)] != m.tag)
      throw Lie("in the end byte " + number(i) + " of " + buffer.name + " is not there");
  }
}

const Code& Machine::code_of(const std::string& kernel) {
  const auto known = codes_.find(kernel);
  if (known != codes_.end()) return known->second;
  const Kernel& k = loops_.kernels.at(kernel);
  return codes_.emplace(kernel, translate(kernel, k.body, k.num_params)).first->second;
}

Machine::Frame Machine::bind(int64_t step) {
  const Call& call = loops_.calls[static_cast<size_t>(step)];
  const Kernel& kernel = loops_.kernels.at(call.kernel);
  const Code& code = code_of(call.kernel);
  Frame frame{&code, &call.kernel, {code.body, {}, {}}};
  frame.values.slots.resize(code.body->slots.size());
  for (size_t i = 0; i < kernel.num_scalars; ++i) {
    const int64_t value = call.scalars[i].value.value_or(0);
    frame.values.slots[i] = {value, value};
  }
  frame.places.resize(code.body->places.size());
  frame.values.contents.resize(code.body->places.size());
  for (size_t p = 0; p < kernel.num_params; ++p) bind_place(frame, call, p);
  add_pairs(frame, call, step);
  return frame;
}

void Machine::bind_place(Frame& frame, const Call& call, size_t param) {
  const Place& place = frame.code->body->places[param];
  const size_t b = buffers_.at(call.args[param].buffer);
  const int64_t begin = call.args[param].offset_elements * place.element->bytes;
  Bound& bound = frame.places[param];
  bound.tag = memory_[b].tag;
  if (memory_[b].address >= 0) {
    bound.address = memory_[b].address + begin;
  } else if (place.constant) {
    frame.values.contents[param] =
        std::span(loops_.buffers[b].data).subspan(static_cast<size_t>(begin));
  }
  if (memory_[b].alignment % place.alignment != 0 || begin % place.alignment != 0)
    throw Lie(call.kernel + " needs more alignment of " + place.name + " than " +
              call.args[param].buffer + " has");
}

void Trace::read(int64_t first, int64_t last) {
  if (first_written <= last_written) {
    forward = std::max(forward, last_written - first);
    reverse = std::max(reverse, last - first_written);
  }
  first_read = std::min(first_read, first);
  last_read = std::max(last_read, last);
}

void Trace::write(int64_t first, int64_t last) {
  first_written = std::min(first_written, first);
  last_written = std::max(last_written, last);
}

void Trace::then(const Trace& later) {
  forward = std::max(forward, later.forward);
  reverse = std::max(reverse, later.reverse);
  if (later.first_read <= later.last_read) read(later.first_read, later.last_read);
  if (later.first_written <= later.last_written) write(later.first_written, later.last_written);
}

// Of a tied group that is read through another member, the bytes of the input are meant.
void Machine::add_pairs(Frame& frame, const Call& call, int64_t step) {
  const std::vector<Place>& places = frame.code->body->places;
  for (const size_t w : wanted_at_[static_cast<size_t>(step)]) {
    const size_t input = buffers_.at(wanted_[w].input);
    const int64_t begin = memory_[input].address;
    const int64_t end = begin + loops_.buffers[input].size_bytes;
    const size_t trace = frame.traces.size();
    frame.traces.emplace_back();
    frame.wanted.push_back(w);
    for (size_t o = 0; o < call.args.size(); ++o) {
      if (!places[o].writes || call.args[o].buffer != wanted_[w].output) continue;
      frame.places[o].traced.push_back(trace);
      for (size_t i = 0; i < call.args.size(); ++i) {
        if (places[i].reads && frame.places[i].tag == memory_[input].tag)
          frame.places[i].pairs.push_back({w, trace, o, begin, end});
      }
    }
  }
}

void Machine::step(int64_t count) {
  steps_left_ -= count;
  if (steps_left_ < 0) throw TooLarge("the program takes too many steps to be judged");
}

void Machine::run(Frame& frame, std::span<const Action> actions) {
  step();
  for (const Action& action : actions) run(frame, action);
}

// Each loop that stores, with what comes before it and stores nothing, changes places with the
// others of its block and with what stores outside of loops.
void Machine::run_turned(Frame& frame, std::span<const Action> actions) {
  if (frame.traces.empty()) return run(frame, actions);
  step();
  std::vector<Turned> groups =
      std::exchange(frame.traces, std::vector<Turned>(frame.traces.size()));
  const auto end_group = [&] {
    for (size_t t = 0; t < groups.size(); ++t) {
      Turned& group = frame.traces[t];
      groups[t].as_written.then(group.as_written);
      group.last_first.then(groups[t].last_first);
      groups[t].last_first = group.last_first;
      group = {};
    }
  };
  // What was before this block comes first whatever is in it.
  std::vector<Trace> before;
  for (Turned& group : groups) before.push_back(std::exchange(group.last_first, Trace()));
  bool has_stored = false;  // in this group
  bool has_looped = false;
  for (const Action& action : actions) {
    const bool is_store_loop = action.stores && action.kind == Action::Kind::kLoop;
    if (has_looped || (has_stored && is_store_loop)) {
      end_group();
      has_stored = has_looped = false;
    }
    has_stored = has_stored || action.stores;
    has_looped = is_store_loop;
    run(frame, action);
  }
  end_group();
  for (size_t t = 0; t < groups.size(); ++t) {
    before[t].then(groups[t].last_first);
    frame.traces[t] = {groups[t].as_written, before[t]};
  }
}

void Machine::run(Frame& frame, const Action& action) {
  switch (action.kind) {
    case Action::Kind::kRead:
      return read(frame, action);
    case Action::Kind::kWrite:
      return write(frame, action);
    case Action::Kind::kSet:
      return set(frame, action);
    case Action::Kind::kLoop:
      return loop(frame, action);
    case Action::Kind::kBranch:
      return branch(frame, action);
    case Action::Kind::kCall:
      return call(action.target);
  }
}

void Machine::call(int64_t step) {
  Frame frame = bind(step);
  run_turned(frame, frame.code->actions);
  for (size_t t = 0; t < frame.traces.size(); ++t) {
    Distance& d = wanted_[frame.wanted[t]];
    const auto raise = [](std::optional<int64_t>& to, int64_t seen) {
      if (seen != INT64_MIN) to = std::max(to.value_or(INT64_MIN), seen);
    };
    for (const Trace& trace : {frame.traces[t].as_written, frame.traces[t].last_first}) {
      raise(d.turned_forward, trace.forward);
      raise(d.turned_reverse, trace.reverse);
    }
  }
}

// The first elements that the access may begin at.
Range Machine::elements_of(const Frame& frame, const Action& action) {
  step();
  const Place& place = frame.code->body->places[static_cast<size_t>(action.target)];
  Range at;
  if (action.is_sum) {
    at.low = at.high = value_of(action.sum, frame.values);
  } else {
    at = frame.values.of(action.a);
  }
  if (at.low < 0 || at.high > place.count - action.lanes)
    throw Lie(*frame.name + " touches element " + number(at.low < 0 ? at.low : at.high) + " of " +
              place.name + ", which has " + number(place.count));
  const bool is_param = static_cast<size_t>(action.target) < frame.code->num_params;
  if (is_param && action.alignment > place.element->bytes) {
    const bool is_multiple = at.is_known() && at.low * place.element->bytes % action.alignment == 0;
    if (!is_multiple || place.alignment % action.alignment != 0)
      throw Lie(*frame.name + " has a misaligned access to " + place.name);
  }
  return at;
}

void Machine::read(Frame& frame, const Action& action) {
  const Range at = elements_of(frame, action);
  const Bound& bound = frame.places[static_cast<size_t>(action.target)];
  if (bound.address < 0) return;
  const Place& place = frame.code->body->places[static_cast<size_t>(action.target)];
  const int64_t begin = bound.address + at.low * place.element->bytes;
  const int64_t end = bound.address + (at.high + action.lanes) * place.element->bytes;
  if (!at.is_known()) step(end - begin);
  for (int64_t a = begin; a < end; ++a) {
    if (tags_[static_cast<size_t>(a)] != bound.tag)
      throw Lie(*frame.name + " reads byte " + number(a - bound.address) + " of " + place.name +
                ", which is not there");
  }
  for (const Pair& pair : bound.pairs) {
    const Bound& written = frame.places[pair.written];
    const int64_t first = std::max(begin, pair.begin);
    const int64_t last = std::min(end, pair.end) - 1;
    if (first > last) continue;
    frame.traces[pair.trace].as_written.read(first, last);
    frame.traces[pair.trace].last_first.read(first, last);
    if (!written.was_written) continue;
    Distance& d = wanted_[pair.wanted];
    d.forward = std::max(d.forward.value_or(INT64_MIN), written.last_written - first);
    d.reverse = std::max(d.reverse.value_or(INT64_MIN), last - written.first_written);
  }
}

void Machine::write(Frame& frame, const Action& action) {
  const Range at = elements_of(frame, action);
  Bound& bound = frame.places[static_cast<size_t>(action.target)];
  if (bound.address < 0) return;
  const Place& place = frame.code->body->places[static_cast<size_t>(action.target)];
  const int64_t begin = bound.address + at.low * place.element->bytes;
  const int64_t end = bound.address + (at.high + action.lanes) * place.element->bytes;
  if (!at.is_known()) step(end - begin);
  for (int64_t a = begin; a < end; ++a) {
    // What is perhaps written is no more what it was, nor surely what it should be.
    if (at.is_known() || tags_[static_cast<size_t>(a)] != bound.tag)
      tag(a, at.is_known() ? bound.tag : 0);
  }
  bound.first_written = bound.was_written ? std::min(bound.first_written, begin) : begin;
  bound.last_written = bound.was_written ? std::max(bound.last_written, end - 1) : end - 1;
  bound.was_written = true;
  for (const size_t trace : bound.traced) {
    frame.traces[trace].as_written.write(begin, end - 1);
    frame.traces[trace].last_first.write(begin, end - 1);
  }
}

void Machine::tag(int64_t address, Tag tag) {
  Tag& here = tags_[static_cast<size_t>(address)];
  if (here == tag) return;
  if (uncertain_ > 0) changes_.push_back({address, here});
  here = tag;
}

void Machine::set(Frame& frame, const Action& action) {
  step();
  Range& slot = frame.values.slots[static_cast<size_t>(action.target)];
  const Element& element = *frame.code->body->slots[static_cast<size_t>(action.target)].element;
  slot = action.a < 0 ? Range{element.low, element.high} : frame.values.of(action.a);
  if (!action.on_data && !slot.is_known())
    throw Lie("a number of " + *frame.name + " leaves the range of its type");
}

void Machine::loop(Frame& frame, const Action& action) {
  const Range begin = frame.values.of(action.a);
  const Range end = frame.values.of(action.b);
  const bool is_known = begin.is_known() && end.is_known();
  if (!is_known && !action.on_data)
    throw Lie("a loop of " + *frame.name + " has a bound that leaves the range of its type");
  if (!begin.is_known() && action.step != 1)
    throw Lie("a loop of " + *frame.name + " begins at data and takes long steps");
  if (begin.low >= end.high) return;
  const int64_t trips = (end.high - begin.low + action.step - 1) / action.step;
  Range& slot = frame.values.slots[static_cast<size_t>(action.target)];
  const bool is_turned = action.stores && !frame.traces.empty();
  const std::vector<Turned> before = is_turned ? frame.traces : std::vector<Turned>();
  std::vector<Turned> all(before.size());  // of the iterations so far, the latest first
  for (int64_t t = 0; t < trips; ++t) {
    if (is_turned) frame.traces.assign(before.size(), Turned());
    const int64_t value = begin.low + (action.reverse ? trips - 1 - t : t) * action.step;
    slot = {value, value};
    const auto body = [&] { is_turned ? run_turned(frame, action.body) : run(frame, action.body); };
    if (is_known) {
      body();
    } else {
      either(body, [] {});
    }
    if (!is_turned) continue;
    for (size_t i = 0; i < all.size(); ++i) frame.traces[i].then(all[i]);
    all.swap(frame.traces);
  }
  if (!is_turned) return;
  frame.traces = before;
  for (size_t i = 0; i < all.size(); ++i) frame.traces[i].then(all[i]);
}

void Machine::branch(Frame& frame, const Action& action) {
  const Range condition = frame.values.of(action.a);
  if (condition.is_known()) {
    const std::vector<Action>& taken = condition.low ? action.body : action.otherwise;
    return action.stores ? run_turned(frame, taken) : run(frame, taken);
  }
  if (!action.on_data) throw Lie("a condition of " + *frame.name + " leaves the range of its type");
  either([&] { run(frame, action.body); }, [&] { run(frame, action.otherwise); });
}

// Both happen, each from the same state; what they leave differently is not there.
template <class A, class B>
void Machine::either(const A& a, const B& b) {
  ++uncertain_;
  const size_t mark = changes_.size();
  a();
  std::map<int64_t, Tag> left_by_a;
  for (; changes_.size() > mark; changes_.pop_back()) {
    Tag& here = tags_[static_cast<size_t>(changes_.back().address)];
    left_by_a.emplace(changes_.back().address, here);  // the last change comes first
    here = changes_.back().before;
  }
  step(static_cast<int64_t>(left_by_a.size()));
  b();
  std::set<int64_t> differing;
  for (const auto& [address, left] : left_by_a) {
    if (tags_[static_cast<size_t>(address)] != left) differing.insert(address);
  }
  for (size_t c = mark; c < changes_.size(); ++c) {
    if (!left_by_a.contains(changes_[c].address)) differing.insert(changes_[c].address);
  }
  for (const int64_t address : differing) tag(address, 0);
  if (--uncertain_ == 0) changes_.clear();
}

}  // namespace ingot::assay
