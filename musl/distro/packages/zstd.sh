# zstd: with threads; its fuzzers and its command line's tests, each bounded
source=libzstd limit=300
build() {
	make -j"$jobs" -C programs zstd CC="$cc" HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
	make -j"$jobs" -C tests datagen fuzzer zstreamtest poolTests invalidDictionaries CC="$cc"
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp programs/zstd "$out/usr/bin"
	ln -s zstd "$out/usr/bin/unzstd"
}
# round ARGUMENTS: packs and unpacks the sources
round() {
	../programs/zstd -q -c "$@" < "$TMPDIR/plain" > "$TMPDIR/packed" &&
		../programs/zstd -q -dc "$TMPDIR/packed" | cmp - "$TMPDIR/plain"
}
check() {
	cd tests || exit 1
	try fuzzer ./fuzzer -s4711 -T20s
	for api in '' --newapi; do
		# shellcheck disable=SC2086
		try "zstreamtest$api" ./zstreamtest $api -s4711 -T15s
	done
	try poolTests ./poolTests
	try invalidDictionaries ./invalidDictionaries
	tar cf "$TMPDIR/plain" -C .. lib programs
	for how in -1 -5 -12 -19 --ultra\ -22 --fast=3 --long=27 -T2 -T4\ -9 --adapt --rsyncable\ -T2; do
		# shellcheck disable=SC2086
		try "round$(echo "$how" | tr -d ' ')" round $how
	done
	try benchmark ../programs/zstd -q -b1 -e7 -i1 "$TMPDIR/plain"
	mkdir -p "$TMPDIR/dictionary" && cp ../lib/*/*.c "$TMPDIR/dictionary"
	try train ../programs/zstd -q --train-fastcover=k=200,d=8 "$TMPDIR"/dictionary/*.c -B2000 -o "$TMPDIR/dict" --maxdict=20000
	cd cli-tests 2> /dev/null && try cli-tests python3 ./run.py --zstd=../../programs/zstd \
		--datagen=../datagen --zstdgrep=../../programs/zstdgrep --zstdless=../../programs/zstdless \
		--preserve > "$TMPDIR/cli.log" 2>&1
	tail -n 5 "$TMPDIR/cli.log"
	sed -n 's/^\(.*\): PASS$/ok cli-\1/p; s/^\(.*\): FAIL$/not ok cli-\1/p' "$TMPDIR/cli.log"
	rm -rf "$TMPDIR/dictionary"
}
