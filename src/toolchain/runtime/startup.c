/* SPDX-License-Identifier: Apache-2.0
 * From reset to main() on an emulated Cortex-M, and what main() needs there: semihosting for text,
 * files and the exit code, and a report of every fault, after which the program ends with code 99.
 *
 * main() runs on the process stack (PSP), handlers on the main stack (MSP), so that a fault of
 * main()'s stack itself can still be reported. The stack lies at the bottom of its memory
 * (sections.ld) with nothing below it. The memory protection unit allows the three memories of the
 * board's script and nothing else: several of QEMU's boards read zeros from where there is nothing.
 * No interrupt is ever enabled, so a run executes the same instructions every time.
 *
 * HARNESS_TRAP_UNALIGNED: every unaligned access faults, as on a core of ARMv6-M. */
#include "core.h"

/* The system control block, Armv7-M Architecture Reference Manual B3.2. */
#define SYSTEM_REGISTER(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define CCR SYSTEM_REGISTER(0xe000ed14u)
#define CFSR SYSTEM_REGISTER(0xe000ed28u)
#define HFSR SYSTEM_REGISTER(0xe000ed2cu)
#define MMFAR SYSTEM_REGISTER(0xe000ed34u)
#define BFAR SYSTEM_REGISTER(0xe000ed38u)
#define CPACR SYSTEM_REGISTER(0xe000ed88u)
#define CCR_UNALIGN_TRP (1u << 3)
#define MPU_CTRL SYSTEM_REGISTER(0xe000ed94u)
#define MPU_RNR SYSTEM_REGISTER(0xe000ed98u)
#define MPU_RBAR SYSTEM_REGISTER(0xe000ed9cu)
#define MPU_RASR_OR_RLAR SYSTEM_REGISTER(0xe000eda0u)
#define MPU_MAIR0 SYSTEM_REGISTER(0xe000edc0u)
#define CPACR_FPU (0xfu << 20)

int harness_semihosting(int operation, const void* parameters) {
  register int result __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = parameters;
  __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(r1) : "memory");
  return result;
}

/* Faults. */

static const char* cause_of(uint32_t cfsr, uint32_t exception) {
  static const struct {
    uint32_t bit;
    const char* cause;
  } rows[] = {
      {1u << 24, "unaligned access"},
      {1u << 25, "division by zero"},
      {1u << 20, "stack limit"},
      {1u << 19, "no coprocessor"},
      {1u << 17, "invalid state"},
      {1u << 16, "undefined instruction"},
      {1u << 12, "stack overflow"},
      {1u << 9, "access to nothing"},
      {1u << 10, "imprecise access to nothing"},
      {1u << 8, "fetch from nothing"},
      {1u << 4, "stack overflow"},
      {1u << 1, "access outside of memory, or write to constants"},
      {1u << 0, "execution outside of code"},
  };
  size_t i;
  for (i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    if ((cfsr & rows[i].bit) != 0) return rows[i].cause;
  }
  return exception == 3 ? "hard fault" : "unexpected exception";
}

/* `frame` is what the core pushed: r0-r3, r12, lr, pc, xpsr. It is whole only within the stack. */
__attribute__((noreturn, used)) void harness_fault(const uint32_t* frame, uint32_t exception) {
  const uint32_t cfsr = CFSR;
  harness_put("[harness] fault: ");
  harness_put(cause_of(cfsr, exception));
  if (frame >= harness_stack_bottom && frame + 8 <= harness_stack_top) {
    harness_put_hexadecimal(", pc ", frame[6]);
  }
  if ((cfsr & (1u << 15)) != 0) harness_put_hexadecimal(", address ", BFAR);
  if ((cfsr & (1u << 7)) != 0) harness_put_hexadecimal(", address ", MMFAR);
  harness_put_hexadecimal(", exception ", exception);
  harness_put_hexadecimal(", cfsr ", cfsr);
  harness_put_hexadecimal(", hfsr ", HFSR);
  harness_put("\n");
  harness_leave(kExitCodeOfFaults);
}

__attribute__((naked)) static void on_exception(void) {
  __asm__ volatile(
      "mrs r0, psp\n"
      "mrs r1, ipsr\n"
      "bl harness_fault");
}

/* Allows one memory: code to be read and executed, data to be read and written. */
static void allow(uint32_t region, const char* origin, const char* bytes, int is_code) {
  const uint32_t base = (uint32_t)(uintptr_t)origin;
  const uint32_t size = (uint32_t)(uintptr_t)bytes;
  MPU_RNR = region;
#if __ARM_ARCH >= 8
  MPU_RBAR = base | (is_code ? 3u << 1 : (1u << 1) | 1u); /* access, execute never */
  MPU_RASR_OR_RLAR = (base + size - 32u) | 1u;            /* last 32 bytes, enable */
#else
  uint32_t log2_size = 0;
  while (size >> log2_size != 1u) ++log2_size;
  MPU_RBAR = base;
  /* Access, execute never; normal memory, not cached; size; enable. */
  MPU_RASR_OR_RLAR =
      (is_code ? 6u << 24 : (1u << 28) | (3u << 24)) | (1u << 19) | ((log2_size - 1u) << 1) | 1u;
#endif
}

static void protect_memory(void) {
#if __ARM_ARCH >= 8
  MPU_MAIR0 = 0x44u; /* attribute 0: normal memory, not cached */
#endif
  allow(0, harness_code_origin, harness_code_bytes, 1);
  allow(1, harness_ram_origin, harness_ram_bytes, 0);
  allow(2, harness_large_origin, harness_large_bytes, 0);
  MPU_CTRL = 1u;
  __asm__ volatile("dsb\n isb" ::: "memory");
}

__attribute__((noreturn, used)) void harness_start(void) {
  const uint32_t* from = harness_data_load;
  uint32_t* to;
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  CPACR |= CPACR_FPU;
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
#if defined(__ARM_FEATURE_MVE)
  /* FPSCR.LTPSIZE = 4: no tail predication, as compiled code expects at a function's entry. */
  __asm__ volatile("vmsr fpscr, %0" ::"r"(4u << 16));
#endif
#if defined(HARNESS_TRAP_UNALIGNED)
  CCR |= CCR_UNALIGN_TRP;
  __asm__ volatile("dsb\n isb" ::: "memory");
#endif
  protect_memory();
  for (to = harness_data_start; to < harness_data_end;) *to++ = *from++;
  for (to = harness_bss_start; to < harness_bss_end;) *to++ = 0;
  harness_leave(main(0, NULL));
}

__attribute__((naked, used)) void harness_reset(void) {
  __asm__ volatile(
      "ldr r0, =harness_stack_top\n"
      "msr psp, r0\n"
      "movs r0, #2\n"
      "msr control, r0\n"
      "isb\n"
      "bl harness_start\n"
      ".ltorg");
}

typedef void (*Vector)(void);
__attribute__((section(".vectors"), used)) static const Vector vectors[16] = {
    (Vector)harness_handler_stack_top,
    harness_reset,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
    on_exception,
};
