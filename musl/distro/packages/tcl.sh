# tcl: a shared library and its shell; the whole suite but what waits for a network
source=tcl8.6 limit=420 outcome=outcome_tcl
build() {
	cd unix
	./configure --prefix=/usr --libdir=/usr/lib --enable-threads --disable-rpath --without-tzdata
	make -j"$jobs" binaries libraries tcltest
}
deliver() {
	make -C unix install-binaries install-libraries INSTALL_ROOT="$out" DESTDIR="$out"
	ln -sf tclsh8.6 "$out/usr/bin/tclsh"
	chmod u+w "$out"/usr/lib/*.so
}
check() {
	make -C unix test-tcl TESTFLAGS="-verbose pass -notfile 'http*.test socket.test httpold.test'"
}
outcome_tcl() {
	sed -n 's/^++++ \([^ ]*\) PASSED.*/passed \1/p; s/^==== \([^ ]*\) .*FAILED$/failed \1/p'
}
