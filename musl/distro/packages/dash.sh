# dash: it has no suite in its source; busybox's tests of its ash do for it
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
# one DIR NAME: what the script prints, as there, is what is written beside it
one() (
	cd "$1" && THIS_SH="$tree/src/dash" PATH="$TMPDIR/dash:$PATH" \
		timeout 20 "$tree/src/dash" "./$2.tests" > "$TMPDIR/dash/out" 2>&1
	cmp -s "$TMPDIR/dash/out" "$2.right"
)
check() {
	tests=$TMPDIR/dash/ash_test
	rm -rf "$TMPDIR/dash" && mkdir "$TMPDIR/dash"
	cp -a "$work/src/busybox/shell/ash_test" "$tests"
	for name in recho zecho printenv; do $cc -w -o "$TMPDIR/dash/$name" "$tests/$name.c"; done
	ln -s "$tree/src/dash" "$TMPDIR/dash/ash"
	for file in "$tests"/ash-*/*.tests; do
		name=${file##*/}
		dir=${file%/*}
		try "${dir##*/}/${name%.tests}" one "$dir" "${name%.tests}"
	done
	rm -rf "$TMPDIR/dash"
}
