// Which code this CPU runs. Asked of the CPU itself: the compiler's own helpers for this are symbols outside libc.

tile_status tile1_set_cpu_level(int32_t level);

#if defined(__x86_64__)
static int tile_has(unsigned int word, unsigned int mask) { return (word & mask) == mask; }

static int32_t tile_cpu_level_ask(void) {
  unsigned int a, b, c1, d, c81 = 0, b7 = 0, unused;
  if (!__get_cpuid(1, &a, &b, &c1, &d)) return TILE_LEVEL_ANY;
  __get_cpuid(0x80000001u, &a, &b, &c81, &d);
  __get_cpuid_count(7, 0, &a, &b7, &unused, &d);
  const unsigned int v2 = bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT | bit_CMPXCHG16B;
  if (!tile_has(c1, v2) || !tile_has(c81, bit_LAHF_LM)) return TILE_LEVEL_ANY;
  const unsigned int v3 = bit_AVX | bit_F16C | bit_FMA | bit_MOVBE | bit_OSXSAVE;
  const unsigned int v3_extended = bit_AVX2 | bit_BMI | bit_BMI2;
  if (!tile_has(c1, v3) || !tile_has(b7, v3_extended) || !tile_has(c81, bit_LZCNT)) return TILE_LEVEL_X86_64_V2;
  // The registers that the operating system saves.
  unsigned int saved, saved_high;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
  if (!tile_has(saved, 0x6)) return TILE_LEVEL_X86_64_V2;
  const unsigned int v4 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  return tile_has(b7, v4) && tile_has(saved, 0xe6) ? TILE_LEVEL_X86_64_V4 : TILE_LEVEL_X86_64_V3;
}
#else
static int32_t tile_cpu_level_ask(void) { return TILE_LEVEL_ANY; }
#endif

static int32_t tile_cpu_level(void) {
  struct tile1_process_state *process = tile1_process();
  int32_t level = atomic_load_explicit(&process->cpu_level, memory_order_relaxed);
  if (level) return level;
  level = tile_cpu_level_ask();
  atomic_store_explicit(&process->cpu_level, level, memory_order_relaxed);
  return level;
}

// For tests: the code of a lower level than the CPU has; 0 asks the CPU again.
TILE_SHARED tile_status tile1_set_cpu_level(int32_t level) {
  int32_t best = tile_cpu_level_ask();
  if (level < 0 || level > best) {
    return tile_fail(TILE_NO_DEVICE_CODE, "CPU level %d is not one of this machine's, which are 1 to %d", level, best);
  }
  atomic_store(&tile1_process()->cpu_level, level ? level : best);
  return TILE_OK;
}
