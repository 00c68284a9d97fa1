#!/bin/sh
# Puts nacre into a musl source tree: dropin.sh DIR [-DNAME=VALUE...]
#
#   DIR            a tree of musl 1.2.3 to 1.2.6, or of git; patched at most once
#   -DNAME=VALUE   a knob of src/config.h, e.g. -DNC_CANARY=0 or -DNC_GUARD=0
#
# Then, in DIR:
#
#   ./configure --with-malloc=nacre \
#       --enable-optimize='internal,malloc,string,malloc/nacre/*.c' ...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] && [ -d "$1/src/malloc" ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" && exit 2; }
tree=$1
shift

if ! grep -q __malloc_thread_exit "$tree/src/thread/pthread_create.c"; then
	(cd "$tree" && patch -p1) < "$here/patches/musl-1.2.patch" > /dev/null
fi

out=$tree/src/malloc/nacre
rm -rf "$out"
mkdir -p "$out"
for file in "$here"/../src/*.[ch]; do
	case ${file##*/} in
	# What only a library beside libc has.
	cxx.c | glibc.c | preload.c | names_cxx.h | port_posix.c | stats.[ch]) continue ;;
	esac
	cp "$file" "$out"
done
cp "$here"/nacre/*.[ch] "$out"

# No name of libc's may be one that a program can have.
for file in "$out"/*.[ch]; do
	sed -e '/#include <nacre.h>/d' -e 's/\bnc_/__nc_/g' -e 's/\bnacre_report/__nacre_report/g' \
		-e 's/\bx_nc_/__nc_x_/g' "$file" > "$out/.new"
	mv "$out/.new" "$file"
done

# Nor may libc.so export one: musl's flags leave that to each declaration.
for file in "$out"/*.h; do
	case ${file##*/} in config.h | names.h | port_self.h | port_sys.h) continue ;; esac
	awk '{ line[NR] = $0 }
		/^#define NC_[A-Z_]*_H$/ { from = NR }
		/^#include/ { from = NR }
		/^#endif/ { to = NR }
		END {
			for (i = 1; i <= NR; i++) {
				if (i == to) print "#pragma GCC visibility pop"
				print line[i]
				if (i == from) print "#pragma GCC visibility push(hidden)"
			}
		}' "$file" > "$out/.new"
	mv "$out/.new" "$file"
done

{
	echo "/* Set by dropin.sh; what nacre is inside libc. */"
	echo "#define NDEBUG"
	echo "#define NC_PUBLIC_NAMES"
	echo "#define NC_REALLOC_ZERO_FREES 0"
	echo '#define NC_EXPORT __attribute__((visibility("hidden")))'
	for knob; do
		case $knob in
		-D?*=*) echo "$knob" | sed 's/^-D\([^=]*\)=\(.*\)/#define \1 \2/' ;;
		*) echo "dropin.sh: $knob is not -DNAME=VALUE" >&2 && exit 2 ;;
		esac
	done
	cat "$out/config.h"
} > "$out/.new"
mv "$out/.new" "$out/config.h"
