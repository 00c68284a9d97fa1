# dash: it has no suite in its source; busybox's scripts for its ash, with
# the machine's own dash as the judge
needs=busybox limit=200
build() {
	./configure --prefix=/usr --without-libedit
	# Debian adds a file to Makefile.am; this is without automake.
	$cc $CFLAGS -include config.h -DSHELL -Isrc -c src/priv.c -o src/priv.o
	make -j"$jobs" LIBS=priv.o
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp src/dash "$out/usr/bin"
	ln -s dash "$out/usr/bin/sh"
}
check() {
	tests=$TMPDIR/dash/ash_test
	rm -rf "$TMPDIR/dash" && mkdir "$TMPDIR/dash"
	cp -a "$work/src/busybox/shell/ash_test" "$tests"
	for name in recho zecho printenv; do $cc -w -o "$TMPDIR/dash/$name" "$tests/$name.c"; done
	for file in "$tests"/ash-[a-y]*/*.tests; do
		# Those that wait or race with themselves are left out.
		! grep -q -e sleep -e kill -e '^trap' "$file" || continue
		name=${file##*/}
		dir=${file%/*}
		try "${dir##*/}/${name%.tests}" one "$dir" "${name%.tests}"
	done
	rm -rf "$TMPDIR/dash"
}
# under DASH DIR NAME: what the script prints with that dash
under() (
	cd "$2" && ln -sfn "$1" "$TMPDIR/dash/ash" && THIS_SH="$TMPDIR/dash/ash" \
		PATH="$TMPDIR/dash:$PATH" timeout 5 "$TMPDIR/dash/ash" "./$3.tests" 2>&1
	echo "status $?"
)
# one DIR NAME: as the machine's own dash
one() {
	under "$tree/src/dash" "$1" "$2" > "$TMPDIR/dash/ours"
	under /bin/dash "$1" "$2" > "$TMPDIR/dash/theirs"
	cmp "$TMPDIR/dash/ours" "$TMPDIR/dash/theirs"
}
