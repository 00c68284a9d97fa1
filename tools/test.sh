#!/bin/sh
# Everything that is tested, on one command: sh tools/test.sh
#
#   --quick      only the main build, with the packages that are installed
#   --no-setup   install nothing
#   --long       the long forms of the main build's tests as well (20 minutes more)
#   --only NAME  only this run, e.g. lint, main, clang, tsan (repeatable)
#
# The main build (gcc, in build/) runs every suite; then come other compilers,
# optimisation levels and sanitisers, each in its own build-NAME/, with the suites
# that can tell a difference. Ends with the line 'N passed, N failed'; the exit
# status is 0 when nothing failed. A build that does not compile is one failure.
cd "$(dirname "$0")/.." || exit 1

quick=0 long=0 setup=1 only=
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 setup=0 ;;
	--no-setup) setup=0 ;;
	--long) long=1 ;;
	--only)
		case $2 in
		lint | main | musl | clang | O0 | O3-lto | asan | tsan | options | valgrind) ;;
		*) echo "--only wants one of: lint main musl clang O0 O3-lto asan tsan options valgrind"
			exit 2 ;;
		esac
		only="$only $2" && shift ;;
	*) sed -n '2,14s/^# \{0,1\}//p' "$0" && exit 2 ;;
	esac
	shift
done

# A fault that a test provokes is the test's to see, not the sanitizer's. The
# time limits are libcheck's own; these builds and valgrind are slow.
export ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:handle_segv=0:handle_abort=0
export CK_TIMEOUT_MULTIPLIER=20

results=$(mktemp -d) || exit 1
trap 'rm -rf "$results"' EXIT
begin=$(date +%s)
runs=

wanted() { # NAME: is this run asked for?
	case " $only " in
	"  ") return 0 ;;
	*" $1 "*) return 0 ;;
	*) return 1 ;;
	esac
}

section() { # TITLE, with the time since the start
	echo
	echo "==== $1 (at $(($(date +%s) - begin)) s)"
}

# configure NAME SETUP-ARGUMENTS...: build-NAME, or build for main, is compiled
# without a warning. What the tools print is shown only if they fail.
configure() {
	name=$1 && shift
	dir=build-$name
	[ "$name" = main ] && dir=build
	again=
	[ -f "$dir/build.ninja" ] && again=--reconfigure
	# shellcheck disable=SC2086
	if { meson setup $again "$dir" --werror "$@" ||
		{ [ -n "$again" ] && meson setup --wipe "$dir" --werror "$@"; }; } \
		> "$results/$name.build" 2>&1 &&
		ninja -k 0 -C "$dir" >> "$results/$name.build" 2>&1; then
		echo "passed build" > "$results/$name.own"
	else
		grep -E 'error|ERROR|undefined' "$results/$name.build" | head -n 20
		tail -n 20 "$results/$name.build"
		echo "failed build" > "$results/$name.own"
	fi
	runs="$runs $name=$results/$name.own"
	grep -q passed "$results/$name.own"
}

# Sanitizers of this age want their shadow where a newer kernel's 32 bits of
# randomisation may put a mapping.
still=
[ "$(cat /proc/sys/vm/mmap_rnd_bits 2> /dev/null || echo 0)" -le 28 ] || still="setarch -R"

# run NAME DIR MESON-TEST-ARGUMENTS...
run() {
	name=$1 dir=$2 && shift 2
	prefix=
	case $name in asan | tsan) prefix=$still ;; esac
	$prefix meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "log-$name" "$@" \
		2>&1 < /dev/null | grep --line-buffered -v '^ninja: '
	# meson adds the wrapper's name, if there is one.
	log=$(ls "$dir/meson-logs/log-$name.json" "$dir/meson-logs/log-$name"-*.json 2> /dev/null)
	if [ -n "$log" ]; then
		mv "$log" "$results/$name.json"
	else
		echo "failed meson test" > "$results/$name.json"
	fi
	runs="$runs $name=$results/$name.json"
}

# behaviour DIR: the names of the tests that another compiler may change. Not among
# them: real programs and counted costs; and strict and fuzz, which compile the same
# sources and are run in the main build.
behaviour() {
	meson introspect --tests "$1" | python3 -c '
import json, sys
for test in json.load(sys.stdin):
    suites = {suite.split(":")[-1] for suite in test["suite"]}
    if not suites & {"real", "cost", "model", "long"}:
        if not test["name"].endswith(("-strict", "-fuzz")):
            print(test["name"])'
}

# variant NAME COMPILER SETUP-ARGUMENTS... [-- MESON-TEST-ARGUMENTS...]; without
# these the tests are those of behaviour.
variant() {
	wanted "$1" || return 0
	section "$1"
	name=$1 CC=$2 && shift 2
	CXX=$(echo "$CC" | sed 's/gcc/g++/; s/clang/clang++/')
	export CC CXX
	options=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	# shellcheck disable=SC2086
	configure "$name" $options || return
	if [ $# -gt 0 ]; then
		shift
		run "$name" "build-$name" "$@"
	else
		set -f
		tests=$(behaviour "build-$name")
		IFS='
'
		# shellcheck disable=SC2086
		set -- $tests
		unset IFS
		set +f
		run "$name" "build-$name" -t 3 "$@"
	fi
}

# musl with nacre inside: the suites unit, death, abi and stress built
# with its compiler wrapper, dynamic and static, run without a preload.
inside() {
	section "musl: nacre as libc's malloc"
	export CC=gcc CXX=g++
	if ! ninja -C build musl; then
		echo "failed musl" > "$results/musl.own"
		runs="$runs musl=$results/musl.own"
		return
	fi
	unset CC CXX
	runs="$runs musl=$results/musl.own"
	python3 musl/symbols.py build/musl
	note musl "symbols of libc" $?
	sh musl/check.sh build/musl
	note musl "libcheck inside" $?
	for how in dynamic static; do
		configure "musl-$how" -Dinside=$how --native-file build/musl/meson.ini || continue
		run "musl-$how" "build-musl-$how" --suite unit --suite death --suite abi \
			--suite stress --no-suite long
	done
	section "a small part of the distribution"
	sh musl/distro/build.sh --prefix build/musl --only busybox,lua,sqlite > "$results/distro.log" 2>&1
	status=$?
	cat "$results/distro.log"
	note musl "distribution: busybox, lua, sqlite" $status
	# By name, so that the result tells which.
	sed -n 's/NEW FAILURE/failed/p' "$results/distro.log" | while read -r name; do
		note musl "$name" 1
	done
}

if [ $setup = 1 ] && [ -f tools/setup.sh ]; then
	section "packages"
	sh tools/setup.sh all || exit 1
fi

# note NAME TEST STATUS: the result of a test that meson does not run.
note() {
	case $3 in
	0) echo "passed $2" ;;
	77) echo "skipped $2" ;;
	*) echo "failed $2" ;;
	esac | tee -a "$results/$1.own"
}

# Every mitigation by itself can be turned off, in the profile that has it, and on: the
# library then builds without a warning and serves a load. Without the canary its cost has a
# limit of its own.
options_off() {
	dir=build-options
	runs="$runs options=$results/options.own"
	[ -f $dir/build.ninja ] || meson setup $dir --werror -Dtests=false > /dev/null || return
	meson setup --reconfigure $dir > /dev/null # meson_options.txt may have changed
	names=$(sed -n "s/^option('\([a-z_]*\)'.*'profile', '0', '1'.*/\1/p" meson_options.txt)
	strict=$(sed -n "s/^  '\([a-z_]*\)': \['plain', 'standard'\],/\1/p" meson.build | tr '\n' ' ')
	for name in $names; do for set_to in 0 1; do
		set -- -Dprofile=standard
		case "$set_to $strict" in
		0*" $name "*) set -- -Dprofile=strict ;;
		esac
		for other in $names; do
			value=profile
			[ "$other" = "$name" ] && value=$set_to
			set -- "$@" "-D$other=$value"
		done
		if meson configure $dir "$@" && ninja -C $dir libnacre.so; then
			LD_PRELOAD=$PWD/$dir/libnacre.so build/tests/cost/calls steady 1000000 &&
				LD_PRELOAD=$PWD/$dir/libnacre.so build/tests/cost/pairs cross 48 1000
		else
			false
		fi > "$results/options.log" 2>&1
		status=$?
		[ $status = 0 ] || tail -n 30 "$results/options.log"
		note options "$name=$set_to" $status
		[ $status$name=$set_to = 0canary=0 ] || continue
		tests/cost/count.py --check instructions "nacre-canary=0=$PWD/$dir/libnacre.so"
		note options "cost of canary=0" $?
	done; done
}

if wanted lint; then
	section "lint"
	runs="$runs lint=$results/lint.own"
	sh tools/lint.sh
	note lint lint $?
fi

if wanted main || wanted valgrind || wanted options || wanted musl; then
	section "main: gcc"
	export CC=gcc CXX=g++
	if configure main && wanted main; then
		run main build
		[ $long = 0 ] || run long build --setup long --suite long
	fi
fi

if [ $quick = 0 ]; then
	wanted musl && grep -q passed "$results/main.own" && inside
	variant clang clang
	variant O0 gcc -Doptimization=0
	variant O3-lto gcc -Doptimization=3 -Db_lto=true
	variant asan gcc -Db_sanitize=address,undefined -- --suite unit --no-suite long -t 3
	variant tsan gcc -Db_sanitize=thread -- --suite stress --no-suite long -t 5
	if wanted options; then
		section "options: each mitigation off"
		export CC=gcc CXX=g++
		options_off
	fi
	if wanted valgrind && grep -q passed "$results/main.own"; then
		section "valgrind: unit tests"
		run valgrind build --suite unit --no-suite long -t 20 \
			--wrap "valgrind -q --error-exitcode=99 --leak-check=no \
				--suppressions=$PWD/tools/valgrind.supp"
	fi
fi

section "result"
# shellcheck disable=SC2086
python3 tools/tally.py $runs
