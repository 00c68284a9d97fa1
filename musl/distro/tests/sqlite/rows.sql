-- Rows of every kind: joins, windows, recursion, triggers, savepoints, blobs.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, data BLOB);
CREATE INDEX item_name ON item(name);
CREATE TABLE sale(item INTEGER REFERENCES item, day TEXT, n INTEGER);
CREATE TABLE audit(what TEXT);
CREATE TRIGGER sold AFTER INSERT ON sale WHEN new.n > 95 BEGIN
  INSERT INTO audit VALUES('item ' || new.item || ' x ' || new.n);
END;
BEGIN;
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
INSERT INTO item SELECT i, printf('name %d of %x', i * 7919 % 20011, i), i / 7.0, zeroblob(i % 300) FROM c;
WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < 50000)
INSERT INTO sale SELECT i * 31 % 20000 + 1, date('2020-01-01', (i % 400) || ' days'), i * 17 % 101 FROM c;
COMMIT;
SELECT count(*), sum(length(data)), round(sum(price), 3) FROM item;
SELECT count(*), min(what), max(what) FROM audit;
SELECT substr(day, 1, 7) AS month, count(*), sum(n * price > 1000) FROM sale JOIN item ON item = id
  GROUP BY month ORDER BY month;
SELECT name, n, sum(n) OVER (PARTITION BY item ORDER BY day, n ROWS 3 PRECEDING) FROM sale
  JOIN item ON item = id WHERE item < 40 ORDER BY item, day, n LIMIT 60;
SELECT group_concat(name, '|') FROM (SELECT name FROM item ORDER BY name LIMIT 50);
SAVEPOINT a;
DELETE FROM item WHERE id % 3 = 0;
SELECT count(*) FROM item;
UPDATE item SET name = name || ' again', data = NULL WHERE id % 5 = 0;
ROLLBACK TO a;
SELECT count(*), max(length(name)) FROM item;
RELEASE a;
SELECT hex(substr(quote(data), 1, 20)) FROM item WHERE id = 299;
ALTER TABLE item ADD COLUMN more DEFAULT 7;
VACUUM;
PRAGMA integrity_check;
SELECT sum(more) FROM item;
WITH RECURSIVE q(n, board) AS (VALUES(0, '') UNION ALL
  SELECT n + 1, board || c FROM q, (SELECT value AS c FROM json_each('["1","2","3","4","5","6","7"]'))
  WHERE n < 7 AND instr(board, c) = 0 AND NOT EXISTS (
    SELECT 1 FROM json_each('[1,2,3,4,5,6,7]') WHERE value <= n AND
      abs(substr(board, value, 1) - c) = n + 1 - value))
SELECT count(*), min(board) FROM q WHERE n = 7;
