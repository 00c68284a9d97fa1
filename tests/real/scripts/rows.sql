-- 300,000 rows that depend on nothing but arithmetic.
PRAGMA journal_mode = WAL;
PRAGMA cache_size = -8000;
CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, town INTEGER, born INTEGER, note TEXT);
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT UNIQUE, x REAL, y REAL);
CREATE TABLE trade (person INTEGER, item TEXT, price INTEGER, day INTEGER);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO town SELECT i, printf('town-%05d', i * 7919 % 100003), i * 0.37, i * 1.11 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 98000)
INSERT INTO person SELECT i, printf('%s-%d', substr('abcdefghijklmnopqrstuvwxyz', i % 20 + 1, 6), i * 31 % 65537),
	i * 48271 % 2000 + 1, 1900 + i * 16807 % 120, substr(hex(i * 2654435761), 1, i % 17) FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO trade SELECT i * 69621 % 98000 + 1, printf('item%d', i * 25173 % 503), i * 13849 % 9973, i % 3650 FROM n;
COMMIT;

CREATE INDEX person_name ON person (name);
CREATE INDEX person_town ON person (town, born);
CREATE INDEX trade_person ON trade (person, day);
CREATE INDEX trade_item ON trade (item, price);
ANALYZE;

SELECT count(*), sum(id), sum(length(note)) FROM person;
SELECT t.name, count(*), sum(r.price) FROM town t JOIN person p ON p.town = t.id
	JOIN trade r ON r.person = p.id GROUP BY t.id ORDER BY 3 DESC, 1 LIMIT 20;
SELECT item, avg(price), group_concat(day) FROM (SELECT * FROM trade WHERE day < 40 ORDER BY rowid)
	GROUP BY item ORDER BY 2 DESC, 1 LIMIT 10;
SELECT born, count(DISTINCT town), max(name), min(note) FROM person GROUP BY born ORDER BY born;
WITH ranked AS (SELECT person, price, row_number() OVER (PARTITION BY item ORDER BY price DESC, rowid) AS place,
	sum(price) OVER (PARTITION BY item) AS total FROM trade)
SELECT place, count(*), sum(total) FROM ranked WHERE place <= 5 GROUP BY place;

BEGIN;
UPDATE person SET note = note || '-' || upper(name) WHERE id % 3 = 0;
DELETE FROM trade WHERE rowid % 5 = 0;
UPDATE trade SET price = price * 2 WHERE item IN (SELECT item FROM trade GROUP BY item HAVING count(*) > 300);
COMMIT;
BEGIN;
DELETE FROM person;
ROLLBACK;

CREATE TABLE docs AS SELECT id, json_object('name', name, 'born', born, 'tags', json_array(town, note)) AS doc FROM person WHERE id <= 20000;
SELECT sum(json_extract(doc, '$.born')), max(json_extract(doc, '$.tags[1]')) FROM docs;
SELECT count(*) FROM person WHERE name LIKE '%gh%' OR note GLOB '*A*F*';
VACUUM;
PRAGMA integrity_check;
PRAGMA foreign_key_check;
SELECT count(*), sum(price), sum(length(item)) FROM trade;
PRAGMA journal_mode = DELETE;
