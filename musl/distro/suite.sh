#!/bin/sh
# Runs a recipe, for build.sh: suite.sh make|test NAME TREE OUT WORK
# shellcheck disable=SC2034
set -e
here=$(cd "$(dirname "$0")" && pwd)
task=$1 name=$2 tree=$3 out=$4 work=$5
cc=$work/bin/musl-gcc jobs=$(nproc)
export CC="$cc"
# shellcheck disable=SC1090
. "$here/packages/$name.sh"

# try NAME COMMAND...: one line a test
try() {
	what=$1 && shift
	if "$@"; then echo "ok $what"; else echo "not ok $what"; fi
}

cd "$tree"
if [ "$task" = make ]; then
	export CFLAGS='-O2 -w' PKG_CONFIG=false
	(build)
	deliver
else
	set +e
	check
fi
