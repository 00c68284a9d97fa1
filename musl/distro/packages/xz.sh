# xz: with threads; make check, and files that the machine's own xz unpacks
source=xz-utils limit=420 outcome=outcome_automake
build() {
	./configure --prefix=/usr --disable-nls --disable-doc --enable-static
	make -j"$jobs"
}
deliver() { make install DESTDIR="$out"; }
round() {
	"$tree/src/xz/xz" -c "$@" < "$TMPDIR/plain" > "$TMPDIR/packed" &&
		xz -dc "$TMPDIR/packed" | cmp - "$TMPDIR/plain" &&
		"$tree/src/xz/xz" -dc "$TMPDIR/packed" | cmp - "$TMPDIR/plain"
}
# made NAME COMMAND...: as automake says it
made() {
	what=$1 && shift
	if "$@"; then echo "PASS: $what"; else echo "FAIL: $what"; fi
}
check() {
	make -k check < /dev/null
	tar cf "$TMPDIR/plain" src tests
	for how in -0 -3 -6 -9 -9e -T2 --block-size=300KiB\ -T4 --format=lzma --x86\ --lzma2 --delta\ --lzma2; do
		# shellcheck disable=SC2086
		made "round$(echo "$how" | tr -d ' ')" round $how
	done
}
outcome_automake() { sed -n 's/^PASS: /passed /p; s/^X\{0,1\}FAIL: /failed /p'; }
