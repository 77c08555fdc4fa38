// SPDX-License-Identifier: Apache-2.0
// How inputs of the fuzzers change: bytes as libFuzzer does it, or, where they are a model that the
// format's verifier takes, one thing of the model by our own writer. Plain bytes seldom come past
// the verifier.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/support/tflite_damage.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed);

namespace {

using namespace ingot::testing;

// A file may state the kind of a union and leave out its table, which the writer does not take.
template <class Union>
void drop_if_empty(Union& any) {
  if (any.value == nullptr) any.Reset();
}

void drop_empty_unions(format::ModelT& model) {
  for (const auto& graph : model.subgraphs) {
    for (const auto& op : graph->operators) {
      drop_if_empty(op->builtin_options);
      drop_if_empty(op->builtin_options_2);
    }
    for (const auto& tensor : graph->tensors) {
      if (tensor->quantization) drop_if_empty(tensor->quantization->details);
    }
  }
}

// The verifier does not ask where vectors of wide elements stand; who unpacks them does (Z06). Zero
// points are the only ones in the format.
bool can_be_unpacked(const std::vector<uint8_t>& file) {
  if (!verifies(file)) return false;
  const format::Model* model = format::GetModel(file.data());
  if (!model->subgraphs()) return true;
  for (const format::SubGraph* graph : *model->subgraphs()) {
    if (!graph->tensors()) continue;
    for (const format::Tensor* tensor : *graph->tensors()) {
      const auto* quantization = tensor->quantization();
      if (!quantization || !quantization->zero_point()) continue;
      const auto address = reinterpret_cast<uintptr_t>(quantization->zero_point()->Data());
      if (address % alignof(int64_t) != 0) return false;
    }
  }
  return true;
}

}  // namespace

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  const std::vector<uint8_t> file(data, data + size);
  if (seed % 4 == 0 || !can_be_unpacked(file)) return LLVMFuzzerMutate(data, size, max_size);
  const std::unique_ptr<format::ModelT> model = unpack(file);
  drop_empty_unions(*model);
  for (unsigned int i = 0; i <= seed % 3; ++i) mutate(*model, uint64_t{seed} + i);
  const std::vector<uint8_t> changed = serialize(*model);
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::ranges::copy(changed, data);
  return changed.size();
}
