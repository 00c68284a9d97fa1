# busybox: all of its default configuration but what needs a network or newer headers
limit=600 outcome=outcome_busybox
build() {
	make defconfig
	for name in WGET TC SSL_CLIENT TLS FEATURE_WGET_HTTPS; do
		sed -i "s/^CONFIG_$name=y/# CONFIG_$name is not set/" .config
	done
	yes '' | make oldconfig > /dev/null || true
	make -j"$jobs" CC="$cc" HOSTCC=gcc SKIP_STRIP=y
}
deliver() {
	mkdir -p "$out/usr/bin" "$out/usr/sbin"
	cp busybox "$out/usr/bin"
	HOSTCC=gcc sh applets/busybox.mkll include/autoconf.h include/applets.h > links
	while read -r link; do
		case $link in
		*/sbin/*) ln -sf ../bin/busybox "$out/usr/sbin/${link##*/}" ;;
		*) [ "${link##*/}" = busybox ] || ln -sf busybox "$out/usr/bin/${link##*/}" ;;
		esac
	done < links
}
check() { cd testsuite && ./runtest 2>&1; }
outcome_busybox() {
	sed -n 's/^PASS: /passed /p; s/^FAIL: /failed /p'
}
