#!/bin/sh
# Installs, on Debian, what the small distribution needs: need.sh build|boot
# As root; otherwise says what to install. Asks no network when all is there.
build="gcc make patch dpkg-dev xz-utils python3 tcl file perl sqlite3"
boot="qemu-system-x86 cpio gzip"
case ${1-} in
build) wanted=$build ;;
boot) wanted=$boot ;;
*) sed -n '2,3s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
# missing: those of $wanted that are not installed
missing() {
	for package in $wanted; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null |
			grep -qx installed || echo "$package"
	done | xargs
}
needed=$(missing)
[ -n "$needed" ] || exit 0
if [ "$(id -u)" = 0 ]; then
	export DEBIAN_FRONTEND=noninteractive
	echo "installing: $needed"
	# shellcheck disable=SC2086
	apt-get install -y -q --no-install-recommends $needed > /dev/null 2>&1 ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends $needed; } > /dev/null 2>&1
	needed=$(missing)
	[ -n "$needed" ] || exit 0
fi
echo "missing packages; as root: apt-get install $needed" >&2
exit 1
