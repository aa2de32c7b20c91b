import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { bindStatement, readConnectionString } from "#hub/pipeline/plugins/inputs/jdbc/database.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";

/** Runs an input until this many events are in the log in all. */
async function runUntil(world: InputWorld, text: string, count: number): Promise<void> {
  const input = world.make(text);
  await input.start();
  await world.until(count);
  await input.stop();
}

function database(t: TestContext): { file: DatabaseSync; path: string } {
  const folder = mkdtempSync(join(tmpdir(), "jdbc-"));
  const path = join(folder, "a.db");
  const file = new DatabaseSync(path);
  t.after(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });
  return { file, path };
}

test("rows of an SQLite file become events, and the next run begins behind the last", async (t) => {
  const { file, path } = database(t);
  file.exec("CREATE TABLE t (ID INTEGER PRIMARY KEY, Big INTEGER, body BLOB, note TEXT, kind TEXT)");
  const insert = file.prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?)");
  insert.run(1, 9_007_199_254_740_993n, Buffer.from("ab"), "it's :kind", "a");
  insert.run(2, 5, null, null, "a");
  insert.run(3, 5, null, null, "b");
  const text = `jdbc { jdbc_connection_string => "jdbc:sqlite:${path}" parameters => { "kind" => "a" }
    statement => "SELECT *, ':kind' AS literal FROM t WHERE id > :sql_last_value AND kind = :kind ORDER BY id;"
    use_column_value => true tracking_column => "id" schedule => { in => "1ms" } }`;
  const world = new InputWorld();
  await runUntil(world, text, 2);
  assert.deepEqual(
    world.sent.map(({ event }) => plain(event)),
    [
      { id: 1, big: "9007199254740993", body: "YWI=", note: "it's :kind", kind: "a", literal: ":kind" },
      { id: 2, big: 5, body: null, note: null, kind: "a", literal: ":kind" },
    ],
  );
  assert.deepEqual(world.state.get("sql_last_value"), { of: "numeric id", value: "2" });
  insert.run(4, 5, null, null, "a");
  await runUntil(world, text, 3);
  assert.equal(world.sent[2]!.event.fields["id"], 4);
  // Remembered for another column: it says nothing about this one.
  await runUntil(world, text.replace('"id"', '"big"').replace("id > :", "big > :"), 6);
});

test("decimals of a column stay decimals without a fraction, and may be what the next run begins behind", async (t) => {
  const { file, path } = database(t);
  file.exec("CREATE TABLE t (price REAL, n INTEGER); INSERT INTO t VALUES (5.0, 5), (5.5, 5), (7.0, 5)");
  const text = `jdbc { jdbc_connection_string => "jdbc:sqlite:${path}" use_column_value => true tracking_column => "price"
    statement => "SELECT * FROM t WHERE price > :sql_last_value ORDER BY price" }`;
  const world = new InputWorld();
  await runUntil(world, text, 3);
  const { price, n } = world.sent[0]!.event.fields;
  assert.equal(JSON.stringify([price, n]), "[5.0,5]");
  file.exec("INSERT INTO t VALUES (8.0, 5)");
  await runUntil(world, text, 4);
  assert.equal(JSON.stringify(world.sent[3]!.event.fields["price"]), "8.0");
});

test("rows of a run that ended before its last value was stored come again, and none is passed over", async (t) => {
  const { file, path } = database(t);
  file.exec("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)");
  const text = `jdbc { jdbc_connection_string => "jdbc:sqlite:${path}" jdbc_fetch_size => 2
    statement => "SELECT id FROM t WHERE id > :sql_last_value ORDER BY id"
    use_column_value => true tracking_column => "id" schedule => { in => "1ms" } }`;
  const world = new InputWorld();
  const ids = (): unknown[] => world.sent.splice(0).map(({ event }) => event.fields["id"]);
  await runUntil(world, text, 3);
  assert.deepEqual(ids(), [1, 2, 3]);
  // What a kill leaves: the rows are in the log, the value isn't stored.
  world.state.clear();
  await runUntil(world, text, 3);
  assert.deepEqual(ids(), [1, 2, 3]);
  file.exec("INSERT INTO t VALUES (4)");
  await runUntil(world, text, 1);
  assert.deepEqual(ids(), [4]);
});

test("a statement that fails is told, and nothing is remembered", async (t) => {
  const { file, path } = database(t);
  file.exec("CREATE TABLE t (id INTEGER)");
  const world = new InputWorld();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.failures.push = (...messages) => {
    resolve();
    return Array.prototype.push.apply(world.failures, messages);
  };
  const input = world.make(
    `jdbc { jdbc_connection_string => "jdbc:sqlite:${path}" statement => "SELECT id FROM absent" }`,
  );
  await input.start();
  await promise;
  await input.stop();
  assert.match(world.failures[0] ?? "", /no such table: absent/);
  assert.equal(world.state.size, 0);
});

test("explicit pages ask for :size rows from :offset until one is short", async (t) => {
  const { file, path } = database(t);
  file.exec(
    "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1205) SELECT i FROM n",
  );
  const world = new InputWorld();
  const paging = "jdbc_paging_enabled => true jdbc_paging_mode => explicit jdbc_page_size => 500";
  const whole = `jdbc { jdbc_connection_string => "jdbc:sqlite:${path}" target => "[row]"`;
  await runUntil(
    world,
    `${whole} ${paging} statement => "SELECT i FROM t ORDER BY i LIMIT :size OFFSET :offset" }`,
    1205,
  );
  await runUntil(world, `${whole} statement => "SELECT i FROM t ORDER BY i" }`, 2410);
  const numbers = world.sent.map(({ event }) => (event.fields["row"] as { i: number }).i);
  const once = Array.from({ length: 1205 }, (_, place) => place + 1);
  assert.deepEqual(numbers, [...once, ...once]);
});

test("connection strings of existing configurations are read", () => {
  const off = { user: undefined, password: undefined, tls: "off" };
  for (const [text, expected] of [
    ["jdbc:postgresql://h/d", { ...off, kind: "postgresql", host: "h", port: 5432, name: "d" }],
    [
      "jdbc:mysql://h:99/d%20e?user=u&password=p&useSSL=true",
      { kind: "mysql", host: "h", port: 99, name: "d e", user: "u", password: "p", tls: "on" },
    ],
    [
      "jdbc:mariadb://[::1]/d?sslMode=verify-full",
      { ...off, kind: "mysql", host: "::1", port: 3306, name: "d", tls: "verify" },
    ],
    ["jdbc:sqlite:/a/b.db", { ...off, kind: "sqlite", host: "", port: 0, name: "/a/b.db" }],
  ] as const)
    assert.deepEqual(readConnectionString(text), expected);
  assert.throws(
    () => readConnectionString("jdbc:oracle:thin:@h"),
    /names no database that can be read; write/,
  );
});

test("a colon names a place only where the statement is neither text, comment nor cast", () => {
  const named = new Map([["a", 1]]);
  const place = (number: number): string => `$${number}`;
  for (const [text, bound, values] of [
    ["x = :a AND y = :a", "x = $1 AND y = $2", [1, 1]],
    ["':a' \":a\" `:a` x::a :b", "':a' \":a\" `:a` x::a :b", []],
    ["-- :a\n/* :a */ $$ :a $$ $t$ :a $t$ :a;", "-- :a\n/* :a */ $$ :a $$ $t$ :a $t$ $1", [1]],
    ["x = ? AND j ? 'k'", "x = $1 AND j ? 'k'", ["p"]],
  ] as const)
    assert.deepEqual(bindStatement(text, named, values.includes("p" as never) ? ["p"] : [], place), {
      text: bound,
      values,
    });
});
