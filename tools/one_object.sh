#!/bin/sh
# One relocatable object from an archive: only exported names stay global.
# Usage: one_object.sh CC... -- ARCHIVE OUTPUT
set -eu
cc=
while [ "$1" != -- ]; do
	cc="$cc $1"
	shift
done
archive=$2
out=$3
$cc -nostdlib -r -Wl,--whole-archive "$archive" -o "$out"
objcopy --localize-hidden "$out"
