#!/bin/sh
# Builds a small distribution on musl with nacre inside: build.sh [OPTION]...
#
#   --prefix DIR     musl, by musl/build.sh (default: build/musl, made if it is absent)
#   --only A,B       these packages (default: all of packages/, see list in this file)
#   --no-tests       build and install only
#   --compare        every suite on mallocng too, with a table and peak memory
#   --work DIR       sources, trees, results (default: build/distro)
#   --root DIR       the root file system (default: WORK/root)
#   --again          run suites that have a result
#   -- ARGUMENT...   the prefix is made first, if need be: musl/build.sh ARGUMENT...
#
# Packages are Debian's sources, by apt; each has a recipe in packages/. The trees are
# linked with the interpreter WORK/lib/ld-musl-x86_64.so.1, a link to the libc in test;
# so nacre and mallocng run the very same files. What is installed in the root has
# /lib/ld-musl-x86_64.so.1. Does again only what changed. Exit status 1 when a package
# does not build or a test fails that is not in the file known-failures.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
list="busybox coreutils lua sqlite zlib dash zstd xz redis tcl bash mbedtls curl"
prefix='' only=$list tests=1 compare=0 work='' root='' again=0
while [ $# -gt 0 ]; do
	case $1 in
	--prefix) prefix=$2 && shift ;;
	--only) only=$(echo "$2" | tr , ' ') && shift ;;
	--no-tests) tests=0 ;;
	--compare) compare=1 ;;
	--work) work=$2 && shift ;;
	--root) root=$2 && shift ;;
	--again) again=1 ;;
	--) shift && break ;;
	*) sed -n '2,18s/^# \{0,1\}//p' "$0" && exit 2 ;;
	esac
	shift
done
sh "$here/need.sh" build || exit 1
work=${work:-$top/build/distro}
mkdir -p "$work/src" "$work/bin" "$work/lib" "$work/etc" "$work/results" "$work/tmp"
work=$(cd "$work" && pwd)
root=${root:-$work/root}
export NACRE_APT_STATE="$work/apt" TMPDIR="$work/tmp"
unset CC CFLAGS LDFLAGS MAKEFLAGS CDPATH ENV BASH_ENV LD_PRELOAD
export LC_ALL=C

if [ -z "$prefix" ]; then
	prefix=$top/build/musl
	[ -x "$prefix/bin/musl-gcc" ] || sh "$top/musl/build.sh" "$prefix"
fi
[ $# = 0 ] || sh "$top/musl/build.sh" "$@"
prefix=$(cd "$prefix" && pwd)
[ -x "$prefix/bin/musl-gcc" ] || { echo "$prefix is no prefix of musl" >&2 && exit 2; }
if [ $compare = 1 ]; then
	sh "$top/musl/build.sh" --alloc mallocng --work "$prefix.work" "$work/mallocng"
fi

# on NAME: from now on the trees' programs run on this libc
interpreter=$work/lib/ld-musl-x86_64.so.1
on() {
	libc=$prefix/lib/libc.so
	[ "$1" = nacre ] || libc=$work/$1/lib/libc.so
	ln -sfn "$libc" "$interpreter"
}
on nacre
# Where musl looks for libraries: beside its interpreter's folder. The root is made last,
# and curl's configure runs a program with zlib.
printf '%s\n' "$root/usr/lib" "$work/out/zlib/usr/lib" > "$work/etc/ld-musl-x86_64.path"
specs=$work/lib/musl-gcc.specs
sed "s|-dynamic-linker /[^} ]*|-dynamic-linker $interpreter|" "$prefix/lib/musl-gcc.specs" > "$specs.new"
cmp -s "$specs.new" "$specs" 2> /dev/null || cp "$specs.new" "$specs"
# shellcheck disable=SC2016
printf '#!/bin/sh\nexec %s "$@" -specs %s\n' "${REALGCC:-gcc}" "$specs" > "$work/bin/musl-gcc"
chmod 755 "$work/bin/musl-gcc"
platform=$(gcc --version | head -n 1; cat "$specs"; (cd "$prefix/include" && find . -name '*.h' -exec cksum {} +))

# clean NAME COMMAND...: a suite sees the same environment wherever it runs.
clean() {
	mine=$work/tmp/$1 && shift
	mkdir -p "$mine"
	env -i PATH="$PATH" HOME="$mine" SHELL=/bin/sh USER="$(id -un)" TERM=dumb LC_ALL=C \
		TMPDIR="$mine" "$@"
}

stamp() { cksum | tr ' ' -; }

# recipe NAME: its variables and functions
recipe() {
	source=$1 needs='' limit=120 outcome=outcome_plain
	# shellcheck disable=SC1090
	. "$here/packages/$1.sh"
	tree=$work/tree/$1 out=$work/out/$1
	src=$work/src/$source
}

# Most suites of this folder print "ok NAME" and "not ok NAME".
outcome_plain() {
	awk '/^ok /{print "passed", $2} /^not ok /{print "failed", $3}'
}

# get: Debian's newest, or, where the archive has lost it, the release's own.
get() {
	[ ! -d "$src" ] || return 0
	sh "$top/musl/source.sh" "$source" "$src" > "$work/get.log" 2>&1 && return
	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	sh "$top/musl/source.sh" "$source/$codename" "$src" || { cat "$work/get.log" >&2 && return 1; }
}

# make_package NAME: source, tree, out
make_package() {
	recipe "$1"
	get || return 1
	now=$({ echo "$platform"; sed '/^check() /,$d' "$here/packages/$1.sh"; cat "$src/debian/changelog"
		for need in $needs; do cat "$work/out/$need.built"; done; } | stamp)
	[ "$(cat "$out.built" 2> /dev/null)" != "$now" ] || return 0
	begin=$(date +%s)
	rm -rf "$tree" "$out" "$out.built" "$work/results/$1".*
	mkdir -p "$tree" "$out"
	cp -a "$src/." "$tree"
	# Debian's changes must not make the generated files old.
	find "$tree" -exec touch -h -d @1000000000 {} +
	clean "$1" sh "$here/suite.sh" make "$1" "$tree" "$out" "$work" > "$work/$1.log" 2>&1 < /dev/null || return 1
	echo "$now" > "$out.built"
	echo "built $1 in $(($(date +%s) - begin)) s"
}

# test_package NAME LIBC: results/NAME.LIBC has a line a test, .peak the KiB
test_package() {
	recipe "$1"
	result=$work/results/$1.$2
	now=$({ cat "$out.built" "$interpreter" "$here/packages/$1.sh"; find "$here/tests/$1" -type f -exec cat {} + 2> /dev/null || true; } | stamp)
	[ $again = 1 ] || [ "$(head -n 1 "$result" 2> /dev/null)" != "at $now" ] || return 0
	begin=$(date +%s)
	status=0
	clean "$1" python3 "$here/measure.py" --limit "$limit" --under "$work" --peak "$result.peak" \
		sh "$here/suite.sh" test "$1" "$tree" "$out" "$work" > "$result.log" 2>&1 < /dev/null || status=$?
	{
		echo "at $now"
		$outcome < "$result.log" | sort -u
		[ $status = 0 ] || echo "failed exit-status-$status"
		! grep -q '^nacre:' "$result.log" || echo "failed nacre-report"
	} > "$result.new"
	mv "$result.new" "$result"
	echo "tested $1 on $2 in $(($(date +%s) - begin)) s:" \
		"$(grep -c '^passed' "$result") passed, $(grep -c '^failed' "$result") failed"
}

# test_all LIBC: in two lanes, since most suites use one processor
test_all() {
	for lane in 0 1; do
		turn=0
		for name in $only; do
			[ $turn != $lane ] || test_package "$name" "$1"
			turn=$((1 - turn))
		done &
	done
	wait
}

# install_root: what was built, merged; no headers, archives, pages
install_root() {
	now=$(cat "$prefix/lib/libc.so" "$work"/out/*.built | stamp)
	[ "$(cat "$root.built" 2> /dev/null)" != "$now" ] || return 0
	rm -rf "$root.new"
	for dir in usr/bin usr/sbin usr/lib etc proc sys dev tmp root var run; do
		mkdir -p "$root.new/$dir"
	done
	for dir in bin sbin lib; do ln -s usr/$dir "$root.new/$dir"; done
	chmod 1777 "$root.new/tmp"
	cp "$prefix/lib/libc.so" "$root.new/usr/lib/libc.so"
	ln -s libc.so "$root.new/usr/lib/ld-musl-x86_64.so.1"
	for name in $list; do
		[ -f "$work/out/$name.built" ] || continue
		cp -a --remove-destination "$work/out/$name/." "$root.new"
	done
	(
		cd "$root.new"
		rm -rf usr/include usr/share/man usr/share/doc usr/share/info usr/man usr/lib/pkgconfig
		find . \( -name '*.a' -o -name '*.la' \) -exec rm -f {} +
		# The interpreter's name, in its place, filled up with zeros.
		short=/lib/ld-musl-x86_64.so.1
		fill=$(printf "%$((${#interpreter} - ${#short}))s" | sed 's/ /\\x00/g')
		{ grep -rlF -- "$interpreter" . || true; } | while read -r file; do
			sed -i "s|$interpreter\\x00|$short$fill\\x00|g" "$file"
			strip --strip-unneeded "$file"
		done
	)
	rm -rf "$root"
	mv "$root.new" "$root"
	echo "$now" > "$root.built"
}

failed=0
for name in $only; do
	if ! make_package "$name"; then
		tail -n 20 "$work/$name.log" >&2
		echo "failed: $name does not build, see $work/$name.log"
		failed=$((failed + 1))
		only=$(echo " $only " | sed "s/ $name / /")
		continue
	fi
done
install_root
if [ $tests = 1 ]; then
	test_all nacre
	if [ $compare = 1 ]; then
		on mallocng
		test_all mallocng
		on nacre
	fi
	# shellcheck disable=SC2046,SC2086
	python3 "$here/table.py" --known "$here/known-failures" --results "$work/results" \
		$([ $compare = 0 ] || echo --compare) $only || failed=$((failed + 1))
fi
echo "root file system: $root ($(du -sm "$root" | cut -f1) MB)"
[ $failed = 0 ]
