# Sourced by tools/quickstart and tools/test: what they need on the machine, and the build.

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Runs as root, by sudo where it must be.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo > /dev/null; then sudo "$@"
  else die "packages are missing and there is neither root nor sudo: $*"
  fi
}

is_installed() { dpkg-query -W -f='${db:Status-Status}\n' "$1" 2> /dev/null | grep -qx installed; }

# Installs those of the named packages that are missing; nothing is asked of the network when none is.
install_missing() {
  command -v dpkg-query > /dev/null || die "this is not a Debian or an Ubuntu; install by hand: $*"
  local missing=() package
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Debian 12 is what this is tried on. Ubuntu 24.04 has the same names, its LLVM 19 in `universe`; that has not been tried.
check_system() {
  local name=unknown
  [ -r /etc/os-release ] && name=$(. /etc/os-release && echo "$ID $VERSION_ID")
  case $name in
    "debian 12") ;;
    "ubuntu 24.04")
      echo "Ubuntu 24.04: scripted, but not tried"
      is_installed software-properties-common || install_missing software-properties-common
      as_root add-apt-repository -y universe
      ;;
    *) echo "$name: not tried; Debian 12 is" ;;
  esac
}

build_packages=(
  cmake ninja-build ccache g++ gcc libc6-dev
  clang-19 llvm-19-dev libllvm19 libz3-dev zlib1g-dev libzstd-dev
  antlr4 libantlr4-runtime-dev libcli11-dev nlohmann-json3-dev doctest-dev
  libmimalloc-dev
)

configure() {
  local folder=$1
  shift
  if [ -f "$folder/CMakeCache.txt" ] && ! grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' "$folder/CMakeCache.txt"; then
    die "$folder was configured for another generator than Ninja; name another folder with --build"
  fi
  mkdir -p "$folder"
  local log="$folder/configure.log"
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" > "$log" 2>&1 || { cat "$log"; return 1; }
}
