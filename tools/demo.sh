#!/bin/sh
# nacre at work, on one command: sh tools/demo.sh [--all]
#
# Installs what is missing, builds, runs real programs without and with nacre preloaded
# and compares them (--all: every one; otherwise those that take a minute in all), and
# shows a block that is freed twice, with glibc's malloc and with nacre. Exit status 0
# when every program did the same and the double free was caught.
cd "$(dirname "$0")/.." || exit 1
cases=--quick
case $1 in
'') ;;
--all) cases= ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac

lib=$PWD/build/libnacre.so
temp=$(mktemp -d) || exit 1
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' INT TERM

title() {
	printf '\n%s\n' "$1"
}

# quietly COMMAND...: its output is shown only when it fails
quietly() {
	"$@" > "$temp/log" 2>&1 && return
	cat "$temp/log"
	echo "failed: $*"
	exit 1
}

title "1. Packages and build"
sh tools/setup.sh all || exit 1
[ -f build/build.ninja ] || quietly meson setup build
quietly ninja -C build
echo "   build/libnacre.so: $(($(stat -c %s build/libnacre.so) / 1024)) KiB"

title "2. Real programs, each run twice: without and with LD_PRELOAD=build/libnacre.so"
# shellcheck disable=SC2086
tests/real/run --lib "$lib" $cases
same=$?
[ $same = 77 ] && same=0 # a program could not be installed: said in its line

title "3. A bug: ten sessions are closed, and one of them a second time"
cat > "$temp/sessions.c" << 'EOF'
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *session[10];

	for (int i = 0; i < 10; i++)
		session[i] = malloc(48);
	for (int i = 0; i < 10; i++)
		free(session[i]);
	free(session[8]); /* the bug */

	for (int i = 0; i < 10; i++)
		session[i] = malloc(48);
	for (int i = 0; i < 10; i++)
		for (int j = 0; j < i; j++)
			if (session[i] == session[j]) {
				puts("two new sessions share one block");
				return 0;
			}
	puts("every new session has its own block");
	return 0;
}
EOF
quietly cc -w -o "$temp/sessions" "$temp/sessions.c"

# try NAME [VARIABLE]: run it, and print all that it said and its exit status. An inner
# shell's own word about the signal goes nowhere.
try() {
	status=$(sh -c 'ulimit -c 0; (exec env $3 "$1") > "$2" 2>&1; echo $?' - \
		"$temp/sessions" "$temp/said" "$2" 2> /dev/null)
	sed "s/^/   $1: /" "$temp/said"
	echo "   $1: exit status $status"
}
try "with glibc"
try "with nacre" "LD_PRELOAD=$lib"

if [ "$status" != 134 ] || ! grep -Eq '^nacre: double free of 0x[0-9a-f]+ ' "$temp/said"; then
	echo "the double free was not caught"
	exit 1
fi
[ $same = 0 ] || echo "not every program did the same"
exit $same
