/* SPDX-License-Identifier: Apache-2.0
 * The part of harness.h that is the same everywhere: numbers as text. */
#include "harness.h"

void harness_put_number(long long number) {
  char text[24];
  int i = (int)sizeof text - 1;
  unsigned long long rest =
      number < 0 ? 0ull - (unsigned long long)number : (unsigned long long)number;
  text[i] = '\0';
  do {
    text[--i] = (char)('0' + (int)(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (number < 0) text[--i] = '-';
  harness_put(text + i);
}

void harness_report(const char* key, long long number) {
  harness_put("[harness] ");
  harness_put(key);
  harness_put(" ");
  harness_put_number(number);
  harness_put("\n");
}
