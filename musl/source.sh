#!/bin/sh
# Brings a Debian source package, unpacked, to a folder: source.sh PACKAGE FOLDER
#
# By apt, from the machine's own sources with the source form turned on in a private
# list: the machine's lists stay as they are, and no right is needed but to read them.
# FOLDER becomes the package's tree (with Debian's changes), if it is not there yet.
set -eu
package=$1 folder=$2
[ -d "$folder" ] && exit 0

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(dirname "$folder")/.source.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
state=${NACRE_APT_STATE:-$(dirname "$folder")/.apt}
mkdir -p "$state/parts" "$state/lists/partial" "$state/cache/archives/partial"

for list in /etc/apt/sources.list.d/*.sources; do
	[ -f "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" \
		> "$state/parts/$(basename "$list")"
done
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -f "$list" ] && sed -n 's/^deb\(-src\)\{0,1\} /deb-src /p' "$list" | sort -u \
		> "$state/parts/$(basename "$list" .list).list"
done
cat > "$state/apt.conf" << EOF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$state/parts";
Dir::State::Lists "$state/lists";
Dir::Cache "$state/cache";
EOF
export APT_CONFIG="$state/apt.conf"

# get: the newest of the package, unpacked in $work.
get() {
	(cd "$work" && apt-get source -q -q --only-source "$package") > "$work/log" 2>&1
}
if ! get; then
	apt-get update -q -q > "$work/log" 2>&1 || true
	get || { cat "$work/log" >&2 && exit 1; }
fi
for tree in "$work"/*/; do
	mv "$tree" "$folder" && exit 0
done
echo "apt-get source $package unpacked nothing" >&2
exit 1
