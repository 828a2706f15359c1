#!/bin/sh
# An example as a user would build it by hand: compiles the kernels, compiles the program, runs it.
#   run.sh object TILEC CC NAME OUT LEVEL [flags...]  an object for one level of the CPU
#   run.sh cross  TILEC CC NAME OUT LEVEL       the same for another CPU: linked, not run
#   run.sh c      TILEC CC NAME OUT [flags...]  C text
# Exits with 77 where this CPU cannot run it.
set -eu
kind=$1 tilec=$2 cc=$3 name=$4 out=$5/$4
shift 5
here=$(cd "$(dirname "$0")" && pwd)

features_of() {
  case $1 in
    x86-64) echo sse4_2 popcnt ;;
    x86-64-v3) echo avx2 bmi2 f16c fma movbe ;;
    x86-64-v4) echo avx512f avx512bw avx512cd avx512dq avx512vl ;;
  esac
}

mkdir -p "$out"
case $kind in
  object | cross)
    level=$1
    shift
    kernels=$out/kernels.o
    if [ "$kind" = object ]; then
      for feature in $(features_of "$level"); do
        grep -qw "$feature" /proc/cpuinfo || { echo "skipped: this CPU lacks $feature of $level"; exit 77; }
      done
    fi
    "$tilec" compile --target="$level" -o "$kernels" --header "$out/$name.h" "$here/$name/$name.tile"
    ;;
  c)
    kernels=$out/kernels.c
    "$tilec" compile --emit=c -o "$kernels" --header "$out/$name.h" "$here/$name/$name.tile"
    ;;
esac
"$cc" -std=c11 -O2 -Wall "$@" -I"$out" "$here/$name/main.c" "$here"/common/*.c "$kernels" -o "$out/program" -lm -ldl \
  -pthread
[ "$kind" = cross ] || exec "$out/program"
