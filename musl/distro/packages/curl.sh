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
	make -j"$jobs" -C tests/server
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp src/curl "$out/usr/bin"
}
check() {
	cd tests && perl runtests.pl -a -n -p 1 to 120
}
outcome_curl() {
	awk -F '[ .[]+' '/^test [0-9]+\.\.\./ { test = $2 }
		test && / OK \(/ { print "passed", test }
		test && /FAILED/ { print "failed", test }'
}
