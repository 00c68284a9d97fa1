# bash: its own malloc left out; each of its tests that says nothing has passed
limit=600
build() {
	./configure --prefix=/usr --without-bash-malloc --disable-nls CC_FOR_BUILD=gcc
	make -j"$jobs"
	make recho zecho printenv xcase
	cp recho zecho printenv xcase tests
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp bash "$out/usr/bin"
}
check() {
	cd tests || exit 1
	export THIS_SH="$tree/bash" BASH_TSTOUT="$TMPDIR/bash-test" PATH=".:$PATH"
	for file in run-*; do
		case $file in run-all | run-minimal | run-gprof) continue ;; esac
		try "${file#run-}" timeout 60 sh "./$file"
	done
}
