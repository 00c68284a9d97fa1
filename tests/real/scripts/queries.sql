-- What pgbench left behind: the sums agree with one another, and with the plain run.
SELECT count(*), sum(abalance) FROM pgbench_accounts;
SELECT sum(bbalance) FROM pgbench_branches;
SELECT sum(tbalance) FROM pgbench_tellers;
SELECT count(*), sum(delta) FROM pgbench_history;

-- Sorts on disk and in memory, hashes, text, JSON, parallel workers, compiled expressions.
SET work_mem = '2MB';
CREATE TABLE t AS SELECT i, i * 4827 % 65537 AS k, md5(i::text) AS m, repeat('x', i % 300) AS r
	FROM generate_series(1, 120000) AS i;
CREATE INDEX ON t (k, m);
ANALYZE t;
SELECT md5(string_agg(m, ',' ORDER BY m DESC)) FROM t;
SELECT count(*), sum(a.k) FROM t a JOIN t b ON a.k = b.k + 1 AND a.i < b.i;
SELECT md5(jsonb_agg(to_jsonb(t) ORDER BY i)::text) FROM t WHERE i < 8000;
SELECT k % 7, count(DISTINCT m), max(length(r)) FROM t GROUP BY 1 ORDER BY 1;
SET jit = on; SET jit_above_cost = 0; SET jit_optimize_above_cost = 0; SET jit_inline_above_cost = 0;
SELECT sum(k * 2 + length(r)), avg(k)::numeric(12, 4) FROM t WHERE i % 3 = 1 AND m > '4';
SET jit = off; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(k) FROM t WHERE regexp_replace(m, '[a-f]+', '', 'g') LIKE '%77%';
DO $$
DECLARE row record; total bigint := 0; words text[] := '{}';
BEGIN
	FOR row IN SELECT * FROM t WHERE i <= 20000 ORDER BY k, i LOOP
		total := total + row.k;
		IF row.i % 50 = 0 THEN words := words || row.m; END IF;
		BEGIN
			IF row.i % 4000 = 0 THEN RAISE EXCEPTION 'caught'; END IF;
		EXCEPTION WHEN raise_exception THEN total := total + 1;
		END;
	END LOOP;
	RAISE NOTICE '% %', total, md5(array_to_string(words, ','));
END $$;
DROP TABLE t;
