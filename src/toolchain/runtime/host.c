/* SPDX-License-Identifier: Apache-2.0
 * harness.h on the host: standard C files, and regions in nanoseconds, each a line of regions.txt.
 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#include "harness.h"

enum { kMaxFiles = 8 };
static FILE* files[kMaxFiles];
static struct timespec region_start;

void harness_put(const char* text) {
  fputs(text, stdout);
  fflush(stdout); /* so that a crash loses nothing */
}

static int open_file(const char* name, const char* mode) {
  int i;
  for (i = 0; i < kMaxFiles; ++i) {
    if (files[i] != NULL) continue;
    files[i] = fopen(name, mode);
    return files[i] == NULL ? -1 : i;
  }
  return -1;
}

int harness_open_to_read(const char* name) { return open_file(name, "rb"); }
int harness_open_to_write(const char* name) { return open_file(name, "wb"); }

int harness_read(int file, void* bytes, size_t num_bytes) {
  return fread(bytes, 1, num_bytes, files[file]) == num_bytes ? 0 : 1;
}

int harness_write(int file, const void* bytes, size_t num_bytes) {
  return fwrite(bytes, 1, num_bytes, files[file]) == num_bytes ? 0 : 1;
}

void harness_close(int file) {
  fclose(files[file]);
  files[file] = NULL;
}

void harness_region_start(void) { clock_gettime(CLOCK_MONOTONIC, &region_start); }

void harness_region_stop(void) {
  struct timespec now;
  FILE* file;
  clock_gettime(CLOCK_MONOTONIC, &now);
  file = fopen("regions.txt", "ab");
  if (file == NULL) return;
  fprintf(file, "%lld\n",
          (long long)(now.tv_sec - region_start.tv_sec) * 1000000000 +
              (now.tv_nsec - region_start.tv_nsec));
  fclose(file);
}
