/* SPDX-License-Identifier: Apache-2.0
 * What is the same on all emulated cores: text, files and the exit code by semihosting, and what
 * the C library asks of a system. */
#include "core.h"

/* Arm's semihosting operations ("Semihosting for AArch32 and AArch64"). */
enum {
  kSysOpen = 0x01,
  kSysClose = 0x02,
  kSysWrite0 = 0x04,
  kSysWrite = 0x05,
  kSysRead = 0x06,
  kSysExitExtended = 0x20
};
enum { kModeRead = 1, kModeWrite = 5 };
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

void harness_leave(int code) {
  const uint32_t parameters[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
  harness_semihosting(kSysExitExtended, parameters);
  for (;;) {
  }
}

void harness_put(const char* text) { harness_semihosting(kSysWrite0, text); }

static int open_file(const char* name, uint32_t mode) {
  uint32_t length = 0;
  while (name[length] != '\0') ++length;
  const uint32_t parameters[3] = {(uint32_t)(uintptr_t)name, mode, length};
  return harness_semihosting(kSysOpen, parameters);
}

int harness_open_to_read(const char* name) { return open_file(name, kModeRead); }
int harness_open_to_write(const char* name) { return open_file(name, kModeWrite); }

int harness_read(int file, void* bytes, size_t num_bytes) {
  const uint32_t parameters[3] = {(uint32_t)file, (uint32_t)(uintptr_t)bytes, num_bytes};
  return num_bytes == 0 ? 0 : harness_semihosting(kSysRead, parameters);
}

int harness_write(int file, const void* bytes, size_t num_bytes) {
  const uint32_t parameters[3] = {(uint32_t)file, (uint32_t)(uintptr_t)bytes, num_bytes};
  return num_bytes == 0 ? 0 : harness_semihosting(kSysWrite, parameters);
}

void harness_close(int file) {
  const uint32_t parameters[1] = {(uint32_t)file};
  harness_semihosting(kSysClose, parameters);
}

void harness_put_hexadecimal(const char* label, uint32_t value) {
  char text[] = "0x00000000";
  int i;
  for (i = 9; i >= 2; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15u];
  harness_put(label);
  harness_put(text);
}

/* What the C library asks of a system: output, memory and an end. It has no files. */

__attribute__((noreturn)) void _exit(int code) { harness_leave(code); }
int _getpid(void) { return 1; }
int _kill(int process, int signal) {
  (void)process;
  harness_leave(128 + signal);
}
void* _sbrk(ptrdiff_t increment) {
  static char* end = harness_heap_start;
  char* const start = end;
  if (increment > harness_heap_end - end) return (void*)(intptr_t)-1;
  end += increment;
  return start;
}
int _write(int file, const char* bytes, int num_bytes) {
  char text[65];
  int done = 0;
  (void)file;
  while (done < num_bytes) {
    int n = 0;
    while (n < 64 && done < num_bytes) text[n++] = bytes[done++];
    text[n] = '\0';
    harness_put(text);
  }
  return num_bytes;
}
int _read(int file, char* bytes, int num_bytes) {
  (void)file, (void)bytes, (void)num_bytes;
  return 0;
}
int _close(int file) {
  (void)file;
  return -1;
}
int _lseek(int file, int offset, int origin) {
  (void)file, (void)offset, (void)origin;
  return 0;
}
int _fstat(int file, void* status) {
  (void)file, (void)status;
  return -1;
}
int _isatty(int file) {
  (void)file;
  return 1;
}
