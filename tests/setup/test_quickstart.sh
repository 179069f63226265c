#!/usr/bin/env bash
# What ./quickstart says and does, without touching this machine: a copy of it runs in a temporary
# folder with a cache of its own and stand-ins for apt, CMake and CTest.
#   tests/setup/test_quickstart.sh [REPOSITORY]
set -uo pipefail

repo=$(cd -- "${1:-$(dirname -- "${BASH_SOURCE[0]}")/../..}" && pwd -P) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf -- "$folder"' EXIT
unset STARPMC_STARPU PKG_CONFIG_PATH CMAKE_BUILD_PARALLEL_LEVEL

passed=0 failed=0 skipped=0
output='' status=0
run() { status=0 && output=$("$@" </dev/null 2>&1) || status=$?; }
expect() { # NAME STATUS PATTERN...: the last run ended so and said every pattern (fixed strings)
  local name=$1 wanted=$2 pattern ok=yes
  shift 2
  [[ $status == "$wanted" ]] || ok="status $status, not $wanted"
  for pattern in "$@"; do [[ $output == *"$pattern"* ]] || ok="does not say: $pattern"; done
  if [[ $ok == yes ]]; then
    passed=$((passed + 1)) && printf 'ok      %s\n' "$name"
  else
    failed=$((failed + 1)) && printf 'FAILED  %s: %s\n%s\n' "$name" "$ok" "$output"
  fi
}
expect_that() { # NAME COMMAND...: it succeeds
  local name=$1
  shift
  run "$@"
  expect "$name" 0
}

# ---------------------------------------------------------------- the command line

quickstart=$repo/quickstart
run "$quickstart" help
expect "help names every word" 0 'run ' 'test ' 'build ' 'setup ' '--starpu' 'STARPMC_STARPU'
run "$quickstart" --help
expect "--help is help" 0 'Usage: ./quickstart'
run "$quickstart" tets
expect "unknown word" 2 "unknown word 'tets'" "did you mean 'test'?" './quickstart help'
run "$quickstart" xyz
expect "unknown word, nothing near" 2 "unknown word 'xyz'" 'run test build setup help'
run "$quickstart" build test
expect "two words" 2 "two words, 'build' and 'test'"
run "$quickstart" --frobnicate
expect "unknown option" 2 "unknown option '--frobnicate'"
run "$quickstart" --starpu
expect "option without its value" 2 '--starpu needs a value'
run "$quickstart" --starpu 2.0
expect "StarPU that is none" 2 "'2.0'" 'auto, 1.4 or 1.3'
run env STARPMC_STARPU=new "$quickstart" build
expect "STARPMC_STARPU that is none" 2 "'new'" 'auto, 1.4 or 1.3'
run "$quickstart" --preset=fast
expect "unknown preset" 2 "'fast'" 'release or debug'
run "$quickstart" --preset debug --starpu 1.3
expect "preset against StarPU" 2 'release-starpu-1.3'
run "$quickstart" build --all
expect "--all without test" 2 '--all goes with the word test'
run "$quickstart" build -- -x
expect "arguments for nobody" 2 'words run and test only'
run env -u HOME -u XDG_CACHE_HOME "$quickstart" build
expect "no HOME" 1 'HOME is not set'

# ---------------------------------------------------------------- a whole set-up, with stand-ins

clone="$folder/a clone with blanks"
cache=$folder/cache
tools=$folder/tools
mkdir -p "$clone/src/qm/workers" "$clone/build/quickstart" "$clone/tests" "$clone/configs" "$tools" "$folder/elsewhere"
cp -- "$quickstart" "$repo/CMakePresets.json" "$clone/"
echo '# nothing' >"$clone/src/qm/workers/requirements.txt"
echo '# nothing' >"$clone/tests/requirements.txt"
touch "$clone/configs/quickstart.cfg" "$clone/build/quickstart/acetone.top"

stand_in() { # NAME: its body comes on standard input
  { echo '#!/usr/bin/env bash' && cat; } >"$tools/$1"
  chmod +x "$tools/$1"
}
stand_in dpkg-query <<'TOOL'
for argument; do [[ $argument == -* || $argument == \$* || $argument == "${MISSING:-}" ]] || echo "ii  $argument"; done
TOOL
stand_in apt-get <<'TOOL'
[[ $1 != indextargets ]] || { echo 'http://archive.invalid/debian/'; exit 0; }
if [[ -n ${APT_WORKS:-} ]]; then
  [[ $* != *' update' ]] || touch "$XDG_CACHE_HOME/updated"
  exit 0
fi
echo "E: Failed to fetch" && exit 100
TOOL
stand_in apt-cache <<'TOOL'
[[ ! -e $XDG_CACHE_HOME/updated ]] || APT_HAS=make
for argument; do
  [[ " ${APT_HAS-make llvm-15-dev} " != *" $argument "* ]] || echo " $argument | 1.0 | http://archive.invalid/debian"
done
TOOL
stand_in dpkg <<'TOOL'
exit 0
TOOL
stand_in pkg-config <<'TOOL'
exit 1
TOOL
stand_in ldd <<'TOOL'
[[ -z ${LIBRARY_GONE:-} ]] || echo "libhwloc.so.15 => not found"
TOOL
stand_in ctest <<'TOOL'
echo "ctest $*"
TOOL
stand_in cmake <<'TOOL'
[[ -z ${CMAKE_FAILS:-} ]] || { echo "CMake Error: no such thing"; exit 1; }
echo "cmake $* PKG_CONFIG_PATH=${PKG_CONFIG_PATH:-}"
case $1 in
  -S)
    mkdir -p "$2/build/release"
    {
      echo 'STARPU_VERSION:INTERNAL=1.4.10'
      for argument; do [[ $argument != -DSTARPMC_TESTS=* ]] || echo "STARPMC_TESTS:BOOL=${argument#*=}"; done
    } >"$2/build/release/CMakeCache.txt"
    touch "$2/build/release/build.ninja"
    cp -- "$STAND_IN_PROGRAM" "$2/build/release/starpmc"
    ;;
  --build) [[ -z ${COMPILER_FAILS:-} ]] || { echo "main.cpp:1: error: no"; exit 1; } ;;
esac
TOOL

stand_in starpmc <<'TOOL'
echo "starpmc $*"
[[ $1 != report ]] || {
  mkdir -p "$2"
  {
    echo pair,first_maximum_angstrom,g_at_maximum,first_minimum_angstrom,g_at_minimum,minimum_is_clear,coordination,error
    echo O2:HW1+HW2,1.85,1.1,2.6,0.3,yes,1.724,0.226
  } >"$2/report-coordination.csv"
  {
    echo pair,r_angstrom,g,g_error,coordination,coordination_error,outer_r_angstrom
    echo O2:HW1+HW2,1.75,0.8,0.2,0.5,0.1,1.8
    echo O2:HW1+HW2,1.85,1.056,0.104,0.7,0.1,1.9
  } >"$2/report-rdf.csv"
}
TOOL

go() { run env "${with[@]}" STAND_IN_PROGRAM="$tools/starpmc" XDG_CACHE_HOME="$cache" PATH="$tools:$PATH" "$clone/quickstart" "$@"; }
with=(A=B)

go --dry-run
expect "dry run tells the plan" 0 'this will' "build StarPU from Debian's source package" 'run configs'
expect_that "and makes nothing" test ! -e "$cache"

go build
expect "no source of StarPU" 1 'step 2 of 5, "StarPU", failed' 'no source of StarPU 1.3' \
  'falling back to StarPU 1.3' 'What to do' 'Failed to fetch'

# A cached StarPU, as a finished build leaves it.
# shellcheck source=/dev/null
recipe=$(source <(sed -n '/^min_cpu_workers=/p; /^starpu_pipeline=/p; /^starpu_options=(/,/^)/p; /^starpu_recipe()/p' \
  "$quickstart") && starpu_recipe)
starpu=$cache/starpmc/starpu-1.4.10
mkdir -p "$starpu/lib/pkgconfig" "$starpu/share"
touch "$starpu/lib/pkgconfig/starpu-1.4.pc" "$starpu/lib/libstarpu-1.4.so" "$starpu/lib/libstarpumpi-1.4.so"

go --dry-run
expect "a cached StarPU without recipe is not taken" 0 "build StarPU from Debian's source package"
printf '%s\n' "$recipe" >"$starpu/share/starpmc-recipe"
with=(LIBRARY_GONE=1)
go --dry-run
expect "nor one whose libraries are gone" 0 "build StarPU from Debian's source package"

with=(CMAKE_FAILS=1)
go build
expect "CMake fails" 1 'step 4 of 5, "Configure", failed: CMake ended with status 1' \
  'configure.log' 'CMake Error: no such thing' 'What to do'
with=(COMPILER_FAILS=1)
go build
expect "the compiler fails" 1 'step 5 of 5, "Build", failed' 'main.cpp:1: error: no'
with=(A=B)
go
expect "goes on and runs, in a path with blanks" 0 'StarPU 1.4.10, cache' '[7/8] Run' \
  'starpmc run configs/quickstart.cfg --output.overwrite=true' 'Done in'
expect "and tells of the first shell" 0 '[8/8] Report' 'first peak of g(r): 1.06 ± 0.10 at 1.85 A' \
  'within 2.6 A: 1.72 ± 0.23 of them'
expect_that "the symlink for plain cmake" test "$(readlink "$cache/starpmc/starpu")" = starpu-1.4.10
built() { # WORD...: the last call of the compiler, and of CMake, said every word
  local word
  for word; do grep -qe "$word" "$cache/starpmc/log/build.log" "$cache/starpmc/log/configure.log" || return 1; done
}
expect_that "the tests are not built unless asked for" built '--target starpmc' 'STARPMC_TESTS=OFF'
expect_that "a Python environment" "$cache/starpmc/python/bin/python" -c 'pass'
cd "$folder/elsewhere" || exit 1
go -- --sampling.seed 7
expect "again, from elsewhere, with arguments" 0 'nothing changed' 'there already' \
  'starpmc run configs/quickstart.cfg --sampling.seed 7' 'of the run with your arguments'
go test
expect "test leaves out the slow ones" 0 'ctest --preset release' 'all passed'
expect_that "and builds the tests" built '--target all' 'STARPMC_TESTS=ON'
expect_that "without compiling the program again" test -z "$(grep -e '--fresh' "$cache/starpmc/log/configure.log")"
go
expect_that "the program alone once more" built '--target starpmc' 'STARPMC_TESTS=ON'
go test --all
expect "test --all does not" 0 'ctest --preset release-all'
start=${EPOCHREALTIME/./}
go build
expect "nothing to do" 0 '[5/5] Build'
milliseconds=$(((${EPOCHREALTIME/./} - start) / 1000))
expect_that "in less than 5 s ($milliseconds ms)" test "$milliseconds" -lt 5000
rm -- "$clone/src/qm/workers/requirements.txt"
go build
expect "requirements are gone" 1 'Python environment' 'git checkout'

with=(MISSING=libhwy-dev)
go setup --dry-run
expect "a missing package is named first" 0 'install 1 Debian packages with apt-get: libhwy-dev'
with=(MISSING=libgtest-dev)
go --dry-run
[[ $output != *libgtest-dev* ]] || status=1
expect "the tests' packages are not wanted for a run" 0 'this will'
go test --dry-run
expect "they are for the tests" 0 'install 1 Debian packages with apt-get: libgtest-dev'
with=(MISSING=libhwy-dev)
go setup --no-packages --dry-run
expect "unless told to leave apt alone" 0 'this will'
if ((EUID == 0)); then
  go setup
  expect "apt fails" 1 'step 1 of 3, "Debian packages", failed: apt-get ended with status 100' \
    'apt-get install --no-install-recommends libhwy-dev'
fi

# Without being root: what apt-get says is as far as it comes.
stand_in sudo <<'TOOL'
case ${SUDOER:?},$1 in
  no-password,-v) echo "sudo: a password is required" && exit 1 ;;
  password,-v) touch "$XDG_CACHE_HOME/password-given" ;;
  no-password,-n) exec "${@:2}" ;;
  password,-n) [[ -e $XDG_CACHE_HOME/password-given ]] && exec "${@:2}" || exit 1 ;;
  *) exit 1 ;;
esac
TOOL
chmod a+rx "$folder"
mkdir -m a=rwx "$folder/cache of another"
as_user=()
((EUID != 0)) || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
go_as_user() { # SUDOER WORD...
  run "${as_user[@]}" env MISSING=libhwy-dev SUDOER="$1" XDG_CACHE_HOME="$folder/cache of another" \
    PATH="$tools:$PATH" "$clone/quickstart" "${@:2}"
}
if "${as_user[@]}" test -x "$clone/quickstart"; then
  go_as_user nobody setup
  expect "sudo refuses" 1 'sudo was refused' 'as root: apt-get install --no-install-recommends libhwy-dev'
  for sudoer in no-password password; do
    go_as_user "$sudoer" setup
    expect "sudo with $sudoer" 1 'failed: apt-get ended with status 100' 'E: Failed to fetch'
  done
  expect_that "the password is asked for where it is needed" test -e "$folder/cache of another/password-given"
else
  skipped=$((skipped + 1)) && echo "skipped sudo: another user cannot read $folder"
fi

# LLVM is optional: CMake finds out.
with=(MISSING=llvm-15-dev)
go setup --dry-run
expect "LLVM where apt has it" 0 'install 1 Debian packages with apt-get: llvm-15-dev'
with=(MISSING=llvm-15-dev APT_HAS=make)
go build --dry-run
[[ $output != *llvm* ]] || status=1
expect "no LLVM where apt has none" 0 'this will'
echo '# nothing' >"$clone/src/qm/workers/requirements.txt"
go build
expect "and the build goes on, and says so" 0 'this release has no llvm-15-dev, which is optional' 'Done in'
with=(MISSING=llvm-15-dev APT_HAS='' APT_WORKS=1 SUDOER=no-password)
go setup --dry-run
expect "before apt has lists LLVM is wanted" 0 'install 1 Debian packages with apt-get: llvm-15-dev'
go setup
expect "then it is left" 0 'this release has no llvm-15-dev' 'Done in'
rm -- "$cache/updated"
with=(MISSING=libhwy-dev APT_HAS='' APT_WORKS=1 SUDOER=no-password)
go setup
expect "unlike what is needed" 1 'apt-get did not install libhwy-dev'
llvm_of_cmake=$(sed -n 's/.*find_package(LLVM \([0-9]*\) .*/llvm-\1-dev/p' "$repo/CMakeLists.txt" | sort -u | xargs)
expect_that "LLVM as CMake wants it" grep -qxF "packages_llvm=($llvm_of_cmake)" "$quickstart"
with=(A=B)

# ---------------------------------------------------------------- the files around it

if command -v shellcheck >/dev/null; then
  expect_that "shellcheck" shellcheck "$quickstart" "$repo/.ci/run" "$repo/tests/setup/test_quickstart.sh" \
    "$repo/tests/scale_on_paper/run"
else
  skipped=$((skipped + 1)) && echo 'skipped shellcheck: not installed (./quickstart setup --dev)'
fi
run env -C "$repo" cmake --list-presets=all
expect "presets are readable" 0 '"release"' '"debug"' '"release-starpu-1.3"'

printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
