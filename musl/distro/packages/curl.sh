# curl: over http and https (mbedtls); the first of its tests, on servers on this machine
needs="zlib mbedtls" limit=200 outcome=outcome_curl
build() {
	for need in $needs; do
		CPPFLAGS="${CPPFLAGS-} -I$work/out/$need/usr/include"
		LDFLAGS="${LDFLAGS-} -L$work/out/$need/usr/lib"
	done
	export CPPFLAGS LDFLAGS
	CFLAGS='-O1 -w' ./configure --prefix=/usr --disable-shared --with-mbedtls="$work/out/mbedtls/usr" \
		--with-zlib="$work/out/zlib/usr" --without-libpsl --without-brotli --without-zstd \
		--without-nghttp2 --without-libidn2 --disable-ldap --disable-manual
	make -j"$jobs"
	make -C lib libcurlu.la
	make -j"$jobs" -C tests/server
	make -j"$jobs" -C tests/libtest
	make -j"$jobs" -C tests/unit
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp src/curl "$out/usr/bin"
}
check() {
	cd tests && perl runtests.pl -a -n -p 1 to 120
}
outcome_curl() {
	sed -n 's/^test \([0-9]*\)\.\.\.\(.*\)$/\1 \2/p' | sed -n 's/^\([0-9]*\) .*OK .*/passed \1/p; s/^\([0-9]*\) .*FAILED.*/failed \1/p'
}
