/* SPDX-License-Identifier: Apache-2.0
 * From reset to main() on an emulated RV32 core in machine mode, and a report of every trap, after
 * which the program ends with code 99.
 *
 * The stack lies at the bottom of its memory (sections.ld). The physical memory protection
 * allows the three memories of the script and nothing else. No interrupt is ever enabled, so a run
 * executes the same instructions every time. The emulator executes unaligned accesses; a core that
 * refuses them is not emulated. */
#include <stdio.h>

#include "core.h"

extern char harness_thread_storage[];

/* Instructions for control registers are an extension of their own since 2019. */
#define WITH_ZICSR(text) ".option push\n.option arch, +zicsr\n" text "\n.option pop"

/* The sequence that tells a call of the emulator from a breakpoint; it must not cross a page. */
__attribute__((naked, noinline, aligned(16))) int harness_semihosting(int operation,
                                                                      const void* parameters) {
  (void)operation, (void)parameters;
  __asm__ volatile(
      ".option push\n"
      ".option norvc\n"
      "slli zero, zero, 0x1f\n"
      "ebreak\n"
      "srai zero, zero, 0x7\n"
      "ret\n"
      ".option pop");
}

/* Picolibc's console. */
static int put_character(char character, FILE* file) {
  const char text[2] = {character, '\0'};
  (void)file;
  harness_put(text);
  return (unsigned char)character;
}
static FILE console = FDEV_SETUP_STREAM(put_character, NULL, NULL, _FDEV_SETUP_WRITE);
FILE* const stdout = &console;
FILE* const stderr = &console;

static const char* cause_of(uint32_t mcause) {
  static const char* const causes[] = {
      "unaligned fetch",       "execution outside of code",
      "undefined instruction", "breakpoint",
      "unaligned access",      "access outside of memory",
      "unaligned access",      "access outside of memory, or write to constants"};
  return mcause < sizeof causes / sizeof causes[0] ? causes[mcause] : "unexpected exception";
}

__attribute__((noreturn, used)) void harness_fault(uint32_t mcause, uint32_t mepc, uint32_t mtval,
                                                   const uint32_t* stack) {
  harness_put("[harness] fault: ");
  harness_put(stack < harness_stack_bottom ? "stack overflow" : cause_of(mcause));
  harness_put_hexadecimal(", pc ", mepc);
  harness_put_hexadecimal(", address ", mtval);
  harness_put_hexadecimal(", exception ", mcause);
  harness_put("\n");
  harness_leave(kExitCodeOfFaults);
}

/* The stack of what failed may be what failed. */
__attribute__((naked, aligned(4))) static void on_trap(void) {
  __asm__ volatile(
      WITH_ZICSR("mv a3, sp\n"
                 "la sp, harness_handler_stack_top\n"
                 "csrr a0, mcause\n"
                 "csrr a1, mepc\n"
                 "csrr a2, mtval\n"
                 "j harness_fault"));
}

/* A region for pmpaddr: naturally aligned, its size a power of two. */
static uint32_t region(const char* origin, const char* bytes) {
  return ((uint32_t)(uintptr_t)origin >> 2) | (((uint32_t)(uintptr_t)bytes >> 3) - 1u);
}

/* Allows the three memories: code to be read and executed, data to be read and written. The last
 * entry is all there is, with no permission. Locked entries hold in machine mode, too. */
static void protect_memory(void) {
  enum { kRead = 1, kWrite = 2, kExecute = 4, kNaturallyAligned = 3 << 3, kLocked = 1 << 7 };
  const uint32_t fixed = kNaturallyAligned | kLocked;
  const uint32_t data = fixed | kRead | kWrite;
  const uint32_t configuration =
      (fixed | kRead | kExecute) | (data << 8) | (data << 16) | (fixed << 24);
  const uint32_t code = region(harness_code_origin, harness_code_bytes);
  const uint32_t ram = region(harness_ram_origin, harness_ram_bytes);
  const uint32_t large = region(harness_large_origin, harness_large_bytes);
  __asm__ volatile(WITH_ZICSR("csrw pmpaddr0, %0\n"
                              "csrw pmpaddr1, %1\n"
                              "csrw pmpaddr2, %2\n"
                              "csrw pmpaddr3, %3\n"
                              "csrw pmpcfg0, %4")::"r"(code),
                   "r"(ram), "r"(large), "r"(0xffffffffu), "r"(configuration)
                   : "memory");
}

__attribute__((noreturn, used)) void harness_start(void) {
  const uint32_t* from = harness_data_load;
  uint32_t* to;
  protect_memory();
  for (to = harness_data_start; to < harness_data_end;) *to++ = *from++;
  for (to = harness_bss_start; to < harness_bss_end;) *to++ = 0;
  harness_leave(main(0, NULL));
}

__attribute__((naked, used, section(".vectors"))) void harness_reset(void) {
  __asm__ volatile(
      ".option push\n"
      ".option norelax\n"
      "la gp, __global_pointer$\n"
      ".option pop\n"
      "la tp, harness_thread_storage\n"
      "la sp, harness_stack_top\n"
      "la t0, %0\n"
      WITH_ZICSR("csrw mtvec, t0") "\n"
      "j harness_start" ::"i"(on_trap));
}
