#!/bin/sh
# Installs, on Debian 12, what is missing: sh tools/setup.sh build|real|bench|all
#
#   build  what compiling and tools/test.sh need; it is essential
#   real   the programs of tests/real; a test whose program is missing is skipped
#   bench  what bench/run compares with, and its plots; not part of all
#
# As root, or through sudo; otherwise prints the line to run. Says nothing and asks no
# network when all is there. Exit status 1 when something essential stays missing.

build="gcc g++ libc6-dev clang lld llvm libclang-rt-14-dev clang-format
	meson ninja-build pkg-config check valgrind libc6-dbg spin strace python3 git"
real="bash coreutils findutils grep sed mawk diffutils tar gzip
	gcc clang lld git python3 libpython3.11-testsuite
	sqlite3 redis-server redis-tools nginx apache2-utils
	postgresql-15 postgresql-client-15 nodejs perl lua5.4
	xz-utils zstd imagemagick openjdk-17-jdk-headless"
bench="libmimalloc2.0 libjemalloc2 libtcmalloc-minimal4 libtbbmalloc2 libclang-rt-14-dev
	python3-matplotlib lua5.4 z3 sqlite3 redis-server redis-tools nginx apache2-utils"

# missing PACKAGE...: those that are not installed
missing() {
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p')
	for package; do
		echo "$installed" | grep -qx "$package" || echo "$package"
	done
}

# install PACKAGE...: twice, because the machine's lists may be absent or old
install() {
	set -- env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -q --no-install-recommends "$@"
	$as_root "$@" > "$log" 2>&1 && return
	$as_root apt-get update -q > "$log" 2>&1
	$as_root "$@" > "$log" 2>&1
}

# The packages of nginx, redis and postgresql start a service each. The tests start
# their own; so for the time of the installation services are not started, in the way
# that Debian provides for (invoke-rc.d asks this file).
policy=/usr/sbin/policy-rc.d
hold_services() {
	[ -e $policy ] && return
	printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy > /dev/null
	$as_root chmod 755 $policy
	held=yes
}

finish() {
	[ -n "$held" ] && $as_root rm -f $policy
	rm -f "$log"
}

case $1 in
build) wanted=$build ;;
real) wanted=$real ;;
bench) wanted="$build $bench" ;;
all) wanted="$build $real" ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac

# shellcheck disable=SC2086
needed=$(missing $wanted | sort -u | xargs)
[ -z "$needed" ] && exit 0

held='' as_root=''
if [ "$(id -u)" != 0 ]; then
	as_root=sudo
	if ! command -v sudo > /dev/null || { [ ! -t 0 ] && ! sudo -n true 2> /dev/null; }; then
		echo "Missing packages; as root, run:"
		echo "apt-get update && apt-get install -y --no-install-recommends $needed"
		as_root=none
	fi
fi

if [ "$as_root" != none ]; then
	log=$(mktemp) || exit 1
	trap finish EXIT
	trap 'exit 1' INT TERM
	echo "installing:" "$needed" | fold -s -w 78
	hold_services
	# shellcheck disable=SC2086
	if ! install $needed; then
		tail -n 5 "$log"
		# One that cannot be had must not keep back the others.
		for package in $needed; do
			install "$package"
		done
	fi
fi

# shellcheck disable=SC2086
absent=$(missing $wanted | sort -u | xargs)
[ -n "$absent" ] && [ "$as_root" != none ] && echo "could not install: $absent"
[ "$1" = real ] && exit 0
# shellcheck disable=SC2086
[ -z "$(missing $build)" ]
