// SPDX-License-Identifier: Apache-2.0
#include "tests/guarantee/many_models.h"

#include <fmt/format.h>

#include <algorithm>

namespace ingot::testing {
namespace {

using toolchain::ModelInterface;
using toolchain::Port;

constexpr int64_t kGuardBytes = 64;  // also the alignment of the storage

const char* const kHeader = R"(#ifndef MANY_MODELS_H
#define MANY_MODELS_H
#include <stddef.h>
#include <stdint.h>

enum { MANY_FREE, MANY_KEPT, MANY_RESULT }; /* what a run may do to a buffer */

typedef struct {
  const char *name;
  size_t offset; /* in the storage */
  size_t bytes;
  const unsigned char *values; /* of each vector: what is put in, or must come out; or null */
  int is_input;
  int must; /* after a run: MANY_KEPT: be as before; MANY_RESULT: be `values` */
} many_buffer;

typedef struct {
  const char *name;
  unsigned char *storage; /* all buffers, and guard bytes around each */
  size_t storage_bytes;
  const many_buffer *buffers; /* the arena first, then others by offset */
  size_t num_buffers;
  size_t num_vectors;
  int32_t (*run)(void);
} many_model;

extern const many_model *const many_models[];
extern const size_t many_num_models;
#endif
)";

const char* const kSource = R"(#include "many_models.h"

#include <string.h>

#include "harness.h"

static unsigned char painted(size_t i, int round) {
  const unsigned char paint = (unsigned char)(i * 7u + 1u);
  return round == 0 ? paint : (unsigned char)~paint;
}

static int complain(const many_model *m, size_t vector, const char *what, const char *how) {
  harness_put(m->name);
  harness_put(", vector ");
  harness_put_number((long long)vector);
  harness_put(": ");
  harness_put(what);
  harness_put(how);
  harness_put("\n");
  return 0;
}

/* The buffer that is nearest to a guard byte; null if the byte lies in a buffer. */
static const many_buffer *nearest_to_guard(const many_model *m, size_t i) {
  const many_buffer *nearest = 0;
  size_t least = (size_t)-1, b;
  for (b = 0; b < m->num_buffers; ++b) {
    const many_buffer *const buffer = &m->buffers[b];
    const size_t end = buffer->offset + buffer->bytes;
    const size_t distance = i < buffer->offset ? buffer->offset - i : i - end + 1;
    if (i >= buffer->offset && i < end) return 0;
    if (distance < least) {
      least = distance;
      nearest = buffer;
    }
  }
  return nearest;
}

static int run_vector(const many_model *m, size_t vector, int round) {
  size_t i, b;
  int32_t status;
  for (i = 0; i < m->storage_bytes; ++i) m->storage[i] = painted(i, round);
  for (b = 0; b < m->num_buffers; ++b) {
    const many_buffer *const buffer = &m->buffers[b];
    if (!buffer->is_input) continue;
    memcpy(m->storage + buffer->offset, buffer->values + vector * buffer->bytes, buffer->bytes);
  }
  status = m->run();
  if (status != 0) {
    return complain(m, vector, "the run", " failed");
  }
  for (i = 0; i < m->storage_bytes; ++i) {
    const many_buffer *buffer;
    if (m->storage[i] == painted(i, round)) continue;
    buffer = nearest_to_guard(m, i);
    if (buffer) return complain(m, vector, buffer->name, " was overrun");
  }
  for (b = 0; b < m->num_buffers; ++b) {
    const many_buffer *const buffer = &m->buffers[b];
    if (buffer->must == MANY_FREE) continue;
    if (memcmp(m->storage + buffer->offset, buffer->values + vector * buffer->bytes,
               buffer->bytes) == 0) {
      continue;
    }
    return complain(m, vector, buffer->name, buffer->is_input ? " was changed" : " is wrong");
  }
  return 1;
}

/* Twice, on paint and its complement: what is written there differs from one of them. */
static int run_model(const many_model *m) {
  size_t vector;
  int round;
  for (vector = 0; vector < m->num_vectors; ++vector) {
    for (round = 0; round < 2; ++round) {
      if (!run_vector(m, vector, round)) return 0;
    }
  }
  return 1;
}

int main(void) {
  size_t i;
  long long num_right = 0;
  for (i = 0; i < many_num_models; ++i) num_right += run_model(many_models[i]);
  harness_put_number(num_right);
  harness_put(" models are right\n");
  return num_right == (long long)many_num_models ? 0 : 1;
}
)";

// The text of one model's storage, tables and call.
class ModelText {
 public:
  explicit ModelText(const ModelRun& run) : run_(run), model_(run.model) {}

  std::string text() {
    add_buffer("the arena", place(model_.arena_bytes, model_.arena_alignment), model_.arena_bytes,
               "0", false, "MANY_FREE");
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      add_port("input", model_.inputs[i], i, &toolchain::GoldenVector::inputs);
    }
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      add_port("output", model_.outputs[i], i, &toolchain::GoldenVector::outputs);
    }
    const int64_t storage_bytes = place(0, 1);
    return fmt::format(
        "#include \"{0}.h\"\n"
        "static unsigned char storage_{0}[{1}] __attribute__((aligned({2})));\n{3}"
        "static const many_buffer buffers_{0}[] = {{\n{4}}};\n"
        "static int32_t check_{0}(void) {{\n{5}}}\n"
        "static const many_model many_{0} = {{\"{0}\", storage_{0}, {1}, buffers_{0}, {6}, {7},\n"
        "                                   check_{0}}};\n\n",
        model_.name, storage_bytes, kGuardBytes, values_, buffers_, run_text(), num_buffers_,
        run_.vectors.size());
  }

 private:
  // The offset of the next buffer: a multiple of `alignment` and of nothing greater.
  int64_t place(int64_t size_bytes, int64_t alignment) {
    int64_t offset = end_ + kGuardBytes;
    offset += alignment - offset % alignment;
    if (offset % (2 * alignment) == 0) offset += alignment;
    end_ = offset + size_bytes;
    return offset;
  }

  void add_buffer(const std::string& name, int64_t offset, int64_t size_bytes,
                  const std::string& values, bool is_input, const std::string& must) {
    buffers_ += fmt::format("    {{\"{}\", {}, {}, {}, {:d}, {}}},\n", name, offset, size_bytes,
                            values, is_input, must);
    ++num_buffers_;
    if (name == "the arena") arena_ = offset;
  }

  void add_port(const std::string& kind, const Port& port, size_t index,
                toolchain::Tensors toolchain::GoldenVector::*tensors) {
    const bool is_input = kind == "input";
    const std::string values = fmt::format("{}_{}_{}", kind, index, model_.name);
    values_ += fmt::format("static const unsigned char {}[] = {{", values);
    for (const toolchain::GoldenVector& vector : run_.vectors) {
      for (const uint8_t byte : (vector.*tensors).at(index)) values_ += fmt::format("{},", byte);
    }
    values_ += "0};\n";
    const char* must = !is_input ? "MANY_RESULT" : model_.reuses_inputs ? "MANY_FREE" : "MANY_KEPT";
    const std::string name = fmt::format("{} {}", kind, port.c_name);
    if (model_.io_in_arena) {
      const std::string macro =
          toolchain::upper_case(fmt::format("{}_{}_{}_OFFSET", model_.name, kind, port.c_name));
      buffers_ += fmt::format("    {{\"{}\", {} + {}, {}, {}, {:d}, {}}},\n", name, arena_, macro,
                              port.bytes, values, is_input, must);
      ++num_buffers_;
      return;
    }
    const int64_t offset = place(port.bytes, size_in_bytes(port.dtype));
    add_buffer(name, offset, port.bytes, values, is_input, must);
    pointers_ += fmt::format("  {}s.{} = (void *)(storage_{} + {});\n", kind, port.c_name,
                             model_.name, offset);
  }

  std::string run_text() const {
    if (model_.io_in_arena) {
      return fmt::format("  return {0}_run(storage_{0} + {1});\n", model_.name, arena_);
    }
    return fmt::format(
        "  {0}_inputs inputs;\n  {0}_outputs outputs;\n{1}"
        "  return {0}_run(&inputs, &outputs, storage_{0} + {2});\n",
        model_.name, pointers_, arena_);
  }

  const ModelRun& run_;
  const ModelInterface& model_;
  int64_t end_ = 0;  // of the last buffer placed
  int64_t arena_ = 0;
  std::string values_;
  std::string buffers_;
  std::string pointers_;
  int64_t num_buffers_ = 0;
};

}  // namespace

toolchain::Sources many_models(std::span<const ModelRun> runs) {
  toolchain::Sources sources;
  std::string checks = "#include \"many_models.h\"\n\n";
  std::string table;
  for (const ModelRun& run : runs) {
    std::string sources_of_model;  // compiled at once, to save time
    for (const OutputFile& file : run.files) {
      // What is included must not be compiled by itself too.
      const bool is_source = file.name.ends_with(".c");
      if (!is_source && !file.name.ends_with(".h")) continue;
      const std::string name = is_source ? file.name + ".inc" : file.name;
      sources.model.push_back({name, file.bytes});
      if (is_source) sources_of_model += fmt::format("#include \"{}\"\n", name);
    }
    sources.model.push_back({run.model.name + "_all.c", sources_of_model});
    checks += ModelText(run).text();
    table += fmt::format("    &many_{},\n", run.model.name);
  }
  checks += fmt::format(
      "const many_model *const many_models[] = {{\n{}}};\nconst size_t many_num_models = {};\n",
      table, runs.size());
  sources.harness = {
      {"many_models.h", kHeader}, {"many_models.c", kSource}, {"all_checks.c", checks}};
  return sources;
}

}  // namespace ingot::testing
