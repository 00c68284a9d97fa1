#!/bin/sh
# Boots the small distribution in qemu, without hardware's help: boot.sh [ROOT [WORK]]
#
#   ROOT   its root file system, by build.sh (default: build/distro/root)
#   WORK   where the kernel, the initramfs and the serial log go (default: beside ROOT)
#
# The kernel is Debian's, downloaded and unpacked, not installed. Exit status 0 when every
# program that init starts did right and the machine powered off within five minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "${1:-$here/../../build/distro/root}" && pwd)
work=${2:-$root/../boot}
sh "$here/need.sh" boot || exit 1
mkdir -p "$work"
work=$(cd "$work" && pwd)
log=$work/serial.log

# The newest that can be had: an archive may have lost the one its list names first.
if ! [ -f "$work/vmlinuz" ]; then
	download() (
		package=$(apt-cache depends linux-image-amd64 2> /dev/null |
			sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
		[ -n "$package" ] || return 1
		cd "$work" && rm -f ./*.deb
		apt-get download -q "$package" && return
		for version in $(apt-cache madison "$package" | cut -d'|' -f2); do
			apt-get download -q "$package=$version" && return
		done
		# The package's name has its version: take one that has not gone.
		for package in $(apt-cache search --names-only '^linux-image-[0-9].*-amd64$' |
			cut -d' ' -f1 | grep -v -e cloud -e rt -e unsigned -e dbg | sort -V -r | head -n 6); do
			apt-get download -q "$package" && return
		done
		return 1
	)
	download > "$work/kernel.log" 2>&1 || { apt-get update -q && download; } > "$work/kernel.log" 2>&1 ||
		{ cat "$work/kernel.log" >&2 && echo "no kernel" >&2 && exit 1; }
	dpkg-deb --fsys-tarfile "$work"/linux-image*.deb | tar xf - -C "$work" ./boot
	mv "$work"/boot/vmlinuz-* "$work/vmlinuz"
	rm -rf "$work"/*.deb "${work:?}/boot"
fi

tree=$work/tree
rm -rf "$tree"
cp -a "$root" "$tree"
cp "$here/init" "$tree/init"
chmod 755 "$tree/init"
# The kernel opens it for the first process before anything is mounted.
[ -e "$tree/dev/console" ] || mknod "$tree/dev/console" c 5 1 2> /dev/null || true
(cd "$tree" && find . | cpio -o -H newc -R 0:0 2> /dev/null | gzip -1) > "$work/initramfs.gz"
rm -rf "$tree"

begin=$(date +%s)
status=0
timeout -k 5 300 qemu-system-x86_64 -accel tcg -cpu max -m 512 -smp 2 -nographic -no-reboot \
	-nic none -kernel "$work/vmlinuz" -initrd "$work/initramfs.gz" \
	-append "console=ttyS0 quiet panic=-1 rdinit=/init" < /dev/null > "$log.new" 2>&1 || status=$?
tr -d '\r' < "$log.new" > "$log"
rm -f "$log.new"
grep -a -E '^(ok|not ok|distribution:) ' "$log" || true
echo "booted and off in $(($(date +%s) - begin)) s; log: $log"
[ $status = 0 ] || { tail -n 20 "$log" && echo "qemu ended with $status" && exit 1; }
! grep -a -e 'nacre:' -e 'Kernel panic' -e segfault "$log" || exit 1
grep -a -q '^distribution: [1-9][0-9]* ok, 0 failed$' "$log"
