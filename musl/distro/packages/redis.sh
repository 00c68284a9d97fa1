# redis: with libc's malloc; units of its suite that take seconds each
limit=300 outcome=outcome_redis
build() {
	make -j"$jobs" CC="$cc" MALLOC=libc OPTIMIZATION=-O2 BUILD_TLS=no USE_SYSTEMD=no
}
deliver() {
	mkdir -p "$out/usr/bin"
	cp src/redis-server src/redis-cli src/redis-benchmark "$out/usr/bin"
}
check() {
	set --
	for unit in printver keyspace scan expire quit auth protocol sort bitops geo hyperloglog multi \
		pubsub slowlog scripting functions introspection dump type/incr type/string type/hash \
		type/set type/zset type/list-2 type/list-3 type/stream type/list; do
		set -- "$@" --single "unit/$unit"
	done
	./runtest --clients 2 --tags -slow "$@"
}
# Names with times or addresses in them are cut down.
outcome_redis() {
	sed 's/\x1b\[[0-9;]*m//g' | sed -n 's/ ([0-9]* ms)$//; s/^\[ok\]: /passed /p; s/^\[err\]: \(.*\) in tests.*/failed \1/p; s/^\[exception\].*/failed exception/p'
}
