#!/bin/sh
# Prebuilt musl programs from npm on nacre's libc and on mallocng's: npm.sh [PREFIX [WORK]]
#
#   PREFIX   musl, by musl/build.sh (default: build/musl)
#   WORK     as of build.sh (default: build/distro); packages are kept in WORK/npm
#
# A Dart program (sass) and a Rust program (lightningcss), linked dynamically with musl,
# each write what the other libc makes them write.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
prefix=${1:-$top/build/musl} work=${2:-$top/build/distro}
mkdir -p "$work/npm"
work=$(cd "$work" && pwd)
sh "$top/musl/build.sh" --alloc mallocng --work "$prefix.work" "$work/mallocng"
cd "$work/npm"
for package in sass-embedded-linux-musl-x64 lightningcss-cli-linux-x64-musl; do
	[ ! -d "$package" ] || continue
	npm pack --silent "$package" > /dev/null
	mkdir "$package.new"
	tar xzf "$package"-*.tgz -C "$package.new" --strip-components=1
	mv "$package.new" "$package"
done
css=lightningcss-cli-linux-x64-musl/lightningcss dart=sass-embedded-linux-musl-x64/dart-sass/src
# There is no libgcc_s for musl; nothing here unwinds.
nm -D --undefined-only "$css" | sed -n 's/.* \(_Unwind_[A-Za-z]*\)\(@.*\)\{0,1\}$/void \1(void) { __builtin_trap(); }/p' > unwind.c
"$prefix/bin/musl-gcc" -w -shared -fPIC -o libgcc_s.so.1 unwind.c

{
	echo "@use 'sass:math'; @use 'sass:list'; @use 'sass:map';"
	# shellcheck disable=SC2016
	echo '$all: (); @for $i from 1 through 600 { $all: map.merge($all, (k#{$i}: $i)); }
		@each $key, $n in $all { .w-#{$key} { width: math.div(100%, $n);
			&:hover { color: rgb($n % 256, $n * 2 % 256, 9); .in & { margin: -$n + px; } } } }'
} > in.scss
# on LIBC NAME: out.NAME and small.NAME
on() {
	"$1" "$dart/dart" "$dart/sass.snapshot" in.scss > "out.$2"
	LD_LIBRARY_PATH=$work/npm "$1" "$css" --minify --targets '>= 0.25%' "out.$2" -o "small.$2"
}
on "$prefix/lib/libc.so" nacre
on "$work/mallocng/lib/libc.so" mallocng
status=0
for job in out small; do
	if [ -s $job.nacre ] && cmp $job.nacre $job.mallocng; then
		echo "ok $job: $(wc -c < $job.nacre) bytes, the same on both"
	else
		echo "not ok $job" && status=1
	fi
done
exit $status
