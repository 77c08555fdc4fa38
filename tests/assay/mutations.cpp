// SPDX-License-Identifier: Apache-2.0
#include "tests/assay/mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "driver/vectors.h"
#include "loop/memory.h"
#include "loop/shadow.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "support/check.h"

namespace ingot::testing {
namespace {

std::string file_ending(const Compiled& compiled, std::string_view ending) {
  for (const OutputFile& file : compiled.files) {
    if (file.name.ends_with(ending)) return file.bytes.str();
  }
  throw InternalError("there is no " + std::string(ending));
}

bool lies_in_arena(const loop::Buffer& b) { return b.offset_bytes.has_value(); }

// Buffers of the arena as the JSON lists them.
Json& json_buffer(Json& json, const std::string& name) {
  for (Json& b : json["plan"]["buffers"]) {
    if (b["name"] == name) return b;
  }
  throw InternalError("no buffer " + name);
}

// NAME.json agrees with the places that `program` says, and calls nothing optimal.
void state_places(const loop::Program& program, Json& json) {
  std::map<std::string, int64_t> heights;  // by memory
  for (const loop::Buffer& b : program.buffers) {
    if (!lies_in_arena(b)) continue;
    int64_t& height = heights[b.pool];
    height = std::max(height, *b.offset_bytes + b.size_bytes());
    Json& stated = json_buffer(json, b.name);
    stated["offset_bytes"] = *b.offset_bytes;
    stated.erase("pool");
    stated.erase("inside");
    const std::string lender = loop::lender_of(b);
    if (!lender.empty()) {
      stated["inside"] = lender;
    } else if (!b.pool.empty()) {
      stated["pool"] = b.pool;
    }
    for (const char* ports : {"inputs", "outputs"}) {
      for (Json& port : json[ports]) {
        if (port["c_name"] == b.name) port["offset_bytes"] = *b.offset_bytes;
      }
    }
  }
  json["arena_bytes"] = heights[""];
  if (json.contains("memory")) {
    for (Json& m : json["memory"]) {
      m["bytes"] = heights[m["kind"] == "arena" ? "" : m["name"].get<std::string>()];
    }
  }
  for (const char* flag : {"optimal", "packing_optimal", "order_optimal"}) {
    json["plan"][flag] = false;
  }
  if (json["plan"]["lower_bound_bytes"] > heights[""])
    json["plan"]["lower_bound_bytes"] = heights[""];
}

class Mutator {
 public:
  Mutator(const Judged& original, Random& random) : original_(original), random_(random) {}

  Mutant run() {
    using Change = bool (Mutator::*)();
    static constexpr auto kChanges = std::to_array<Change>(
        {&Mutator::move, &Mutator::move, &Mutator::elsewhere, &Mutator::swap, &Mutator::nearer,
         &Mutator::nearer, &Mutator::lifetime, &Mutator::size, &Mutator::bound, &Mutator::number,
         &Mutator::farther, &Mutator::claim, &Mutator::text, &Mutator::text, &Mutator::text,
         &Mutator::text});
    static const std::vector<Change> kAll(kChanges.begin(), kChanges.end());
    do {
      program_ = original_.program;
      mutant_ = {.kind = "", .loops = "", .json = original_.json, .is_lie = false};
    } while (!(this->*random_.pick(kAll))());
    if (mutant_.loops.empty()) mutant_.loops = print(program_);
    return std::move(mutant_);
  }

 private:
  std::vector<loop::Buffer*> placed() {
    std::vector<loop::Buffer*> buffers;
    for (loop::Buffer& b : program_.buffers) {
      if (lies_in_arena(b) && b.num_elements > 0) buffers.push_back(&b);
    }
    return buffers;
  }

  bool move() {
    const std::vector<loop::Buffer*> buffers = placed();
    if (buffers.empty()) return false;
    loop::Buffer& b = *random_.pick(buffers);
    const int64_t height = mutant_.json["arena_bytes"];
    const int64_t step = random_.chance(1, 8) ? 1 : b.alignment;
    const int64_t to = random_.chance(1, 2) ? *b.offset_bytes + step * random_.integer(-12, 12)
                                            : step * random_.integer(0, height / step);
    if (to == *b.offset_bytes || to < 0) return false;
    shift(b, to - *b.offset_bytes);
    mutant_.kind = "move " + b.name;
    state_places(program_, mutant_.json);
    return true;
  }

  // Into another memory that the model has.
  bool elsewhere() {
    std::vector<std::string> memories = {""};
    for (const loop::Buffer& b : program_.buffers) {
      const bool is_known = std::ranges::count(memories, b.pool) > 0;
      if (lies_in_arena(b) && !is_known) memories.push_back(b.pool);
    }
    std::vector<loop::Buffer*> buffers;
    for (loop::Buffer* b : placed()) {
      if (b->kind == loop::BufferKind::kArena) buffers.push_back(b);
    }
    if (memories.size() < 2 || buffers.empty()) return false;
    loop::Buffer& b = *random_.pick(buffers);
    const std::string to = random_.pick(memories);
    if (to == b.pool) return false;
    for (loop::Buffer& other : program_.buffers) {
      if (&other == &b || (b.tie_group >= 0 && other.tie_group == b.tie_group)) other.pool = to;
    }
    mutant_.kind = "elsewhere " + b.name;
    state_places(program_, mutant_.json);
    return true;
  }

  // With what is tied to it, most times.
  void shift(loop::Buffer& b, int64_t by) {
    const bool with_group = b.tie_group >= 0 && random_.chance(3, 4);
    for (loop::Buffer& other : program_.buffers) {
      if (&other == &b || (with_group && other.tie_group == b.tie_group))
        other.offset_bytes = *other.offset_bytes + by;
    }
  }

  bool swap() {
    const std::vector<loop::Buffer*> buffers = placed();
    if (buffers.size() < 2) return false;
    loop::Buffer& a = *random_.pick(buffers);
    loop::Buffer& b = *random_.pick(buffers);
    if (a.offset_bytes == b.offset_bytes) return false;
    std::swap(a.offset_bytes, b.offset_bytes);
    mutant_.kind = "swap " + a.name + " and " + b.name;
    state_places(program_, mutant_.json);
    return true;
  }

  // A distance less than what is safe, and a place that makes use of it.
  bool nearer() {
    Json& distances = mutant_.json["plan"]["distances"];
    if (distances.empty()) return false;
    Json& d = distances[static_cast<size_t>(
        random_.integer(0, static_cast<int64_t>(distances.size()) - 1))];
    const std::string runs = d["runs"];
    if (random_.chance(1, 16)) {
      d["runs"] = runs == "forward" ? "reverse" : "forward";
      mutant_.kind = "other direction";
      state_places(program_, mutant_.json);
      return true;
    }
    if (d[runs].is_null()) d[runs] = 0;
    const int64_t stated = d[runs];
    loop::Buffer* output = nullptr;
    loop::Buffer* input = nullptr;
    for (loop::Buffer& b : program_.buffers) {
      if (b.name == d["output"]) output = &b;
      if (b.name == d["input"]) input = &b;
    }
    const int64_t step = std::max(output->alignment, input->alignment);
    const int64_t less = stated - step * random_.integer(1, 8);
    d[runs] = less;
    const int64_t wanted = runs == "forward" ? less : -less;  // from output to input
    // What the caller lends lies at the start of its memory.
    const int64_t by = input->offset_bytes.value_or(0) - output->offset_bytes.value_or(0) - wanted;
    loop::Buffer& moved = output->offset_bytes ? *output : *input;
    if (!moved.offset_bytes) return false;
    const int64_t way = &moved == output ? by : -by;
    const int64_t aligned = way / moved.alignment * moved.alignment;
    if (*moved.offset_bytes + aligned >= 0) shift(moved, aligned);
    mutant_.kind = fmt::format("nearer {} {}", output->name, input->name);
    state_places(program_, mutant_.json);
    return true;
  }

  bool lifetime() {
    Json& buffers = mutant_.json["plan"]["buffers"];
    if (buffers.empty()) return false;
    Json& b =
        buffers[static_cast<size_t>(random_.integer(0, static_cast<int64_t>(buffers.size()) - 1))];
    const char* const which = random_.chance(1, 2) ? "first" : "last";
    b[which] = b[which].get<int64_t>() + (random_.chance(1, 2) ? 1 : -1);
    mutant_.kind = "lifetime";
    mutant_.is_lie = true;
    return true;
  }

  bool size() {
    loop::Buffer& b = program_.buffers[static_cast<size_t>(
        random_.integer(0, static_cast<int64_t>(program_.buffers.size()) - 1))];
    const int64_t count = b.num_elements + random_.integer(-3, 3);
    if (count == b.num_elements || count < 0) return false;
    b.num_elements = count;
    mutant_.kind = "size of " + b.name;
    // Anything but consistent: no field of the JSON follows.
    mutant_.is_lie = true;
    return true;
  }

  bool bound() {
    Json& plan = mutant_.json["plan"];
    Json& witness = plan["witness"];
    mutant_.is_lie = true;
    const int64_t by = random_.integer(1, 64);
    mutant_.kind = "bound";
    switch (random_.integer(0, 4)) {
      case 0:
        plan["lower_bound_bytes"] = plan["lower_bound_bytes"].get<int64_t>() + by;
        return true;
      case 1:
        witness["load_bytes"] = witness["load_bytes"].get<int64_t>() + (by % 2 == 0 ? by : -by);
        return true;
      case 2:
        if (witness["buffers"].empty()) return false;
        witness["buffers"].erase(static_cast<size_t>(
            random_.integer(0, static_cast<int64_t>(witness["buffers"].size()) - 1)));
        return true;
      case 3:
        return raised(by);
      default:
        if (plan["optimal"] == true || mutant_.json["arena_bytes"] == plan["lower_bound_bytes"])
          return false;
        plan["optimal"] = plan["packing_optimal"] = plan["order_optimal"] = true;
        return true;
    }
  }

  // The arena is higher than it need be, and still called optimal.
  bool raised(int64_t by) {
    std::vector<loop::Buffer*> buffers = placed();
    std::erase_if(buffers, [](const loop::Buffer* b) { return !b->pool.empty(); });
    const auto end = [](const loop::Buffer* b) { return *b->offset_bytes + b->size_bytes(); };
    if (buffers.empty() || mutant_.json["plan"]["packing_optimal"] == false) return false;
    loop::Buffer& top = **std::ranges::max_element(buffers, {}, end);
    if (top.tie_group >= 0) return false;
    *top.offset_bytes += by * top.alignment;
    state_places(program_, mutant_.json);
    mutant_.json["plan"]["packing_optimal"] = true;
    if (random_.chance(1, 2))
      mutant_.json["plan"]["lower_bound_bytes"] = mutant_.json["arena_bytes"];
    mutant_.json["plan"]["witness"]["searched"] = random_.chance(1, 2);
    mutant_.kind = "raised";
    return true;
  }

  bool number() {
    static const std::vector<std::string> kPlaces = {"/arena_bytes",
                                                     "/arena_alignment",
                                                     "/weights_bytes",
                                                     "/macs",
                                                     "/inputs/0/bytes",
                                                     "/outputs/0/bytes",
                                                     "/inputs/0/shape/0",
                                                     "/operators/0/macs",
                                                     "/plan/buffers/0/size_bytes",
                                                     "/plan/order/0",
                                                     "/plan/buffers/0/alignment",
                                                     "/outputs/0/zero_point"};
    const nlohmann::json::json_pointer at(random_.pick(kPlaces));
    const Json::json_pointer here(at.to_string());
    if (!mutant_.json.contains(here) || !mutant_.json[here].is_number_integer()) return false;
    mutant_.json[here] = mutant_.json[here].get<int64_t>() + (random_.chance(1, 2) ? 1 : -1);
    mutant_.kind = "number " + at.to_string();
    mutant_.is_lie = true;
    return true;
  }

  // A distance beyond what is needed: of the direction in which the step runs by a little, of the
  // other farther than where nothing overlaps any more.
  bool farther() {
    Json& distances = mutant_.json["plan"]["distances"];
    if (distances.empty()) return false;
    Json& d = distances[static_cast<size_t>(
        random_.integer(0, static_cast<int64_t>(distances.size()) - 1))];
    const loop::Buffer& output = *loop::find_buffer(program_, d["output"]);
    const loop::Buffer& input = *loop::find_buffer(program_, d["input"]);
    const std::string direction = random_.chance(1, 2) ? "forward" : "reverse";
    if (output.tie_group >= 0 || input.tie_group >= 0 || d[direction].is_null()) return false;
    const int64_t apart = direction == "forward" ? output.size_bytes() : input.size_bytes();
    const int64_t from = d["runs"] == direction ? d[direction].get<int64_t>() : apart;
    d[direction] = from + random_.integer(1, 8);
    mutant_.kind = "farther " + output.name + " " + input.name;
    mutant_.is_lie = true;
    return true;
  }

  // What contradicts the rest without a number changed.
  bool claim() {
    mutant_.is_lie = true;
    mutant_.kind = "claim";
    if (random_.chance(1, 4)) {
      mutant_.json["stack_bytes"] = random_.integer(0, 5000);
      return true;
    }
    if (random_.chance(1, 4)) {
      mutant_.json["model_sha256"] = mutant_.json["model_sha256"].get<std::string>().substr(1);
      return true;
    }
    for (Json& op : mutant_.json["operators"]) {
      if (!op.contains("requantisation") || op["requantisation"]["proved"] == false) continue;
      op["requantisation"]["proved"] = false;
      return true;
    }
    return false;
  }

  // A line of the text that is no constant's: a number, a word or the line changed.
  bool text() {
    std::vector<std::string> lines;
    const std::string whole = print(program_);
    for (size_t begin = 0; begin < whole.size();) {
      const size_t end = whole.find('\n', begin);
      lines.push_back(whole.substr(begin, end + 1 - begin));
      begin = end + 1;
    }
    const auto index =
        static_cast<size_t>(random_.integer(0, static_cast<int64_t>(lines.size()) - 1));
    std::string& line = lines[index];
    mutant_.kind = "text: " + line.substr(0, 200);
    const bool is_buffer = line.starts_with("buffer");
    if (is_buffer && random_.chance(7, 8)) return false;
    const int64_t way = random_.integer(0, 9);
    if (way == 0 && !is_buffer) {
      line.clear();
    } else if (way == 1) {
      if (!exchange_word(line)) return false;
    } else if (!exchange_number(line)) {
      return false;
    }
    mutant_.kind += " -> " + line.substr(0, 200);
    for (const std::string& l : lines) mutant_.loops += l;
    return true;
  }

  bool exchange_word(std::string& line) {
    static const std::vector<std::pair<std::string, std::string>> kPairs = {
        {"min(", "max("},     {"max(", "min("},     {" read ", " write "}, {" write ", " read "},
        {" {", " reverse {"}, {" reverse {", " {"}, {" + ", " - "},        {" * ", " + "},
        {"x[", "y["},         {"y[", "x["}};
    const auto& [from, to] = random_.pick(kPairs);
    const size_t at = line.find(from);
    if (at == std::string::npos) return false;
    line.replace(at, from.size(), to);
    return true;
  }

  bool exchange_number(std::string& line) {
    const size_t quoted = std::min(line.find('"'), line.size());
    std::vector<std::pair<size_t, size_t>> numbers;
    for (size_t i = 0; i < quoted; ++i) {
      const auto is_digit = [&](size_t at) {
        return at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0;
      };
      const bool starts =
          is_digit(i) && (i == 0 || (!std::isalnum(static_cast<unsigned char>(line[i - 1])) &&
                                     line[i - 1] != '_' && line[i - 1] != '.'));
      size_t end = i;
      while (is_digit(end)) ++end;
      if (starts && end - i < 10) numbers.emplace_back(i, end - i);
      if (starts) i = end;
    }
    if (numbers.empty()) return false;
    const auto [at, length] = random_.pick(numbers);
    const int64_t old = std::stoll(line.substr(at, length));
    const std::array<int64_t, 5> values = {old + 1, old - 1, 2 * old, old + 7, old / 2};
    const int64_t value = values[static_cast<size_t>(random_.integer(0, 4))];
    if (value == old || value < 0) return false;
    line.replace(at, length, std::to_string(value));
    return true;
  }

  const Judged& original_;
  Random& random_;
  loop::Program program_;
  Mutant mutant_;
};

// A rule of places that is broken.
std::string misplaced(const loop::Program& program, const Json& json) {
  std::map<std::string, int64_t> bytes_of = {{"", json["arena_bytes"]}};
  for (const loop::Buffer& b : program.buffers) {
    if (loop::is_callers(b)) bytes_of[loop::memory_of_port(b.name)] = b.size_bytes();
  }
  if (json.contains("memory")) {
    for (const Json& m : json["memory"]) {
      if (m["kind"] != "arena") bytes_of[m["name"].get<std::string>()] = m["bytes"];
    }
  }
  std::map<int64_t, const loop::Buffer*> groups;
  for (const loop::Buffer& b : program.buffers) {
    if (b.kind == loop::BufferKind::kArena && !b.offset_bytes) return b.name + " has no place";
    if (!b.offset_bytes) continue;
    if (b.kind == loop::BufferKind::kConstant) return b.name + " is a constant in the arena";
    if (!bytes_of.contains(b.pool)) return b.name + " is nowhere";
    if (*b.offset_bytes < 0 || *b.offset_bytes + b.size_bytes() > bytes_of[b.pool])
      return b.name + " is outside its memory";
    if (*b.offset_bytes % b.alignment != 0) return b.name + " is misaligned";
    if (b.tie_group < 0) continue;
    const loop::Buffer& first = *groups.emplace(b.tie_group, &b).first->second;
    if (b.pool != first.pool ||
        *b.offset_bytes - b.tie_offset_bytes != *first.offset_bytes - first.tie_offset_bytes)
      return b.name + " is not at its tied distance";
  }
  return "";
}

}  // namespace

Judged judged(const Compiled& compiled, const CompileOptions& options) {
  Judged result{.name = options.name, .program = {}, .json = {}, .inputs = {}};
  Result<loop::Program> program = loop::parse(file_ending(compiled, ".loops"));
  CHECK(program);
  result.program = *std::move(program);
  result.json = Json::parse(file_ending(compiled, ".json"));
  for (const TensorBytes& input : random_inputs(compiled.model, 1, 0)) {
    result.inputs.emplace_back(input.begin(), input.end());
  }
  result.inputs_writable = options.reuse_inputs;
  return result;
}

Mutant mutated(const Judged& original, Random& random) { return Mutator(original, random).run(); }

std::optional<bool> goes_wrong(const Mutant& mutant, const Judged& original, std::string& why) {
  why = "no program";
  const Result<loop::Program> parsed = loop::parse(mutant.loops);
  if (!parsed) return true;
  const loop::Program& program = *parsed;
  const std::vector<std::string> faults = loop::find_faults(program, original.inputs_writable);
  if (!faults.empty()) {
    why = faults.front();
    return true;
  }
  const int64_t arena_bytes = mutant.json["arena_bytes"];
  why = misplaced(program, mutant.json);
  if (!why.empty()) return true;
  size_t next = 0;
  for (const loop::Buffer& b : program.buffers) {
    if (b.kind != loop::BufferKind::kInput) continue;
    why = "other inputs";
    if (next >= original.inputs.size() ||
        static_cast<int64_t>(original.inputs[next++].size()) != b.size_bytes())
      return true;
  }
  try {
    const std::vector<std::string> shadows =
        loop::shadow_faults(program, original.inputs, arena_bytes, original.inputs_writable);
    why = shadows.empty() ? "" : shadows.front();
    return !shadows.empty();
  } catch (const InternalError& error) {
    why = error.what();
    // An access outside; all else is arithmetic that a changed number led astray.
    if (why.find(": element ") != std::string::npos &&
        why.find("has no value") == std::string::npos)
      return true;
    return std::nullopt;
  }
}

}  // namespace ingot::testing
