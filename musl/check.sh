#!/bin/sh
# Builds libcheck for a prefix of musl, for the unit tests inside: check.sh PREFIX
#
# From Debian's source package, by apt; static, without the parts that need other
# libraries. Does nothing when it is there and newer than the prefix's libc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# = 1 ] && [ -x "$1/bin/musl-gcc" ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 2; }
prefix=$(cd "$1" && pwd)
work=$prefix.work/check
[ ! "$prefix/lib/libcheck.a" -nt "$prefix/lib/libc.a" ] || exit 0
mkdir -p "$work"
sh "$here/source.sh" check "$work/source"
rm -rf "$work/tree"
cp -a "$work/source" "$work/tree"
# Debian's changes must not make the generated files old.
find "$work/tree" -exec touch -h -d @1000000000 {} +
cd "$work/tree"
{
	./configure --prefix="$prefix" --disable-shared --disable-subunit --disable-build-docs \
		--disable-dependency-tracking CC="$prefix/bin/musl-gcc" CFLAGS='-O2 -w'
	make -j"$(nproc)" -C lib
	make -j"$(nproc)" -C src install
	cp check_stdint.h "$prefix/include"
	sed -i 's/-lcheck_pic/-lcheck/' check.pc # the name in Debian's packages
	make install-pcdataDATA
} > "$work/log.txt" 2>&1 || { tail -n 30 "$work/log.txt" >&2 && exit 1; }
touch "$prefix/lib/libcheck.a"
