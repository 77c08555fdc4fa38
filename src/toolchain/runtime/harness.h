/* SPDX-License-Identifier: Apache-2.0
 * What a program that Ingot builds and runs may use, on an emulated core (startup.c) and on the
 * host (host.c) alike: text, files, counted regions and the measure of the stack. */
#ifndef INGOT_HARNESS_H
#define INGOT_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define HARNESS_ON_CORE 1
#elif defined(__riscv) && __riscv_xlen == 32
#define HARNESS_ON_CORE 1
#else
#define HARNESS_ON_CORE 0
#endif

/* Text to the console. */
void harness_put(const char* text);
void harness_put_number(long long number);

/* A line "[harness] KEY NUMBER", which the host reads back. */
void harness_report(const char* key, long long number);

/* Files of the folder the program runs in. Opening returns a handle or a negative number; reading
 * and writing return 0 if all bytes were transferred. */
int harness_open_to_read(const char* name);
int harness_open_to_write(const char* name);
int harness_read(int file, void* bytes, size_t num_bytes);
int harness_write(int file, const void* bytes, size_t num_bytes);
void harness_close(int file);

/* Regions: what is executed between MARK_START and MARK_STOP is one region; MARK_NEXT ends a region
 * and begins another. On a core the marks are 16-bit instructions that no compiler emits; the
 * emulator's plugin counts the instructions between them, marks excluded. On the host a region is
 * measured in nanoseconds. */
#if defined(__riscv) && HARNESS_ON_CORE
#define MARK_START() __asm__ volatile(".2byte 0x0005" ::: "memory") /* c.nop 1, a hint */
#define MARK_STOP() __asm__ volatile(".2byte 0x0009" ::: "memory")  /* c.nop 2 */
#define MARK_NEXT() __asm__ volatile(".2byte 0x000d" ::: "memory")  /* c.nop 3 */
#elif HARNESS_ON_CORE
#define MARK_START() __asm__ volatile(".inst.n 0x46d2" ::: "memory") /* mov r10, r10 */
#define MARK_STOP() __asm__ volatile(".inst.n 0x46db" ::: "memory")  /* mov r11, r11 */
#define MARK_NEXT() __asm__ volatile(".inst.n 0x46c9" ::: "memory")  /* mov r9, r9 */
#else
void harness_region_start(void);
void harness_region_stop(void);
#define MARK_START() harness_region_start()
#define MARK_STOP() harness_region_stop()
#define MARK_NEXT() (harness_region_stop(), harness_region_start())
#endif

/* Where large buffers go. */
#if HARNESS_ON_CORE
#define HARNESS_LARGE __attribute__((section(".large")))
#else
#define HARNESS_LARGE
#endif

/* The stack below the calling function's frame is painted; harness_stack_used then says how many
 * bytes below the frame have been written since, or -1 on the host. Both are expanded in place: a
 * call would use the stack itself. Only words that were written are seen. */
#if HARNESS_ON_CORE
extern uint32_t harness_stack_bottom[];
#define HARNESS_PAINT 0xc5a3965bu

__attribute__((always_inline)) static inline uint32_t* harness_stack_pointer(void) {
  uint32_t* pointer;
#if defined(__riscv)
  __asm__ volatile("mv %0, sp" : "=r"(pointer)::"memory");
#else
  __asm__ volatile("mov %0, sp" : "=r"(pointer)::"memory");
#endif
  return pointer;
}
__attribute__((always_inline)) static inline void harness_paint_stack(void) {
  volatile uint32_t* word = harness_stack_bottom;
  const volatile uint32_t* const end = harness_stack_pointer();
  while (word < end) *word++ = HARNESS_PAINT;
}
__attribute__((always_inline)) static inline long harness_stack_used(void) {
  const volatile uint32_t* word = harness_stack_bottom;
  const volatile uint32_t* const end = harness_stack_pointer();
  while (word < end && *word == HARNESS_PAINT) ++word;
  return (long)((const volatile char*)end - (const volatile char*)word);
}
#else
static inline void harness_paint_stack(void) {}
static inline long harness_stack_used(void) { return -1; }
#endif

#ifdef __cplusplus
}
#endif
#endif
