# sqlite: the shell, and those of its test programs that need no tcl
source=sqlite3 limit=240
options="-DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_MATH_FUNCTIONS
	-DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_THREADSAFE=1"
build() {
	./configure --disable-tcl --disable-readline --disable-shared BUILD_CC=gcc
	# Its makefile writes its sources by programs of the build machine.
	make sqlite3.c shell.c BCC=gcc
	# shellcheck disable=SC2086
	$cc -O1 -w $options -c sqlite3.c &
	make fuzzcheck CFLAGS='-O1 -w'
	wait $!
	# shellcheck disable=SC2086
	$cc -O1 -w $options -DHAVE_READLINE=0 shell.c sqlite3.o -o sqlite3 -lm
	$cc -O2 -w -I. test/speedtest1.c sqlite3.o -o speedtest1 -lm
	sed -i 's/\([126]\)0000 }/\1500 }/' test/threadtest3.c # from 10 to 60 s each
	$cc -O1 -w -I. -Isrc test/threadtest3.c src/test_multiplex.c sqlite3.o -o threadtest3 -lm
}
deliver() {
	mkdir -p "$out/usr/bin" "$out/usr/lib/tests"
	cp sqlite3 "$out/usr/bin"
	cp speedtest1 "$out/usr/lib/tests"
}
# same SCRIPT: what it prints is what the machine's own sqlite3 prints
same() {
	./sqlite3 -batch :memory: < "$1" > "$TMPDIR/ours" 2>&1
	/usr/bin/sqlite3 -batch :memory: < "$1" > "$TMPDIR/theirs" 2>&1
	cmp "$TMPDIR/ours" "$TMPDIR/theirs"
}
check() {
	for script in "$here"/tests/sqlite/*.sql; do
		try "${script##*/}" same "$script"
	done
	rm -f "$TMPDIR"/speed.db
	try speedtest1 ./speedtest1 --size 40 "$TMPDIR/speed.db"
	try speedtest1-memory ./speedtest1 --size 40 --memdb
	try speedtest1-threads ./speedtest1 --size 10 --multithread --memdb
	for name in walthread1 walthread2 walthread3 walthread4 walthread5 cgt_pager_1 \
		dynamic_triggers create_drop_index_1 lookaside1 \
		vacuum1 stress1 stress2 shared1; do
		(cd "$TMPDIR" && timeout 40 "$tree/threadtest3" $name) > "$TMPDIR/thread.log" 2>&1
		status=$?
		tail -n 2 "$TMPDIR/thread.log"
		try threadtest3-$name test $status = 0
	done
	for number in 1 4 6; do
		try fuzzdata$number ./fuzzcheck --quiet test/fuzzdata$number.db
	done
	rm -f "$TMPDIR"/speed.db* "$TMPDIR"/test.db*
}
