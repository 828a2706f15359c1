// Prints what the kernel makes of 1.
#include <stdio.h>

#include "scale.h"

int main(void) {
  float in[3] = {1, 1, 1}, out[3] = {0, 0, 0};
  tile_status status = scale(in, out, 3, NULL);
  if (status != TILE_OK) printf("status %d: %s\n", (int)status, tile1_last_message());
  printf("%g\n", out[0] == out[1] && out[1] == out[2] ? out[0] : -1.0);
  return 0;
}
