# mbedtls: the libraries, static, some of its programs, and its own suites
limit=240 outcome=outcome_mbedtls
build() {
	export WARNING_CFLAGS=
	make -j"$jobs" CC="$cc" CFLAGS='-O1 -w' lib
	make -j"$jobs" -C programs CC="$cc" CFLAGS='-O1 -w' hash/generic_sum pkey/gen_key \
		pkey/pk_sign pkey/pk_verify ssl/ssl_server ssl/ssl_client1 test/selftest
	make -j"$jobs" -C tests CC="$cc" CFLAGS='-O0 -w'
}
deliver() {
	rm -rf "$out/usr/bin"
	mkdir -p "$out/usr/bin" "$out/usr/include" "$out/usr/lib"
	cp programs/hash/generic_sum programs/pkey/gen_key programs/ssl/ssl_server \
		programs/ssl/ssl_client1 "$out/usr/bin"
	cp programs/test/selftest "$out/usr/bin/mbedtls-selftest"
	cp -a include/. "$out/usr/include"
	cp library/*.a "$out/usr/lib"
}
check() {
	./programs/test/selftest
	cd tests && perl scripts/run-test-suites.pl -v
}
outcome_mbedtls() {
	sed -n 's/^ *\(.*[^.]\) \.\.* PASS$/passed \1/p; s/^ *\(.*[^.]\) \.\.* FAILED.*/failed \1/p
		s/^  \(.*\): passed$/passed selftest \1/p; s/^  \(.*\): failed$/failed selftest \1/p'
}
