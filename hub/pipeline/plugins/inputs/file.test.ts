import assert from "node:assert/strict";
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { fileKey } from "#hub/pipeline/plugins/inputs/file/tailed-file.ts";
import { InputWorld, plain } from "#test/contract/input-runner.ts";

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "file-input-"));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

const QUICK = "stat_interval => 0.005 discover_interval => 1";

test("a file is followed through renaming and truncation, and read on after a restart", async (t) => {
  const path = join(folder(t), "a.log");
  writeFileSync(path, "one\r\ntw");
  const world = new InputWorld();
  const text = `file { path => "${path}" start_position => beginning ${QUICK} }`;
  const input = world.make(text);
  await input.start();
  await world.until(1);
  appendFileSync(path, "o\n");
  await world.until(2);
  renameSync(path, `${path}.1`);
  appendFileSync(`${path}.1`, "three\n");
  writeFileSync(path, "four\n");
  await world.until(4);
  copyFileSync(path, `${path}.2`);
  truncateSync(path);
  appendFileSync(path, "5\n");
  await world.until(5);
  await input.stop();
  appendFileSync(path, "six\n");
  const next = world.make(text);
  await next.start();
  await world.until(6);
  await next.stop();
  assert.deepEqual(world.sent[0]!.event.fields["log"], { file: { path } });
  assert.deepEqual(
    world.messages.map(String).sort((a, b) => a.localeCompare(b)),
    ["5", "four", "one", "six", "three", "two"],
  );
  assert.deepEqual(
    world.sent.map(({ offset, length, generation }) => [offset, length, generation]).slice(-2),
    [
      [0, 2, 1],
      [2, 4, 1],
    ],
  );
});

test("events have the file's path, and the machine's name, under the names that are asked for", async (t) => {
  const path = join(folder(t), "a.log");
  writeFileSync(path, '{"n":1}\n{"n":2,"path":"own","host":"mine","log":"text"}\n');
  const rows: [ecs: string, first: object, second: object][] = [
    ["v8", { log: { file: { path } } }, { path: "own", host: "mine", log: "text" }],
    ["disabled", { path, host: hostname() }, { path: "own", host: "mine", log: "text" }],
  ];
  for (const [ecs, first, second] of rows) {
    const world = new InputWorld();
    const input = world.make(
      `file { path => "${path}" start_position => beginning codec => json ecs_compatibility => ${ecs} ${QUICK} }`,
    );
    await input.start();
    await world.until(2);
    await input.stop();
    assert.deepEqual(
      world.sent.map(({ event }) => plain(event)),
      [
        { n: 1, ...first },
        { n: 2, ...second },
      ],
    );
  }
});

test("what is there at the first start is passed over, later files are read whole, excluded ones never", async (t) => {
  const at = folder(t);
  writeFileSync(join(at, "old.log"), "old\n");
  const world = new InputWorld();
  const input = world.make(`file { path => "${at}/*.log" exclude => "*x.log" ${QUICK} }`);
  const { promise, resolve } = Promise.withResolvers<void>();
  world.failures.push = () => {
    resolve();
    return 0;
  };
  await input.start();
  await promise;
  assert.equal(world.state.size, 1);
  writeFileSync(join(at, "x.log"), "excluded\n");
  writeFileSync(join(at, "new.log"), "new\n");
  await world.until(1);
  appendFileSync(join(at, "old.log"), "grown\n");
  await world.until(2);
  await input.stop();
  assert.deepEqual(world.messages, ["new", "grown"]);
});

test("mode read takes whole files once, packed ones and last lines without an end too", async (t) => {
  const at = folder(t);
  writeFileSync(join(at, "a.log"), "a1\na2");
  writeFileSync(join(at, "b.log.gz"), gzipSync("b1\nb2\n"));
  const world = new InputWorld();
  const text = `file { path => "${at}/*" mode => read file_sort_by => path ${QUICK} }`;
  const input = world.make(text);
  await input.start();
  await world.until(4);
  await input.stop();
  writeFileSync(join(at, "c.log"), "c\n");
  const again = world.make(text);
  await again.start();
  await world.until(5);
  await again.stop();
  assert.deepEqual(world.messages, ["a1", "a2", "b1", "b2", "c"]);
});

test("lines that a codec holds back are read again after a restart", async (t) => {
  const path = join(folder(t), "a.log");
  writeFileSync(path, "first\n more\nsecond\n held\n");
  const world = new InputWorld();
  const text = `file { path => "${path}" start_position => beginning ${QUICK}
    codec => multiline { pattern => "^ " what => previous auto_flush_interval => 60 } }`;
  const input = world.make(text);
  await input.start();
  await world.until(1);
  await input.stop();
  appendFileSync(path, "third\n");
  const next = world.make(text);
  await next.start();
  await world.until(2);
  await next.stop();
  assert.deepEqual(
    world.sent.map(({ event, offset, length }) => [event.fields["message"], offset, length]),
    [
      ["first\n more", 0, 12],
      ["second\n held", 12, 13],
    ],
  );
});

test("a file that can't be taken up keeps no other from being read, and isn't held open", async (t) => {
  const at = folder(t);
  for (const name of ["a.log", "b.log"]) writeFileSync(join(at, name), `${name}\n`);
  const world = new InputWorld();
  const bad = fileKey(statSync(join(at, "a.log")));
  const get = world.state.get.bind(world.state);
  let isBroken = true;
  world.state.get = (key) => {
    if (key !== bad || !isBroken) return get(key);
    throw new Error("the state can't be read");
  };
  const input = world.make(
    `file { path => "${at}/*.log" start_position => beginning file_sort_by => path ${QUICK} }`,
  );
  await input.start();
  await world.untilFailing(/a\.log: the state can't be read/);
  await world.until(1);
  isBroken = false;
  await world.until(2);
  const held = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  assert.equal(held.filter((path) => path === join(at, "a.log")).length, 1);
  await input.stop();
  assert.deepEqual(world.messages, ["b.log", "a.log"]);
});
