/* SPDX-License-Identifier: Apache-2.0
 * main.c: how a program calls the C that Ingot writes. Reads a picture of 8 lines of 8 characters
 * (`#` is ink) from standard input and says which way its line runs. */
#include <stdio.h>

#include "line.h"

static const char* const names[] = {"level", "upright", "rising", "falling"};

/* All memory that the network works in. static: a microcontroller's .bss. */
static union {
  uint8_t bytes[LINE_ARENA_BYTES ? LINE_ARENA_BYTES : 1];
  double for_alignment;
} arena;

/* The picture in the network's own numbers: 0 is the zero point, ink is 1. Returns the count. */
static size_t read_picture(int8_t* picture, size_t size) {
  size_t count = 0;
  int c;
  while (count < size && (c = getchar()) != EOF) {
    if (c == '#' || c == '.') {
      picture[count] = (int8_t)(c == '#' ? 127 : LINE_INPUT_PICTURE_ZERO_POINT);
      ++count;
    }
  }
  return count;
}

int main(void) {
  int8_t picture[LINE_INPUT_PICTURE_BYTES];
  int8_t probabilities[LINE_OUTPUT_PROBABILITIES_BYTES];
  line_inputs inputs;
  line_outputs outputs;
  size_t best = 0;
  size_t i;
  if (read_picture(picture, sizeof picture) != sizeof picture) {
    fprintf(stderr, "expected %lu characters `#` or `.`\n", (unsigned long)sizeof picture);
    return 1;
  }
  inputs.picture = picture;
  outputs.probabilities = probabilities;
  if (line_run(&inputs, &outputs, &arena) != 0) return 1;

  for (i = 0; i < sizeof probabilities; ++i) {
    const float probability = LINE_OUTPUT_PROBABILITIES_SCALE *
                              (float)(probabilities[i] - LINE_OUTPUT_PROBABILITIES_ZERO_POINT);
    printf("  %-8s %5.1f %%\n", names[i], 100.0 * (double)probability);
    if (probabilities[i] > probabilities[best]) best = i;
  }
  printf("The line is %s.\n", names[best]);
  return 0;
}
