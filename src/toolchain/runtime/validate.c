/* SPDX-License-Identifier: Apache-2.0
 * Runs a compiled model on every vector of vectors.bin and writes what it computes to outputs.bin.
 *
 *   vectors.bin: the number of vectors (4 bytes, little-endian); of each vector the inputs
 *   outputs.bin: of each vector the outputs
 *
 * Before each run the arena and the outputs are filled with noise, so that nothing can rely on what
 * lay there; after it the guard bytes around every buffer must be whole and the inputs unchanged.
 * Built with AddressSanitizer, the guards cannot even be read during the run.
 *
 * Prints "[harness] violation: ..." for each rule that was broken. Exit code: 0 all was well,
 * 4 something was violated, 5 a file could not be read or written. */
#include "validate.h"

enum { kViolated = 4, kBadFiles = 5, kMostViolations = 20 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ADDRESS_SANITIZER 1
#endif
#ifdef WITH_ADDRESS_SANITIZER
void __asan_poison_memory_region(void const volatile* address, size_t size);
void __asan_unpoison_memory_region(void const volatile* address, size_t size);
#else
#define __asan_poison_memory_region(address, size) ((void)(address), (void)(size))
#define __asan_unpoison_memory_region(address, size) ((void)(address), (void)(size))
#endif

static long num_violations;
static long vector;
static uint32_t noise = 0x2545f491u;

static void violation(const harness_buffer* buffer, const char* what, long long number,
                      const char* rest) {
  if (++num_violations > kMostViolations) return;
  harness_put("[harness] violation: vector ");
  harness_put_number(vector);
  harness_put(": ");
  harness_put(buffer == NULL ? "the run" : buffer->name);
  harness_put(" ");
  harness_put(what);
  harness_put_number(number);
  harness_put(rest);
  harness_put("\n");
}

static unsigned char* begin_of(const harness_buffer* buffer) {
  return buffer->storage + buffer->offset;
}

static unsigned char guard_byte(size_t index) { return (unsigned char)(0x5au + 7u * index); }

static void fill_with_noise(const harness_buffer* buffer) {
  unsigned char* const bytes = begin_of(buffer);
  size_t i;
  for (i = 0; i < buffer->bytes; ++i) {
    noise ^= noise << 13;
    noise ^= noise >> 17;
    noise ^= noise << 5;
    bytes[i] = (unsigned char)noise;
  }
}

/* FNV-1a. */
static uint64_t hash_of(const harness_buffer* buffer) {
  const unsigned char* const bytes = begin_of(buffer);
  uint64_t hash = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i < buffer->bytes; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static void set_guards(const harness_buffer* buffer) {
  const size_t end = buffer->offset + buffer->bytes;
  size_t i;
  for (i = 0; i < buffer->offset; ++i) buffer->storage[i] = guard_byte(i);
  for (i = end; i < buffer->storage_bytes; ++i) buffer->storage[i] = guard_byte(i);
  __asan_poison_memory_region(buffer->storage, buffer->offset);
  __asan_poison_memory_region(buffer->storage + end, buffer->storage_bytes - end);
}

static void check_guards(const harness_buffer* buffer) {
  const size_t end = buffer->offset + buffer->bytes;
  size_t i;
  __asan_unpoison_memory_region(buffer->storage, buffer->storage_bytes);
  for (i = buffer->offset; i > 0; --i) {
    if (buffer->storage[i - 1] == guard_byte(i - 1)) continue;
    violation(buffer, "was overrun: the byte ", (long long)(buffer->offset - i + 1),
              " before its start was written");
    break;
  }
  for (i = end; i < buffer->storage_bytes; ++i) {
    if (buffer->storage[i] == guard_byte(i)) continue;
    violation(buffer, "was overrun: the byte ", (long long)(i - end + 1),
              " after its end was written");
    break;
  }
}

static void for_each_buffer(void (*visit)(const harness_buffer*)) {
  size_t i;
  visit(&harness_arena);
  for (i = 0; i < harness_num_pools; ++i) visit(&harness_pools[i]);
  if (harness_io_in_arena) return;
  for (i = 0; i < harness_num_inputs; ++i) visit(&harness_inputs[i]);
  for (i = 0; i < harness_num_outputs; ++i) visit(&harness_outputs[i]);
}

enum { kMostHashedInputs = 256 };
static uint64_t hashes[kMostHashedInputs];

static void run_and_check(void) {
  const int check_inputs = harness_inputs_are_const && !harness_io_in_arena;
  int32_t status;
  size_t i;
  for (i = 0; check_inputs && i < harness_num_inputs && i < kMostHashedInputs; ++i) {
    hashes[i] = hash_of(&harness_inputs[i]);
  }
  for_each_buffer(set_guards);
  status = harness_run_model();
  for_each_buffer(check_guards);
  if (status != 0) violation(NULL, "returned ", status, " instead of 0");
  for (i = 0; check_inputs && i < harness_num_inputs && i < kMostHashedInputs; ++i) {
    if (hashes[i] == hash_of(&harness_inputs[i])) continue;
    violation(&harness_inputs[i], "was changed, it is input ", (long long)i, " and const");
  }
}

static int read_uint32(int file, uint32_t* number) {
  unsigned char bytes[4];
  if (harness_read(file, bytes, 4) != 0) return 1;
  *number =
      bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  return 0;
}

int main(void) {
  const int vectors = harness_open_to_read("vectors.bin");
  const int outputs = harness_open_to_write("outputs.bin");
  long stack_bytes = -1;
  uint32_t num_vectors;
  size_t i;
  if (vectors < 0 || outputs < 0 || read_uint32(vectors, &num_vectors) != 0) return kBadFiles;
  for (vector = 0; vector < (long)num_vectors; ++vector) {
    fill_with_noise(&harness_arena);
    for (i = 0; i < harness_num_pools; ++i) fill_with_noise(&harness_pools[i]);
    for (i = 0; i < harness_num_outputs; ++i) fill_with_noise(&harness_outputs[i]);
    for (i = 0; i < harness_num_inputs; ++i) {
      const harness_buffer* const input = &harness_inputs[i];
      if (harness_read(vectors, begin_of(input), input->bytes) != 0) return kBadFiles;
    }
    run_and_check();
    if (harness_run_stack_bytes > stack_bytes) stack_bytes = harness_run_stack_bytes;
    for (i = 0; i < harness_num_outputs; ++i) {
      const harness_buffer* const output = &harness_outputs[i];
      if (harness_write(outputs, begin_of(output), output->bytes) != 0) return kBadFiles;
    }
  }
  harness_close(vectors);
  harness_close(outputs);
  if (stack_bytes >= 0) harness_report("stack_bytes", stack_bytes);
  harness_report("violations", num_violations);
  return num_violations == 0 ? 0 : kViolated;
}
