/* SPDX-License-Identifier: Apache-2.0
 * main.c: how a program calls the C that Ingot writes. Reads a picture of 16 lines of 16 characters
 * from standard input (the darker, the more ink: " .:-=+*#%@") and says which digit it shows. */
#include <stdio.h>
#include <string.h>

#include "digits.h"

#define SIDE 16

/* All memory that the network works in. static: a microcontroller's .bss. */
static union {
  uint8_t bytes[DIGITS_ARENA_BYTES ? DIGITS_ARENA_BYTES : 1];
  double for_alignment;
} arena;

/* The picture in the network's own numbers: no ink is the zero point, full ink 1 / SCALE above it.
 * Short lines are blank at their ends. Returns the number of lines. */
static int read_picture(int8_t picture[SIDE * SIDE]) {
  static const char shades[] = " .:-=+*#%@";
  const int darkest = (int)sizeof shades - 2;
  char line[SIDE + 2];
  int row = 0;
  memset(picture, DIGITS_INPUT_PICTURE_ZERO_POINT, SIDE * SIDE);
  while (row < SIDE && fgets(line, sizeof line, stdin) != NULL) {
    int column;
    for (column = 0; line[column] != '\0' && column < SIDE; ++column) {
      const char* shade = strchr(shades, line[column]);
      if (shade != NULL) {
        picture[row * SIDE + column] =
            (int8_t)((shade - shades) * 255 / darkest + DIGITS_INPUT_PICTURE_ZERO_POINT);
      }
    }
    ++row;
  }
  return row;
}

int main(void) {
  int8_t picture[DIGITS_INPUT_PICTURE_BYTES];
  int8_t probability[DIGITS_OUTPUT_PROBABILITY_BYTES];
  digits_inputs inputs;
  digits_outputs outputs;
  size_t best = 0;
  size_t digit;
  if (read_picture(picture) != SIDE) {
    fprintf(stderr, "expected %d lines\n", SIDE);
    return 1;
  }
  inputs.picture = picture;
  outputs.probability = probability;
  if (digits_run(&inputs, &outputs, &arena) != 0) return 1;

  for (digit = 0; digit < sizeof probability; ++digit) {
    const float p = DIGITS_OUTPUT_PROBABILITY_SCALE *
                    (float)(probability[digit] - DIGITS_OUTPUT_PROBABILITY_ZERO_POINT);
    if (p > 0.01f) printf("  %lu  %5.1f %%\n", (unsigned long)digit, 100.0 * (double)p);
    if (probability[digit] > probability[best]) best = digit;
  }
  printf("It is a %lu.\n", (unsigned long)best);
  return 0;
}
