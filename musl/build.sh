#!/bin/sh
# Builds musl and installs it as a prefix: build.sh [OPTION]... PREFIX
#
#   --alloc NAME   nacre (the default), mallocng or oldmalloc
#   --src DIR      a tree of musl (1.2.3 to git); without it Debian's, by apt
#   --work DIR     where trees and objects are kept (default: PREFIX.work)
#   --cc CC        the compiler (default: cc)
#   -DNAME=VALUE   a knob of nacre's, see dropin.sh
#
# PREFIX gets lib/libc.so, lib/libc.a, headers (the kernel's too) and bin/musl-gcc,
# which also takes -static and -static-pie, and meson.ini, a native file for meson. Does
# nothing when nothing changed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
alloc=nacre src= work= cc=cc knobs=
while [ $# -gt 1 ]; do
	case $1 in
	--alloc) alloc=$2 && shift ;;
	--src) src=$2 && shift ;;
	--work) work=$2 && shift ;;
	--cc) cc=$2 && shift ;;
	-D*) knobs="$knobs $1" ;;
	*) break ;;
	esac
	shift
done
[ $# = 1 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
work=${work:-$prefix.work}
mkdir -p "$work"
work=$(cd "$work" && pwd)
log=$work/log.txt

if [ -z "$src" ]; then
	src=$work/musl
	sh "$here/source.sh" musl "$src"
fi
[ -f "$src/VERSION" ] || { echo "$src is no tree of musl" && exit 1; }
src=$(cd "$src" && pwd)

# What the result depends on; git trees by what their files hold.
stamp() {
	echo "$alloc $src $cc $knobs $prefix"
	$cc --version
	(cd "$src" && find . -type f -not -path './.git/*' -exec cksum {} + | sort -k3 | cksum)
	[ "$alloc" != nacre ] || cat "$here"/../src/*.[ch] "$here"/nacre/*.[ch] "$here"/patches/* \
		"$here"/*.sh
}
now=$(stamp | cksum)
[ "$(cat "$prefix/.built" 2> /dev/null)" != "$now" ] || exit 0

# run COMMAND...: says nothing unless it fails
run() {
	"$@" > "$log" 2>&1 || { tail -n 30 "$log" >&2 && echo "failed: $*" >&2 && exit 1; }
}

echo "building musl $(cat "$src/VERSION") with $alloc"
tree=$work/tree-$alloc
rm -rf "$tree" "$prefix/.built"
mkdir "$tree"
(cd "$src" && tar cf - --exclude=./.git --exclude=./obj --exclude=./lib/*.so .) | tar xf - -C "$tree"
optimize=internal,malloc,string
if [ "$alloc" = nacre ]; then
	# shellcheck disable=SC2086
	run sh "$here/dropin.sh" "$tree" $knobs
	optimize="$optimize,malloc/nacre/*.c"
fi
cd "$tree"
CC=$cc run ./configure --prefix="$prefix" --syslibdir="$prefix/lib" --with-malloc="$alloc" \
	--enable-wrapper=gcc --enable-optimize="$optimize"
run make -s -j"$(nproc)"
run make -s install

# The kernel's headers, which musl does not bring.
multiarch=$($cc -print-multiarch 2> /dev/null || true)
for name in linux asm asm-generic mtd; do
	for where in "/usr/include/$multiarch" /usr/include; do
		[ ! -d "$where/$name" ] || { ln -sfn "$where/$name" "$prefix/include/$name" && break; }
	done
done

# musl's wrapper makes a dynamic program of -static-pie without a word.
specs=$prefix/lib/musl-gcc.specs
sed -e "s|%{!shared: $prefix/lib/Scrt1.o}|%{static-pie:$prefix/lib/rcrt1.o;shared:;:$prefix/lib/Scrt1.o}|" \
	-e 's|^-dynamic-linker \(.*\) -nostdlib|%{static-pie:-static -pie --no-dynamic-linker -z text;:-dynamic-linker \1} -nostdlib|' \
	"$specs" > "$specs.new"
mv "$specs.new" "$specs"
# For meson setup --native-file. There is no C++ library.
cat > "$prefix/meson.ini" << EOF
[binaries]
c = '$prefix/bin/musl-gcc'
cpp = 'false'
[properties]
pkg_config_libdir = ['$prefix/lib/pkgconfig']
EOF
echo "$now" > "$prefix/.built"
