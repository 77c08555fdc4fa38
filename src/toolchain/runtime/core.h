/* SPDX-License-Identifier: Apache-2.0
 * Between start-up code, which is the core's own, and core.c, which is the same on all of them. */
#ifndef INGOT_CORE_H
#define INGOT_CORE_H

#include "harness.h"

enum { kExitCodeOfFaults = 99 };

/* Of the linker scripts. */
extern uint32_t harness_stack_top[], harness_handler_stack_top[];
extern uint32_t harness_data_load[], harness_data_start[], harness_data_end[];
extern uint32_t harness_bss_start[], harness_bss_end[];
extern char harness_code_origin[], harness_code_bytes[];
extern char harness_ram_origin[], harness_ram_bytes[];
extern char harness_large_origin[], harness_large_bytes[];
extern char harness_heap_start[], harness_heap_end[];
extern int main(int argc, char** argv);

/* A call of the emulator: an operation of "Semihosting for AArch32 and AArch64", which RISC-V uses
 * too. */
int harness_semihosting(int operation, const void* parameters);

__attribute__((noreturn)) void harness_leave(int code);
void harness_put_hexadecimal(const char* label, uint32_t value);

#endif
