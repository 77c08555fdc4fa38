// SPDX-License-Identifier: Apache-2.0
#include "assay/judge.h"

#include <algorithm>
#include <set>

#include "assay/distances.h"

namespace ingot::assay {
namespace {

bool share_bytes(const LoopBuffer& a, const LoopBuffer& b) {
  return *a.offset_bytes < *b.offset_bytes + b.size_bytes &&
         *b.offset_bytes < *a.offset_bytes + a.size_bytes;
}

class Judge {
 public:
  Judge(const Json& json, const Loops& loops) : json_(json), loops_(loops) {
    for (const LoopBuffer& b : loops.buffers) by_name_[b.name] = &b;
    reuse_inputs_ = json["options"]["reuse_inputs"].boolean().value_or(false);
    io_in_arena_ = json["options"]["io"].text() == "arena";
    distances_ = Distances(json["plan"]["distances"]);
  }

  std::string first_lie() {
    for (const auto check :
         {&Judge::calls, &Judge::callers_buffers, &Judge::lives, &Judge::places, &Judge::distances,
          &Judge::pairs, &Judge::json_buffers, &Judge::bound}) {
      std::string lie = (this->*check)();
      if (!lie.empty()) return lie;
    }
    return "";
  }

 private:
  std::string calls() {
    for (const LoopCall& call : loops_.calls) {
      const auto kernel = loops_.kernels.find(call.kernel);
      if (kernel == loops_.kernels.end())
        return "the runner calls " + call.kernel + ", which does not exist";
      if (kernel->second.size() != call.args.size()) {
        return "the runner calls " + call.kernel + " with another number of arguments";
      }
      for (size_t i = 0; i < call.args.size(); ++i) {
        std::string lie = argument(call, kernel->second[i], call.args[i]);
        if (!lie.empty()) return lie;
      }
    }
    return "";
  }

  std::string argument(const LoopCall& call, const LoopParam& param, const LoopArg& arg) {
    const auto found = by_name_.find(arg.buffer);
    if (found == by_name_.end()) return "buffer " + arg.buffer + " does not exist";
    const LoopBuffer& b = *found->second;
    const int64_t offset = arg.offset_elements * b.element_bytes;
    if (arg.offset_elements < 0 || arg.offset_elements > b.size_bytes ||
        offset + param.size_bytes > b.size_bytes) {
      return call.kernel + " touches more of " + b.name + " than it has";
    }
    if (param.stores && !param.says_it_writes) {
      return call.kernel + " stores to " + param.name + ", which it says it only reads";
    }
    if (param.says_it_writes && b.kind == "constant")
      return call.kernel + " writes the constant " + b.name;
    if (param.says_it_writes && b.kind == "input" && !reuse_inputs_) {
      return call.kernel + " writes the caller's input " + b.name;
    }
    return "";
  }

  bool is_callers(const LoopBuffer& b) const { return b.kind == "input" || b.kind == "output"; }
  bool in_arena(const LoopBuffer& b) const {
    return b.kind == "arena" || (io_in_arena_ && is_callers(b));
  }

  std::string callers_buffers() {
    for (const LoopBuffer& b : loops_.buffers) {
      if (is_callers(b) && !io_in_arena_ && b.offset_bytes) {
        return "the caller's buffer " + b.name + " has a place in the arena";
      }
    }
    return "";
  }

  std::string lives() {
    std::map<std::string, Life> found;
    const auto steps = static_cast<int64_t>(loops_.calls.size());
    for (int64_t t = 0; t < steps; ++t) {
      for (const LoopArg& arg : loops_.calls[static_cast<size_t>(t)].args) {
        const auto [life, is_new] =
            found.try_emplace(arg.buffer, Life{by_name_[arg.buffer], t, t + 1});
        if (!is_new) life->second.end = t + 1;
      }
    }
    const int64_t end = std::max<int64_t>(steps, 1);
    for (const LoopBuffer& b : loops_.buffers) {
      if (!in_arena(b)) continue;
      const auto touched = found.find(b.name);
      Life life = touched == found.end() ? Life{&b, 0, 0} : touched->second;
      if (b.kind == "output") life.end = end;
      if (b.kind == "input") {
        life.begin = 0;
        life.end = reuse_inputs_ ? std::max<int64_t>(life.end, 1) : end;
      }
      lives_.push_back(life);
    }
    stretch_tied();
    return "";
  }

  // A part of a whole lives as long as the whole is read.
  void stretch_tied() {
    std::map<int64_t, std::vector<Life*>> groups;
    for (Life& life : lives_) {
      if (life.buffer->tie_group >= 0) groups[life.buffer->tie_group].push_back(&life);
    }
    for (auto& [group, members] : groups) {
      std::ranges::stable_sort(members, std::ranges::greater{},
                               [](const Life* l) { return l->buffer->size_bytes; });
      for (size_t i = 1; i < members.size(); ++i) {
        const LoopBuffer& part = *members[i]->buffer;
        for (size_t j = 0; j < i; ++j) {
          const LoopBuffer& whole = *members[j]->buffer;
          if (whole.size_bytes > part.size_bytes &&
              whole.tie_offset_bytes <= part.tie_offset_bytes &&
              part.tie_offset_bytes + part.size_bytes <=
                  whole.tie_offset_bytes + whole.size_bytes) {
            members[i]->end = std::max(members[i]->end, members[j]->end);
          }
        }
      }
    }
  }

  std::string places() {
    const auto arena = json_["arena_bytes"].integer();
    const auto alignment = json_["arena_alignment"].integer();
    if (!arena || !alignment) return "the JSON does not state arena_bytes and arena_alignment";
    for (const Life& life : lives_) {
      const LoopBuffer& b = *life.buffer;
      if (!b.offset_bytes) return b.name + " has no place in the arena";
      if (*b.offset_bytes < 0 || *b.offset_bytes > *arena - b.size_bytes)
        return b.name + " is outside the arena";
      if (*b.offset_bytes % b.alignment != 0 || *alignment % b.alignment != 0)
        return b.name + " is misaligned";
      highest_ = std::max(highest_, *b.offset_bytes + b.size_bytes);
    }
    return "";
  }

  std::string distances() {
    const bool allowed = json_["plan"]["within"]["overlap"].boolean().value_or(false);
    if (!allowed && !distances_.empty()) return "distances are stated where no overlap is allowed";
    return distances_.find_lie(loops_, lives_, reuse_inputs_);
  }

  std::string pair(const Life& a, const Life& b) const {
    const bool tied = a.buffer->tie_group >= 0 && a.buffer->tie_group == b.buffer->tie_group;
    if (tied) {
      const bool kept = *a.buffer->offset_bytes - a.buffer->tie_offset_bytes ==
                        *b.buffer->offset_bytes - b.buffer->tie_offset_bytes;
      return kept ? ""
                  : a.buffer->name + " and " + b.buffer->name +
                        " are tied, but not at their distance";
    }
    if (!a.meets(b) || !share_bytes(*a.buffer, *b.buffer)) return "";
    // Stated are pairs of which one begins in the step in which the other ends.
    if (distances_.allow(*a.buffer, *b.buffer)) return "";
    return a.buffer->name + " and " + b.buffer->name + " are alive together and share bytes";
  }

  // Sweeps over time: only buffers that are alive together are compared. Tied buffers keep their
  // distance whether alive together or not.
  std::string pairs() {
    std::map<int64_t, const Life*> first_of_group;
    for (const Life& life : lives_) {
      if (life.buffer->tie_group < 0) continue;
      const auto [first, is_new] = first_of_group.try_emplace(life.buffer->tie_group, &life);
      if (is_new) continue;
      std::string lie = pair(*first->second, life);
      if (!lie.empty()) return lie;
    }
    std::vector<const Life*> by_begin;
    for (const Life& life : lives_) by_begin.push_back(&life);
    std::ranges::stable_sort(by_begin, {}, [](const Life* l) { return l->begin; });
    std::vector<const Life*> alive;
    for (const Life* life : by_begin) {
      std::erase_if(alive, [&](const Life* other) { return other->end <= life->begin; });
      for (const Life* other : alive) {
        std::string lie = pair(*other, *life);
        if (!lie.empty()) return lie;
      }
      alive.push_back(life);
    }
    return "";
  }

  std::string json_buffers() {
    std::map<std::string, const Json*> stated;
    for (const Json& b : json_["plan"]["buffers"].array()) stated[b["name"].text()] = &b;
    if (stated.size() != lives_.size()) return "the JSON lists another number of arena buffers";
    for (const Life& life : lives_) {
      const LoopBuffer& b = *life.buffer;
      const auto json = stated.find(b.name);
      if (json == stated.end()) return "the JSON does not list " + b.name;
      const auto says = [&](const char* key) { return (*json->second)[key].integer(); };
      if (says("size_bytes") != b.size_bytes) return "the JSON states another size of " + b.name;
      if (says("offset_bytes") != b.offset_bytes)
        return "the JSON states another place of " + b.name;
      if (says("alignment") != b.alignment) return "the JSON states another alignment of " + b.name;
      if (says("first") != life.begin || says("last") != life.end) {
        return "the JSON states another lifetime of " + b.name;
      }
    }
    return "";
  }

  // The bytes alive at each point in time, less what overlaps inside operators can save; of a tied
  // group, the span of its members alive.
  int64_t load() const {
    int64_t most = 0;
    const auto steps = std::max<int64_t>(static_cast<int64_t>(loops_.calls.size()), 1);
    std::vector<std::vector<const Life*>> starting(static_cast<size_t>(steps));
    for (const Life& life : lives_) {
      if (life.begin < life.end) starting[static_cast<size_t>(life.begin)].push_back(&life);
    }
    std::vector<const Life*> alive;
    for (int64_t t = 0; t < steps; ++t) {
      std::erase_if(alive, [&](const Life* l) { return l->end <= t; });
      alive.insert(alive.end(), starting[static_cast<size_t>(t)].begin(),
                   starting[static_cast<size_t>(t)].end());
      most = std::max(most, bytes_of(alive));
    }
    return most;
  }

  int64_t bytes_of(const std::vector<const Life*>& alive) const {
    int64_t bytes = 0;
    for (const Life* output : alive) {
      int64_t shared = 0;
      for (const Life* input : alive) {
        shared += distances_.most_shared(*output->buffer, *input->buffer);
      }
      bytes -= std::min(shared, output->buffer->size_bytes);
    }
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> groups;
    for (const Life* l : alive) {
      const LoopBuffer& b = *l->buffer;
      if (b.tie_group < 0) {
        bytes += b.size_bytes;
      } else {
        groups[b.tie_group].emplace_back(b.tie_offset_bytes, b.tie_offset_bytes + b.size_bytes);
      }
    }
    for (auto& [group, spans] : groups) {
      std::ranges::sort(spans);
      int64_t reached = spans.front().first;
      for (const auto& [begin, end] : spans) {
        bytes += std::max<int64_t>(0, end - std::max(begin, reached));
        reached = std::max(reached, end);
      }
    }
    return bytes;
  }

  std::string bound() {
    const Json& plan = json_["plan"];
    const int64_t arena = *json_["arena_bytes"].integer();
    const auto lower = plan["lower_bound_bytes"].integer();
    if (!lower) return "the JSON states no lower bound";
    if (arena != highest_) return "the arena is not as high as its highest buffer reaches";
    const int64_t least = load();
    const auto is_true = [&](const char* key) { return plan[key].boolean().value_or(false); };
    if (*lower > arena) return "the lower bound is above the arena";
    // An exhausted search may prove more than can be seen here.
    const bool searched = plan["witness"]["searched"].boolean().value_or(false);
    if (!searched && *lower > least && !explained_by_alignment(least)) {
      return "the lower bound has no witness: " + std::to_string(least) +
             " bytes are alive at most";
    }
    const bool proved = searched && *lower == arena;
    if ((is_true("optimal") || is_true("packing_optimal")) && arena != least && !proved &&
        !explained_by_alignment(least)) {
      return "the plan is called optimal, but " + std::to_string(least) +
             " bytes are alive at most";
    }
    if (is_true("optimal") && !is_true("order_optimal"))
      return "optimal is claimed without an optimal order";
    return "";
  }

  // An upper estimate of what alignment costs: every size up to a multiple of the greatest
  // alignment.
  bool explained_by_alignment(int64_t least) const {
    int64_t alignment = 1;
    for (const Life& life : lives_) alignment = std::max(alignment, life.buffer->alignment);
    int64_t slack = 0;
    for (const Life& life : lives_) {
      slack += (alignment - life.buffer->size_bytes % alignment) % alignment;
    }
    return highest_ - least <= slack;
  }

  const Json& json_;
  const Loops& loops_;
  Distances distances_;
  std::map<std::string, const LoopBuffer*> by_name_;
  std::vector<Life> lives_;
  bool reuse_inputs_ = false;
  bool io_in_arena_ = false;
  int64_t highest_ = 0;
};

}  // namespace

std::string find_lie(const Json& json, const Loops& loops) {
  return Judge(json, loops).first_lie();
}

}  // namespace ingot::assay
