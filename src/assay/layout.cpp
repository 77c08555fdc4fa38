// SPDX-License-Identifier: Apache-2.0
#include "assay/layout.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace ingot::assay {
namespace {

using Span = std::pair<int64_t, int64_t>;

class Touched {
 public:
  explicit Touched(const Loops& loops) : loops_(loops) { walk(loops.runner.stmts); }

  Span of(const std::string& buffer) const {
    const auto found = spans_.find(buffer);
    return found == spans_.end() ? Span{0, 0} : found->second;
  }

 private:
  void touch(int64_t call, Span when) {
    for (const Call::Arg& arg : loops_.calls[static_cast<size_t>(call)].args) {
      const auto [span, is_new] = spans_.try_emplace(arg.buffer, when);
      if (is_new) continue;
      span->second = {std::min(span->second.first, when.first),
                      std::max(span->second.second, when.second)};
    }
  }

  void walk(const std::vector<Stmt>& stmts) {
    for (const Stmt& s : stmts) {
      const int64_t begin = time_;
      if (s.kind == Stmt::Kind::kCall) {
        touch(time_, {time_, time_ + 1});
        ++time_;
      }
      walk(s.body);
      walk(s.otherwise);
      if (s.kind != Stmt::Kind::kFor) continue;
      for (int64_t call = begin; call < time_; ++call) touch(call, {begin, time_});
    }
  }

  const Loops& loops_;
  std::map<std::string, Span> spans_;
  int64_t time_ = 0;
};

bool contains(const Buffer& whole, const Buffer& part) {
  return whole.tie_group >= 0 && whole.tie_group == part.tie_group &&
         whole.tie_offset_bytes <= part.tie_offset_bytes &&
         part.tie_offset_bytes + part.size_bytes <= whole.tie_offset_bytes + whole.size_bytes;
}

void stretch_parts(std::vector<Life>& lives) {
  std::map<int64_t, std::vector<Life*>> groups;
  for (Life& life : lives) {
    if (life.buffer->tie_group >= 0 && life.begin < life.end)
      groups[life.buffer->tie_group].push_back(&life);
  }
  for (auto& [group, members] : groups) {
    std::ranges::stable_sort(members, std::ranges::greater{}, [](const Life* l) {
      return std::tuple(l->buffer->size_bytes, l->buffer->tie_offset_bytes, l->end);
    });
    for (size_t i = 1; i < members.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (contains(*members[j]->buffer, *members[i]->buffer))
          members[i]->end = std::max(members[i]->end, members[j]->end);
      }
    }
  }
}

bool share_bytes(const Buffer& a, const Buffer& b) {
  return *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
         *b.offset_bytes < *a.offset_bytes + a.size_bytes;
}

// Whether parameters that are bound to it are written, or read.
struct Touch {
  bool writes = false;
  bool reads = false;
};

Touch touch_of(const Loops& loops, const Call& call, const std::string& buffer) {
  Touch touch;
  const std::vector<Place>& places = loops.kernels.at(call.kernel).body.places;
  for (size_t p = 0; p < call.args.size(); ++p) {
    if (call.args[p].buffer != buffer) continue;
    touch.writes = touch.writes || places[p].writes;
    touch.reads = touch.reads || places[p].reads;
  }
  return touch;
}

// C allows two types in one place only if one of them is of bytes.
bool may_share(const Buffer& a, const Buffer& b) {
  return a.element == b.element || is_of_bytes(*a.element) || is_of_bytes(*b.element);
}

}  // namespace

bool is_of_bytes(const Element& e) {
  return e.name == "int8" || e.name == "uint8" || e.name == "bool";
}

std::vector<Life> find_lives(const Loops& loops, const Options& options) {
  const Touched touched(loops);
  const int64_t end = std::max<int64_t>(static_cast<int64_t>(loops.calls.size()), 1);
  std::vector<Life> lives;
  for (const Buffer& b : loops.buffers) {
    const bool is_callers = b.kind == "input" || b.kind == "output";
    const bool is_lent = is_callers && !b.pool.empty();
    if (b.kind != "arena" && !(is_callers && options.io_in_arena) && !is_lent) continue;
    const auto [first, last] = touched.of(b.name);
    Life life{&b, first, last};
    if (b.kind == "output") life.end = end;
    if (b.kind == "input") life = {&b, 0, options.reuse_inputs ? std::max<int64_t>(last, 1) : end};
    lives.push_back(life);
  }
  stretch_parts(lives);
  return lives;
}

Loops with_ports_lent(Loops loops, const Options& options) {
  const auto memory_of = [](const std::string& port) { return "caller's " + port; };
  for (Buffer& b : loops.buffers) {
    const bool is_lent = (b.kind == "input" && options.reuse_inputs) ||
                         (b.kind == "output" && options.scratch_in_outputs);
    if (is_lent && !options.io_in_arena && b.size_bytes > 0) {
      b.offset_bytes = 0;
      b.pool = memory_of(b.name);
    } else if (!b.lender.empty()) {
      if (!b.pool.empty() || b.kind != "arena") throw Lie(b.name + " lies in two memories");
      b.pool = memory_of(b.lender);
    }
  }
  return loops;
}

std::vector<Region> read_regions(const Json& json, const Loops& loops) {
  const auto arena = json["arena_bytes"].integer();
  const auto alignment = json["arena_alignment"].integer();
  if (!arena || !alignment || *alignment < 1)
    throw Lie("the JSON does not state arena_bytes and arena_alignment");
  std::vector<Region> regions = {{"", *arena, *alignment, INT64_MAX}};
  const JsonArray& memory = json["memory"].array();
  for (size_t m = 0; m < memory.size(); ++m) {
    const std::string name = memory[m]["name"].text();
    const std::string kind = memory[m]["kind"].text();
    const auto bytes = memory[m]["bytes"].integer();
    const auto align = memory[m]["alignment"].integer();
    if (!bytes || !align || *align < 1 || name.empty() || kind != (m == 0 ? "arena" : "pool"))
      throw Lie("the JSON states no name, kind, bytes or alignment of memory " + name);
    if (m == 0) {
      if (bytes != arena || align != alignment) throw Lie("the JSON states two sizes of the arena");
      continue;
    }
    for (const Region& other : regions)
      if (other.name == name) throw Lie("there are two pools " + name);
    regions.push_back({name, *bytes, *align, 0});
  }
  const JsonArray& given = json["options"]["pools"].array();
  if (given.size() + 1 != regions.size()) throw Lie("the JSON states other pools than its options");
  for (size_t p = 0; p < given.size(); ++p) {
    Region& region = regions[p + 1];
    region.most_bytes = given[p]["capacity_bytes"].integer().value_or(-1);
    if (given[p]["name"].text() != region.name)
      throw Lie("the JSON states other pools than its options");
    if (region.bytes > region.most_bytes)
      throw Lie("the pool " + region.name + " is larger than its limit");
  }
  for (const Buffer& b : loops.buffers) {
    if ((b.kind == "input" || b.kind == "output") && !b.pool.empty())
      regions.push_back({b.pool, b.size_bytes, b.element->bytes, b.size_bytes, b.element});
  }
  return regions;
}

namespace {

void check_places_in(const std::vector<Life>& lives, const Region& region) {
  const std::string kind = region.element ? "the " : "the pool ";
  const std::string where = region.name.empty() ? "the arena" : kind + region.name;
  int64_t highest = 0;
  std::map<int64_t, const Buffer*> first_of_group;
  for (const Life& life : lives) {
    const Buffer& b = *life.buffer;
    if (b.pool != region.name) continue;
    if (!b.offset_bytes) throw Lie(b.name + " has no place in " + where);
    if (*b.offset_bytes < 0 || *b.offset_bytes > region.bytes - b.size_bytes)
      throw Lie(b.name + " is outside " + where);
    if (region.element && b.element != region.element && !is_of_bytes(*b.element))
      throw Lie(b.name + " is of another type than " + where);
    if (*b.offset_bytes % b.alignment != 0 || region.alignment % b.alignment != 0)
      throw Lie(b.name + " is misaligned");
    highest = std::max(highest, *b.offset_bytes + b.size_bytes);
    if (b.tie_group < 0) continue;
    const Buffer& first = *first_of_group.emplace(b.tie_group, &b).first->second;
    const int64_t between = *b.offset_bytes - *first.offset_bytes;
    int64_t stated = 0;
    if (__builtin_sub_overflow(b.tie_offset_bytes, first.tie_offset_bytes, &stated) ||
        between != stated)
      throw Lie(first.name + " and " + b.name + " are tied, but not at their distance");
  }
  if (region.bytes != highest) throw Lie(where + " is not as high as its highest buffer reaches");
}

}  // namespace

void check_places(const std::vector<Life>& lives, const std::vector<Region>& regions,
                  const Json& options) {
  std::map<int64_t, const Buffer*> first_of_group;
  for (const Life& life : lives) {
    const Buffer& b = *life.buffer;
    const auto region = std::ranges::find(regions, b.pool, &Region::name);
    if (region == regions.end())
      throw Lie(b.name + " lies in the pool " + b.pool + ", which does not exist");
    if (!b.pool.empty() && b.kind != "arena" && region->element == nullptr)
      throw Lie(b.name + " is the caller's and lies in a pool");
    const std::string placed = options["places"][b.tensor].text();
    if (b.kind == "arena" && !placed.empty() && placed != (b.pool.empty() ? "arena" : b.pool))
      throw Lie(b.name + " does not lie in " + placed + ", where the options place it");
    if (b.tie_group < 0) continue;
    const Buffer& first = *first_of_group.emplace(b.tie_group, &b).first->second;
    if (first.pool != b.pool)
      throw Lie(first.name + " and " + b.name + " are tied and lie in different pools");
  }
  for (const Region& region : regions) check_places_in(lives, region);
}

Loops side_by_side(Loops loops, const std::vector<Region>& regions) {
  std::map<std::string, int64_t> starts;
  int64_t end = 0;
  for (const Region& region : regions) {
    constexpr int64_t kMost = int64_t{1} << 40;
    if (region.bytes > kMost || region.alignment > kMost)
      throw Lie("memories of that size cannot be judged");
    starts[region.name] = (end + region.alignment - 1) / region.alignment * region.alignment;
    end = starts[region.name] + region.bytes;
  }
  for (Buffer& b : loops.buffers) {
    if (b.offset_bytes) *b.offset_bytes += starts[b.pool];
    b.pool.clear();
  }
  return loops;
}

// Sweeps over time with the live buffers by their offsets: only neighbours are compared.
void check_pairs(const std::vector<Life>& lives, const Distances& distances) {
  std::vector<const Life*> by_begin;
  int64_t largest = 0;
  for (const Life& life : lives) {
    if (!life.takes_space()) continue;
    by_begin.push_back(&life);
    largest = std::max(largest, life.buffer->size_bytes);
  }
  std::ranges::stable_sort(by_begin, {}, &Life::begin);
  using Placed = std::multimap<int64_t, const Life*>;
  Placed alive;
  std::multimap<int64_t, Placed::iterator> by_end;
  for (const Life* life : by_begin) {
    while (!by_end.empty() && by_end.begin()->first <= life->begin) {
      alive.erase(by_end.begin()->second);
      by_end.erase(by_end.begin());
    }
    const Buffer& b = *life->buffer;
    const int64_t offset = *b.offset_bytes;
    for (auto other = alive.lower_bound(offset - largest);
         other != alive.end() && other->first < offset + b.size_bytes; ++other) {
      const Buffer& o = *other->second->buffer;
      const bool tied = b.tie_group >= 0 && b.tie_group == o.tie_group;
      if (share_bytes(o, b) && !tied && !distances.allow(o, b))
        throw Lie(o.name + " and " + b.name + " are alive together and share bytes");
    }
    by_end.emplace(life->end, alive.emplace(offset, life));
  }
}

Distances::Distances(const Json& json) {
  for (const Json& d : json.array()) {
    Stated stated{d["output"].text(),     d["input"].text(),      d["step"].integer().value_or(-1),
                  d["forward"].integer(), d["reverse"].integer(), d["runs"].text()};
    if (!by_pair_.emplace(std::pair(stated.output, stated.input), stated_.size()).second)
      throw Lie("there are two distances of " + stated.output + " to " + stated.input);
    stated_.push_back(std::move(stated));
  }
}

void Distances::check(const Loops& loops, const std::vector<Life>& lives,
                      const Options& options) const {
  if (!options.overlap && !stated_.empty())
    throw Lie("distances are stated where no overlap is allowed");
  std::map<std::string, const Life*> by_name;
  for (const Life& life : lives) by_name[life.buffer->name] = &life;
  std::map<int64_t, std::string> runs;
  for (const Stated& d : stated_) {
    const std::string pair = "the distance of " + d.output + " to " + d.input;
    const auto out = by_name.find(d.output);
    const auto in = by_name.find(d.input);
    if (out == by_name.end() || in == by_name.end()) throw Lie(pair + " is of no arena buffers");
    if (d.step < 0 || d.step >= static_cast<int64_t>(loops.calls.size()))
      throw Lie(pair + " is of no step");
    if (d.runs != "forward" && d.runs != "reverse") throw Lie(pair + " has no direction");
    if (runs.try_emplace(d.step, d.runs).first->second != d.runs)
      throw Lie(pair + " has another direction than others of its step");
    if (out->second->begin != d.step || in->second->end != d.step + 1)
      throw Lie(pair + " is of buffers that do not begin and end in its step");
    const Buffer& input = *in->second->buffer;
    if (input.kind == "output" || (input.kind == "input" && !options.reuse_inputs))
      throw Lie(pair + " would overwrite what must survive");
    const Call& call = loops.calls[static_cast<size_t>(d.step)];
    const bool ends_there = std::ranges::any_of(lives, [&](const Life& whole) {
      if (whole.buffer != &input && !contains(*whole.buffer, input)) return false;
      const Touch touch = touch_of(loops, call, whole.buffer->name);
      return touch.reads && !touch.writes;
    });
    const Touch output = touch_of(loops, call, d.output);
    if (!output.writes || output.reads || !ends_there)
      throw Lie(pair + " is of buffers that its step does not write and read");
  }
}

const Distances::Stated* Distances::find(const Buffer& output, const Buffer& input) const {
  const auto found = by_pair_.find({output.name, input.name});
  return found == by_pair_.end() ? nullptr : &stated_[found->second];
}

bool Distances::allow(const Buffer& a, const Buffer& b) const {
  for (const auto& [output, input] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Stated* d = find(*output, *input);
    if (d == nullptr || !may_share(a, b)) continue;
    const int64_t behind = *input->offset_bytes - *output->offset_bytes;
    if (d->runs == "forward" && d->forward && behind >= *d->forward) return true;
    if (d->runs == "reverse" && d->reverse && -behind >= *d->reverse) return true;
  }
  return false;
}

std::vector<Distance> Distances::wanted(const Loops& loops, const std::vector<Life>& lives,
                                        const Options& options) const {
  std::vector<Distance> wanted;
  for (const Stated& d : stated_) wanted.push_back({d.output, d.input, d.step});
  std::map<std::string, const Life*> by_name;
  for (const Life& life : lives) by_name[life.buffer->name] = &life;
  for (const Stmt& stmt : loops.runner.stmts) {
    if (stmt.kind != Stmt::Kind::kCall) continue;
    const Call& call = loops.calls[static_cast<size_t>(stmt.target)];
    std::vector<const Life*> begin;
    std::vector<const Life*> end;
    const auto add = [](std::vector<const Life*>& to, const Life* life) {
      if (std::ranges::find(to, life) == to.end()) to.push_back(life);
    };
    for (const Call::Arg& arg : call.args) {
      const auto life = by_name.find(arg.buffer);
      if (life == by_name.end() || life->second->buffer->tie_group >= 0) continue;
      const Touch touch = touch_of(loops, call, arg.buffer);
      const std::string& kind = life->second->buffer->kind;
      const bool may_die = kind == "arena" || (kind == "input" && options.reuse_inputs);
      if (touch.writes && !touch.reads && life->second->begin == stmt.target)
        add(begin, life->second);
      if (touch.reads && !touch.writes && may_die && life->second->end == stmt.target + 1)
        add(end, life->second);
    }
    for (const Life* output : begin) {
      for (const Life* input : end) {
        if (find(*output->buffer, *input->buffer) == nullptr &&
            may_share(*output->buffer, *input->buffer))
          wanted.push_back({output->buffer->name, input->buffer->name, stmt.target});
      }
    }
  }
  return wanted;
}

void Distances::add_possible(const Loops& loops, const std::vector<Life>& lives,
                             std::vector<Distance>& wanted) const {
  std::map<std::string, const Buffer*> planned;
  for (const Life& life : lives) planned[life.buffer->name] = life.buffer;
  std::set<std::pair<std::string, std::string>> known;
  for (const Distance& d : wanted) known.emplace(d.output, d.input);
  for (size_t c = 0; c < loops.calls.size(); ++c) {
    const Call& call = loops.calls[c];
    for (const Call::Arg& o : call.args) {
      const Touch output = touch_of(loops, call, o.buffer);
      if (!output.writes || output.reads || !planned.contains(o.buffer)) continue;
      for (const Call::Arg& i : call.args) {
        const Touch input = touch_of(loops, call, i.buffer);
        if (input.writes || !planned.contains(i.buffer) ||
            !may_share(*planned.at(o.buffer), *planned.at(i.buffer)))
          continue;
        if (known.emplace(o.buffer, i.buffer).second)
          wanted.push_back({o.buffer, i.buffer, static_cast<int64_t>(c)});
      }
    }
  }
}

void Distances::check_against(std::span<const Distance> derived, const Loops& loops,
                              bool is_optimal) const {
  std::map<std::string, const Buffer*> buffers;
  for (const Buffer& b : loops.buffers) buffers[b.name] = &b;
  std::map<int64_t, std::string> runs;
  for (const Stated& d : stated_) runs[d.step] = d.runs;
  for (size_t i = 0; i < derived.size(); ++i) {
    const Distance& seen = derived[i];
    Stated stated{seen.output, seen.input, seen.step, {}, {}, "forward"};
    if (i < stated_.size()) {
      stated = stated_[i];
    } else if (runs.contains(seen.step)) {
      stated.runs = runs[seen.step];
    }
    check_against(stated, seen, *buffers.at(seen.output), *buffers.at(seen.input), is_optimal);
  }
}

void Distances::check_against(const Stated& stated, const Distance& derived, const Buffer& output,
                              const Buffer& input, bool is_optimal) const {
  const bool forward = stated.runs == "forward";
  const int64_t behind = *input.offset_bytes - *output.offset_bytes;
  // At the ends of this range the two share no byte.
  const int64_t lowest = forward ? -input.size_bytes : -output.size_bytes;
  const int64_t highest = forward ? output.size_bytes : input.size_bytes;
  // The run has seen addresses; with one byte more than the greatest between them they are safe.
  const std::optional<int64_t> seen = forward ? derived.forward : derived.reverse;
  const int64_t needed = seen ? std::max(lowest, *seen + (forward ? behind : -behind) + 1) : lowest;
  const int64_t least = std::min(needed, highest);
  const int64_t is = (forward ? stated.forward : stated.reverse).value_or(highest);
  const std::string pair = "the distance of " + output.name + " to " + input.name + " in step " +
                           std::to_string(derived.step) + " is " + std::to_string(is);
  if (is < least) throw Lie(pair + ", but the run needs " + std::to_string(least));
  const bool tied = output.tie_group >= 0 || input.tie_group >= 0;
  if (is_optimal && !tied && is > least)
    throw Lie(pair + " where " + std::to_string(least) +
              " is enough, and still the plan is called optimal");
  if (!is_optimal || tied) return;
  check_turned(stated, derived, output, input);
}

// Of the direction in which the step does not run a lower bound knows by its distance alone: it
// must not be more than a run in that direction needs.
void Distances::check_turned(const Stated& stated, const Distance& derived, const Buffer& output,
                             const Buffer& input) const {
  const bool forward = stated.runs != "forward";
  const int64_t behind = *input.offset_bytes - *output.offset_bytes;
  const int64_t lowest = forward ? -input.size_bytes : -output.size_bytes;
  const int64_t highest = forward ? output.size_bytes : input.size_bytes;
  const std::optional<int64_t> seen = forward ? derived.turned_forward : derived.turned_reverse;
  const int64_t needed = seen ? std::max(lowest, *seen + (forward ? behind : -behind) + 1) : lowest;
  const std::optional<int64_t> is = forward ? stated.forward : stated.reverse;
  if (is && *is > std::min(needed, highest))
    throw Lie("the distance of " + output.name + " to " + input.name + " in step " +
              std::to_string(derived.step) + ", turned round, is " + std::to_string(*is) +
              " where " + std::to_string(needed) +
              " is enough, and still the plan is called optimal");
}

}  // namespace ingot::assay
