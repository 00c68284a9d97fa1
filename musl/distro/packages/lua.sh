# lua: Debian's package is without upstream's tests; tests/lua has programs of our own
source=lua5.4 limit=120
build() {
	cd src
	echo '#define DEB_HOST_MULTIARCH "."' > lua5.4-deb-multiarch.h
	for file in *.c; do $cc $CFLAGS -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -c "$file"; done
	rm lua.o luac.o
	$cc $CFLAGS -DLUA_USE_LINUX lua.c l[!u]*.o lundump.o lutf8lib.o -Wl,-E -lm -o lua
	$cc $CFLAGS luac.c l[!u]*.o lundump.o lutf8lib.o -lm -o luac
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp src/lua src/luac "$out/usr/bin"
}
check() {
	for program in "$here"/tests/lua/*.lua; do
		try "${program##*/}" src/lua "$program"
	done
	try luac src/luac -o "$TMPDIR/out.luac" "$here"/tests/lua/strings.lua
	try precompiled src/lua "$TMPDIR/out.luac"
}
