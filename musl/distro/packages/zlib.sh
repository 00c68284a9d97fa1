# zlib: shared and static; `make test` runs the example programs, ours minigzip on real files
limit=120
build() {
	./configure --prefix=/usr
	make -j"$jobs"
}
deliver() {
	make install DESTDIR="$out"
	mkdir -p "$out/usr/lib/tests"
	cp minigzipsh "$out/usr/lib/tests/minigzip"
}
# round LEVEL: what our minigzip packs the machine's gzip unpacks, and the other way
round() {
	./minigzip "-$1" < "$TMPDIR/plain" > "$TMPDIR/packed" &&
		gzip -dc "$TMPDIR/packed" | cmp - "$TMPDIR/plain" &&
		gzip "-$1" < "$TMPDIR/plain" | ./minigzip -d | cmp - "$TMPDIR/plain"
}
check() {
	make test > "$TMPDIR/test.log" 2>&1
	status=$?
	cat "$TMPDIR/test.log"
	try make-test test $status = 0
	try no-failure sh -c "! grep -i FAIL '$TMPDIR/test.log'"
	for kind in '' shared- 64-bit-; do
		try "zlib-${kind}test" grep -q "zlib $(echo $kind | sed 's|-$| |')test OK" "$TMPDIR/test.log"
	done
	$cc -O1 -w -I. -DMAXSEG_64K test/infcover.c libz.a -o infcover && try infcover ./infcover
	cat ./*.c ./*.o contrib/*/*.c > "$TMPDIR/plain"
	for level in 1 2 3 4 5 6 7 8 9; do
		try "gzip-$level" round $level
	done
}
