-- Full text, json, r-tree, errors.
CREATE VIRTUAL TABLE doc USING fts5(title, body);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
INSERT INTO doc SELECT 'title ' || i, 'word' || (i % 97) || ' and word' || (i % 89) || ' with word' || (i * i % 83) FROM c;
SELECT count(*) FROM doc WHERE doc MATCH 'word5 AND word7';
SELECT rowid, highlight(doc, 1, '[', ']') FROM doc WHERE doc MATCH 'word11 word12' ORDER BY rowid LIMIT 10;
INSERT INTO doc(doc) VALUES('optimize');
SELECT count(*) FROM doc WHERE doc MATCH 'word*';
DELETE FROM doc WHERE rowid % 2;
SELECT count(*) FROM doc WHERE doc MATCH 'word5 OR word7';
CREATE VIRTUAL TABLE box USING rtree(id, x0, x1, y0, y1);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
INSERT INTO box SELECT i, i % 100, i % 100 + 3, i / 50, i / 50 + 2 FROM c;
SELECT count(*), sum(id) FROM box WHERE x0 < 20 AND x1 > 10 AND y0 < 40 AND y1 > 20;
CREATE TABLE j(v);
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 2000)
INSERT INTO j SELECT json_object('id', i, 'list', json_array(i, i * 2, 'x' || i), 'sub', json_object('a', i % 10)) FROM c;
SELECT sum(json_extract(v, '$.list[1]')), count(DISTINCT json_extract(v, '$.sub.a')) FROM j;
SELECT length(json_group_array(json_set(v, '$.more', json('[1,2,3]')))) FROM j;
SELECT json_group_object(key, n) FROM (SELECT key, count(*) n FROM j, json_each(v) GROUP BY key ORDER BY key);
SELECT * FROM missing;
INSERT INTO box VALUES(1, 5, 2, 0, 0);
SELECT abs(-9223372036854775808);
SELECT length(replace(hex(zeroblob(100000)), '00', 'abc'));
