// All of the support code, in order: what is embedded as text and as bitcode.
#include "support.h"
#include "state.c"
#include "cpu.c"
#include "pool.c"
#include "numbers.c"
#include "checks.c"
#include "launch.c"
#include "args.c"
