// SPDX-License-Identifier: Apache-2.0
#include "assay/claims.h"

#include <algorithm>
#include <string>

#include "assay/code.h"

namespace ingot::assay {
void expect(bool holds, const std::string& otherwise) {
  if (!holds) throw Lie("the JSON states " + otherwise);
}

bool is_same_text(const std::string& json, const std::string& loops) {
  const auto ascii = [](const std::string& text) {
    std::string kept;
    for (const char c : text) {
      if (c > 0 && c != '?') kept += c;
    }
    return kept;
  };
  return ascii(json) == ascii(loops);
}

void expect_same(const Json& stated, const Json& expected, const std::string& of) {
  for (const auto& [key, value] : std::get<JsonObject>(expected.value)) {
    const Json& own = stated[key];
    bool same = own.value.index() == value.value.index() && own.number() == value.number() &&
                own.array().size() == value.array().size() &&
                is_same_text(own.text(), value.text());
    same = same || (value.text().empty() &&
                    value.value.index() == Json{std::string()}.value.index() && own.is_null());
    if (!same) throw Lie("the JSON states another " + key + " of " + of);
    for (size_t i = 0; i < value.array().size(); ++i) {
      const std::string name = value.array()[i]["name"].text();
      expect_same(own.array()[i], value.array()[i],
                  name.empty() ? key + " " + std::to_string(i) + " of " + of : name);
    }
  }
}

namespace {

bool are_integers(const Json& json, const std::vector<int64_t>& numbers) {
  const JsonArray& array = json.array();
  if (array.size() != numbers.size()) return false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (array[i].integer() != numbers[i]) return false;
  }
  return true;
}

bool is_scale(const Json& json, float scale) {
  return json.number() && static_cast<float>(*json.number()) == scale;
}

void check_port(const Json& port, const Buffer& b) {
  const std::string of = " of " + b.name;
  expect(port["c_name"].text() == b.name && is_same_text(port["name"].text(), b.tensor),
         "another name" + of);
  expect(port["dtype"].text() == b.element->name, "another type" + of);
  expect(port["bytes"].integer() == b.size_bytes, "another size" + of);
  expect(port["offset_bytes"].integer() == b.offset_bytes, "another place" + of);
  if (!b.type) return;
  expect(b.type->element == b.element, "a type that is not that" + of);
  expect(are_integers(port["shape"], b.type->shape), "another shape" + of);
  int64_t bytes = b.element->bytes;
  for (const int64_t extent : b.type->shape) {
    expect(extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes), "no shape" + of);
  }
  expect(bytes == b.size_bytes, "a shape of another size" + of);
  const std::vector<float>& scales = b.type->scales;
  if (scales.size() == 1) {
    const bool is_list = !port["scales"].is_null();
    const Json& scale =
        is_list && port["scales"].array().size() == 1 ? port["scales"].array()[0] : port["scale"];
    expect(is_scale(scale, scales[0]), "another scale" + of);
    expect(is_list ? are_integers(port["zero_points"], b.type->zero_points)
                   : port["zero_point"].integer() == b.type->zero_points.at(0),
           "another zero point" + of);
    return;
  }
  expect(port["scale"].is_null() && port["scales"].array().size() == scales.size(),
         "other scales" + of);
  for (size_t i = 0; i < scales.size(); ++i) {
    expect(is_scale(port["scales"].array()[i], scales[i]), "another scale" + of);
  }
  expect(are_integers(port["zero_points"], b.type->zero_points), "other zero points" + of);
}

void check_ports(const JsonArray& ports, const Loops& loops, const std::string& kind) {
  size_t next = 0;
  for (const Buffer& b : loops.buffers) {
    if (b.kind != kind) continue;
    expect(next < ports.size(), "too few ports: " + b.name + " is missing");
    check_port(ports[next++], b);
  }
  expect(next == ports.size(), "an " + kind + " that the program does not have");
}

// One tensor that lost channels: which, what each always holds, and from which accumulators.
void check_removed(const Json& tensor) {
  const std::string of = " of " + tensor["name"].text();
  const JsonArray& channels = tensor["removed"].array();
  const JsonArray& values = tensor["values"].array();
  const JsonArray& accumulators = tensor["accumulators"].array();
  expect(values.size() == channels.size() && accumulators.size() == channels.size(),
         "removed channels without their proof" + of);
  int64_t least = 0;
  for (size_t i = 0; i < channels.size(); ++i) {
    const int64_t channel = channels[i].integer().value_or(-1);
    expect(channel >= least && channel < tensor["channels"].integer().value_or(0),
           "a removed channel that does not exist" + of);
    least = channel + 1;
    if (accumulators[i].is_null()) continue;
    const JsonArray& range = accumulators[i].array();
    expect(range.size() == 2 && range[0].integer().has_value() &&
               range[0].integer() <= range[1].integer() && !values[i].is_null(),
           "no interval of an accumulator" + of);
  }
}

// A program does not say what its model would have multiplied; what is said of it must at least be
// of one piece.
void check_shrinking(const Json& json, int64_t macs) {
  const int64_t removed = json["macs_removed"].integer().value_or(-1);
  if (json["shrinking"].is_null()) {
    expect(removed == 0, "multiplications that were removed");
    return;
  }
  const Json& shrinking = json["shrinking"];
  const int64_t before = shrinking["macs_before"].integer().value_or(-1);
  expect(removed >= 0 && before >= removed && before - removed == macs &&
             shrinking["macs_after"].integer() == macs,
         "another number of multiplications that were removed");
  for (const Json& tensor : shrinking["tensors"].array()) check_removed(tensor);
}

// The bound itself is the compiler's, and painting checks it. But arguments and local arrays alone
// need so much, and only for targets on which it is painted is one stated.
void check_stack(const Json& json, const Loops& loops) {
  constexpr int64_t kWord = 4;
  const bool is_painted = json["target"].text().starts_with("cortex-m");
  const Json& stated = json["stack_bytes"];
  expect(is_painted ? stated.integer().has_value() : stated.is_null(),
         is_painted ? "no bound of the stack" : "a bound of the stack of a target without one");
  if (!is_painted) return;
  int64_t most_words = 0;  // of arguments
  int64_t most_bytes = 0;  // of local arrays and arguments
  for (const auto& [name, kernel] : loops.kernels) {
    int64_t words = static_cast<int64_t>(kernel.num_params);
    for (size_t i = 0; i < kernel.num_scalars; ++i) {
      words += kernel.body.slots[i].element->bytes > kWord ? 2 : 1;
    }
    int64_t bytes = words * kWord;
    for (size_t p = kernel.num_params; p < kernel.body.places.size(); ++p) {
      bytes += kernel.body.places[p].count * kernel.body.places[p].element->bytes;
    }
    most_words = std::max(most_words, words);
    most_bytes = std::max(most_bytes, bytes);
  }
  expect(*stated.integer() >= most_words * kWord + most_bytes,
         "less stack than arguments and local arrays take");
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

void check_listing(const Json& json, const Loops& loops) {
  expect(json["schema_version"].integer() == 1, "another version of its schema");
  expect(json["name"].text() == loops.name, "another name than the program's");
  expect(is_sha256(json["model_sha256"].text()), "no hash of the model");
  check_stack(json, loops);
  check_ports(json["inputs"].array(), loops, "input");
  check_ports(json["outputs"].array(), loops, "output");
  int64_t weights = 0;
  for (const Buffer& b : loops.buffers) {
    if (b.kind == "constant") weights += b.size_bytes;
  }
  expect(json["weights_bytes"].integer() == weights, "another size of the weights");
  const JsonArray& operators = json["operators"].array();
  std::vector<int64_t> order;
  int64_t macs = 0;
  for (const Call& call : loops.calls) {
    if (!call.has_note) continue;
    const size_t i = order.size();
    order.push_back(static_cast<int64_t>(i));
    expect(i < operators.size(), "fewer operators than the runner calls");
    const std::string which = "operator " + std::to_string(i) + " otherwise than the program";
    expect(is_same_text(operators[i]["name"].text(), call.name) &&
               operators[i]["kind"].text() == call.kind &&
               operators[i]["function"].text() == loops.name + "_" + call.kernel &&
               operators[i]["macs"].integer() == call.macs &&
               are_integers(operators[i]["operators"], call.operators),
           which);
    expect(call.macs >= 0 && !__builtin_add_overflow(macs, call.macs, &macs),
           "no number of multiplications");
  }
  expect(operators.size() == order.size(), "more operators than the runner calls");
  expect(json["macs"].integer() == macs, "another number of multiplications");
  check_shrinking(json, macs);
  expect(are_integers(json["plan"]["order"], order), "another order");
}

}  // namespace ingot::assay
