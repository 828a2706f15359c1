// EXPECT for C tests: a failure prints both sides and makes the program fail.
#ifndef CHECK_H
#define CHECK_H
#include <stdio.h>
#include <string.h>

static int failures;

#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      printf("%s:%d: expected %s\n", __FILE__, __LINE__, #condition);           \
      failures++;                                                               \
    }                                                                           \
  } while (0)

// A call fails with this status and this sentence.
#define EXPECT_FAILS(call, status, sentence)                                    \
  do {                                                                          \
    int got = (call);                                                           \
    if (got != (status) || strcmp(tile1_last_message(), (sentence)) != 0) {     \
      printf("%s:%d: status %d, expected %d\n  message:  %s\n  expected: %s\n", \
             __FILE__, __LINE__, got, (status), tile1_last_message(), sentence); \
      failures++;                                                               \
    }                                                                           \
  } while (0)
#endif
