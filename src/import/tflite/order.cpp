// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace ingot::tflite {
namespace {

constexpr int64_t kNobody = -1;
constexpr int64_t kCaller = -2;  // an input of the model

class Order {
 public:
  Order(const Model& model, std::vector<Tensor>& tensors, Report& report)
      : model_(model), tensors_(tensors), report_(report), origin_(tensors.size(), kNobody) {}

  std::vector<int64_t> find() {
    const int64_t errors_before = report_.num_errors();
    find_origins();
    check_reads();
    if (report_.num_errors() != errors_before) return file_order();
    return sorted();
  }

 private:
  int64_t& origin(int64_t tensor) { return origin_[static_cast<size_t>(tensor)]; }
  Tensor& tensor(int64_t index) { return tensors_[static_cast<size_t>(index)]; }

  void error(int64_t tensor, std::string what) {
    report_.error(Code::kModelGraph, model_.describe_tensor(tensor), std::move(what));
  }

  void find_origins() {
    for (const int64_t input : model_.inputs) {
      if (origin(input) == kCaller) {
        error(input, "the tensor is an input of the model twice");
      } else if (tensor(input).constant) {
        error(input, "the tensor is an input of the model and a constant");
      }
      origin(input) = kCaller;
    }
    for (size_t i = 0; i < model_.operators.size(); ++i) {
      const Operator& op = model_.operators[i];
      for (const int64_t output : op.outputs) {
        if (tensor(output).constant) {
          error(output, fmt::format("{} writes a constant", model_.describe(op)));
        } else if (origin(output) == kCaller) {
          error(output, fmt::format("{} writes an input of the model", model_.describe(op)));
        } else if (origin(output) != kNobody) {
          const Operator& other = model_.operators[static_cast<size_t>(origin(output))];
          error(output, fmt::format("{} and {} both write it", model_.describe(other),
                                    model_.describe(op)));
        }
        origin(output) = static_cast<int64_t>(i);
      }
    }
  }

  // `reader` is null for the caller, who reads the outputs of the model.
  void check_read(int64_t index, const Operator* reader) {
    Tensor& read = tensor(index);
    if (origin(index) != kNobody || read.constant || !read.usable) return;
    if (read.type.num_elements() == 0) {
      read.constant = Bytes();
      return;
    }
    error(index, fmt::format("{} reads it, but it has no data and no operator writes it",
                             reader ? model_.describe(*reader) : "the caller"));
    read.usable = false;  // Once is enough.
  }

  void check_reads() {
    for (const Operator& op : model_.operators) {
      for (const int64_t input : op.inputs) {
        if (input >= 0) check_read(input, &op);
      }
    }
    for (const int64_t output : model_.outputs) check_read(output, nullptr);
  }

  // Kahn's algorithm; of the operators that could run, the first one in the file does.
  std::vector<int64_t> sorted() {
    const size_t count = model_.operators.size();
    std::vector<std::vector<int64_t>> dependents(count);
    std::vector<int64_t> num_missing(count);
    for (size_t i = 0; i < count; ++i) {
      for (const int64_t input : model_.operators[i].inputs) {
        if (input < 0 || origin(input) < 0) continue;
        dependents[static_cast<size_t>(origin(input))].push_back(static_cast<int64_t>(i));
        ++num_missing[i];
      }
    }
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ready;
    for (size_t i = 0; i < count; ++i) {
      if (num_missing[i] == 0) ready.push(static_cast<int64_t>(i));
    }
    std::vector<int64_t> order;
    order.reserve(count);
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const int64_t dependent : dependents[static_cast<size_t>(order.back())]) {
        if (--num_missing[static_cast<size_t>(dependent)] == 0) ready.push(dependent);
      }
    }
    if (order.size() == count) return order;
    const auto stuck = std::ranges::find_if(num_missing, [](int64_t n) { return n > 0; });
    const auto& op = model_.operators[static_cast<size_t>(stuck - num_missing.begin())];
    report_.error(Code::kModelGraph, model_.describe(op),
                  "the operator waits for its own result: the graph has a cycle");
    return file_order();
  }

  std::vector<int64_t> file_order() const {
    std::vector<int64_t> order(model_.operators.size());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  const Model& model_;
  std::vector<Tensor>& tensors_;
  Report& report_;
  std::vector<int64_t> origin_;  // by tensor: the position of its operator, or one of the above
};

}  // namespace

std::vector<int64_t> execution_order(const Model& model, std::vector<Tensor>& tensors,
                                     Report& report) {
  return Order(model, tensors, report).find();
}

}  // namespace ingot::tflite
