#!/usr/bin/env bash
# Installs the compiler into a folder with a space in its name, moves it, and builds a project against it, in a folder with
# a space in its name, by each build system. A changed import must rebuild, and nothing to do must do nothing.
#   run.sh CMAKE BUILD OUT
set -euo pipefail
cmake=$1 build=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0

check() {  # check WHAT WANTED GOT
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1: '$3' instead of '$2'"
  fi
}

rm -rf "$out"
mkdir -p "$out"
# As after a build of the target `tilec` alone: pages that other targets may have left there count for nothing.
rm -rf "$build/install/pages"
"$cmake" --install "$build" --prefix "$out/first place" > "$out/install.log"
prefix="$out/a folder"
mv "$out/first place" "$prefix"
check "the compiler runs" 0 "$("$prefix/bin/tilec" --version > /dev/null; echo $?)"

for page in share/man/man1/tilec.1 share/bash-completion/completions/tilec share/zsh/site-functions/_tilec share/fish/vendor_completions.d/tilec.fish; do
  check "$page" found "$(grep -q 'schedule.*cache' "$prefix/$page" && echo found)"
done
completed=$(source "$prefix/share/bash-completion/completions/tilec"; COMP_WORDS=(tilec compile --schedule-c); COMP_CWORD=2; _tilec; echo "${COMPREPLY[*]:-}")
check "options are completed" --schedule-cache "$completed"

# Links of the installed pages that lead nowhere.
broken_links() {
  find "$prefix/share" -name '*.md' | while read -r page; do
    grep -oE '\]\([^)#: ]+\.md' "$page" | cut -c3- | while read -r link; do
      [ -e "$(dirname "$page")/$link" ] || echo "${page##*/} -> $link"
    done
  done
}
check "links of the pages" "" "$(broken_links)"

fresh_project() { rm -rf "$out/$1" && cp -r "$here/project" "$out/$1" && cd "$out/$1"; }
# Time stamps of a file system may be coarse.
change_factor() { sleep 1.1; echo "const FACTOR: f32 = $1;" > factor.tile; }

by_cmake() {
  fresh_project "by cmake $1"
  "$cmake" -G "$1" -S . -B "its build" -DCMAKE_PREFIX_PATH="$prefix" > configure.log
  "$cmake" --build "its build" > build.log
  check "$1" 2 "$("./its build/program")"
  change_factor 3
  "$cmake" --build "its build" > rebuild.log
  check "$1, changed import" 3 "$("./its build/program")"
  "$cmake" --build "its build" > idle.log
  check "$1, nothing to do" 0 "$(grep -c 'Compiling kernels' idle.log || true)"
}

by_make() {
  fresh_project "by make"
  make TILEC="$prefix/bin/tilec" RULES="$prefix/share/tilec/tilec.mk" "$@" > build.log
  check "make" 2 "$(./program)"
  change_factor 3
  make TILEC="$prefix/bin/tilec" RULES="$prefix/share/tilec/tilec.mk" "$@" > rebuild.log
  check "make, changed import" 3 "$(./program)"
  make TILEC="$prefix/bin/tilec" RULES="$prefix/share/tilec/tilec.mk" "$@" > idle.log
  check "make, nothing to do" 0 "$(grep -c 'bin/tilec' idle.log || true)"
  mkdir below && cp factor.tile scale.tile below
  make TILEC="$prefix/bin/tilec" RULES="$prefix/share/tilec/tilec.mk" below/scale.o > below.log
  sleep 1.1 && echo "const FACTOR: f32 = 4;" > below/factor.tile
  make TILEC="$prefix/bin/tilec" RULES="$prefix/share/tilec/tilec.mk" below/scale.o > below.log
  check "make, changed import in a folder below" 1 "$(grep -c 'bin/tilec' below.log || true)"
}

# Of a folder without spaces, the rules find the compiler that they were installed with.
by_rules_alone() {
  fresh_project "by rules alone"
  local link
  link=$(mktemp -d)
  ln -s "$prefix" "$link/tilec"
  make RULES="$link/tilec/share/tilec/tilec.mk" > build.log
  check "make, without a compiler named" 2 "$(./program)"
  rm -r "$link"
}

by_pkg_config() {
  command -v pkg-config > /dev/null || { echo "skipped: no pkg-config"; return; }
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
  local compiler rules
  compiler=$(pkg-config --variable=tilec tilec)
  rules=$(pkg-config --variable=makefile tilec)
  check "pkg-config, version" 0 "$(pkg-config --exists 'tilec >= 0.1'; echo $?)"
  check "pkg-config, compiler" 0 "$(test -x "${compiler//\\/}"; echo $?)"
  check "pkg-config, rules" 0 "$(test -r "${rules//\\/}"; echo $?)"
}

by_cmake Ninja
by_cmake "Unix Makefiles"
by_make -j2
by_rules_alone
by_pkg_config
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
