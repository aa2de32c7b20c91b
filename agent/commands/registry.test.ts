import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext as Run, test } from "node:test";
import { Registry } from "#agent/registry/registry.ts";
import { newRow } from "#agent/registry/row.ts";
import { sendingLogger, silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { exportRows, importRows, readRows, resetFile } from "./registry.ts";

const log = silentLogger();
const none = (): void => undefined;
/** One input reads all files. */
const reader = (): string => "in";

function folderOf(t: Run): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-registry-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function filled(folder: string): Promise<void> {
  const registry = new Registry({ folder, log, metrics: new Metrics(), clock: new TestClock() });
  await registry.start();
  registry.put("1-2-3", newRow("in", "/var/log/a.log", 100, 0));
  registry.put("1-4-5", newRow("in", "/var/log/b.log", 7, 0));
  registry.setPosition("journald/x", "cursor");
  await registry.stop();
}

test("an export is taken over by another agent, and of two places the one further on stays", async (t) => {
  const from = folderOf(t);
  const to = folderOf(t);
  await filled(from);
  await filled(to);
  await resetFile(to, "1-4-5", log);
  const exported = JSON.parse(exportRows(await readRows(from, log, none))) as {
    files: Record<string, { sent: number }>;
  };
  exported.files["1-2-3"]!.sent = 50;
  const path = join(from, "export.json");
  writeFileSync(path, JSON.stringify(exported));
  assert.deepEqual(await importRows(to, path, reader, log), { files: 2, skipped: [] });
  const rows = await readRows(to, log, none);
  assert.deepEqual(
    [...rows.values()].map(({ sent }) => sent),
    [100, 7],
  );
});

test("a file is forgotten by its path or its key, and cursors stay", async (t) => {
  const folder = folderOf(t);
  await filled(folder);
  assert.equal(await resetFile(folder, "/var/log/a.log", log), 1);
  assert.equal(await resetFile(folder, "1-4-5", log), 1);
  assert.equal(await resetFile(folder, "/nowhere", log), 0);
  const registry = new Registry({ folder, log, metrics: new Metrics(), clock: new TestClock() });
  await registry.start();
  assert.deepEqual([[...registry.rows()].length, registry.position("journald/x")], [0, "cursor"]);
  await registry.stop();
});

test("while an agent runs its registry can be looked at but not changed", async (t) => {
  const folder = folderOf(t);
  await filled(folder);
  const registry = new Registry({ folder, log, metrics: new Metrics(), clock: new TestClock() });
  await registry.start();
  t.after(() => registry.stop());
  const rows = await readRows(folder, log, () => assert.fail("the snapshot isn't needed"));
  assert.equal(rows.size, 2);
  await assert.rejects(resetFile(folder, "1-2-3", log), { code: "data_locked" });
});

test("where a running agent's registry can't be copied, its snapshot is shown with a note", async (t) => {
  const folder = folderOf(t);
  await filled(folder);
  const registry = new Registry({ folder, log, metrics: new Metrics(), clock: new TestClock() });
  await registry.start();
  t.after(() => registry.stop());
  rmSync(join(folder, "registry/CURRENT"));
  let told = "";
  const rows = await readRows(folder, log, (path) => (told = path));
  assert.deepEqual([rows.size, told], [2, join(folder, "registry.snapshot.json")]);
});

test("an agent's first start on imported rows isn't a start after a crash", async (t) => {
  const [from, folder] = [folderOf(t), folderOf(t)];
  await filled(from);
  const path = join(from, "export.json");
  writeFileSync(path, exportRows(await readRows(from, log, none)));
  await importRows(folder, path, reader, log);
  const told: string[] = [];
  const noting = sendingLogger("info", (line) => told.push(line));
  const registry = new Registry({ folder, log: noting, metrics: new Metrics(), clock: new TestClock() });
  await registry.start();
  assert.deepEqual(told, []);
  await registry.stop();
});

/** The three layouts of Filebeat's registry, each with a.log read up to byte 4 and b.log up to 2. */
const LAYOUTS: Readonly<Record<string, (folder: string, a: object, b: object) => string>> = {
  "6": (folder, a, b) => {
    writeFileSync(join(folder, "registry"), JSON.stringify([a, b]));
    return join(folder, "registry");
  },
  "7.0": (folder, a, b) => {
    mkdirSync(join(folder, "registry/filebeat"), { recursive: true });
    writeFileSync(join(folder, "registry/filebeat/data.json"), JSON.stringify([a, b]));
    return join(folder, "registry");
  },
  "7.9": (folder, a, b) => {
    const inner = join(folder, "registry/filebeat");
    mkdirSync(inner, { recursive: true });
    const old = { ...a, offset: 1, _key: "k::a" };
    writeFileSync(join(inner, "9.json"), "[]");
    writeFileSync(join(inner, "10.json"), JSON.stringify([old, { ...b, _key: "k::gone" }]));
    const operations = [
      [
        { op: "set", id: 11 },
        { k: "k::a", v: a },
      ],
      [
        { op: "set", id: 12 },
        { k: "k::b", v: b },
      ],
      [{ op: "remove", id: 13 }, { k: "k::gone" }],
    ];
    const lines = operations.flat().map((each) => JSON.stringify(each));
    writeFileSync(join(inner, "log.json"), `${lines.join("\n")}\n{"op":"se`);
    return join(folder, "registry");
  },
};

for (const [version, write] of Object.entries(LAYOUTS)) {
  test(`a registry of Filebeat ${version} is taken over, also of a file renamed since then`, async (t) => {
    const folder = folderOf(t);
    const logs = join(folder, "logs");
    mkdirSync(logs);
    const state = (name: string, offset: number): object => {
      writeFileSync(join(logs, name), "one\ntwo\n");
      const { ino: inode, dev: device } = statSync(join(logs, name));
      return {
        source: join(logs, name),
        offset,
        timestamp: "2026-01-01T00:00:00Z",
        ttl: -1,
        type: "log",
        FileStateOS: { inode, device },
      };
    };
    const a = state("a.log", 4);
    const b = state("b.log", 99);
    const path = write(folder, a, b);
    renameSync(join(logs, "a.log"), join(logs, "a.log.1"));
    const data = join(folder, "data");
    const { files, skipped } = await importRows(data, path, reader, log);
    assert.deepEqual(
      [files, skipped],
      [1, [[join(logs, "b.log"), "it has 8 bytes, fewer than the 99 that were read"]]],
    );
    const [row] = (await readRows(data, log, none)).values();
    assert.deepEqual(
      [row!.path, row!.sent, row!.committed, row!.input, row!.anchor.bytes],
      [join(logs, "a.log.1"), 4, 4, "in", 4],
    );
  });
}

test("a registry of filestream inputs is taken over, and what can't be is named", async (t) => {
  const folder = folderOf(t);
  const inner = join(folder, "registry/filebeat");
  const logs = join(folder, "logs");
  for (const each of [inner, logs]) mkdirSync(each, { recursive: true });
  const place = (name: string): string => {
    writeFileSync(join(logs, name), "one\ntwo\n");
    const { ino, dev } = statSync(join(logs, name));
    return `native::${ino}-${dev}`;
  };
  const entry = (name: string, offset: number | undefined, kind = "native"): object => ({
    ttl: 1_800_000_000_000,
    updated: [608492056, 1795765626],
    cursor: offset === undefined ? null : { offset },
    meta: { source: join(logs, name), identifier_name: kind },
  });
  const rows: [key: string, value: object][] = [
    [`filestream::one::${place("a.log")}`, entry("a.log", undefined)],
    [`filestream::one::${place("a.log")}`, entry("a.log", 4)],
    [`filestream::two::${place("a.log")}`, entry("a.log", 2)],
    [`filestream::one::${place("new.log")}`, entry("new.log", undefined)],
    [`filestream::one::path::${join(logs, "b.log")}`, entry("b.log", 8, "path")],
    ["filestream::one::fingerprint::445aad", entry("c.log", 4, "fingerprint")],
    [`filestream::one::${place("other.txt")}`, entry("other.txt", 4)],
    ["journald::LOCAL_SYSTEM_JOURNAL", { cursor: { version: 1 } }],
  ];
  place("b.log");
  renameSync(join(logs, "a.log"), join(logs, "a.log.1"));
  const operations = rows.flatMap(([k, v], id) => [
    { op: "set", id },
    { k, v },
  ]);
  writeFileSync(join(inner, "log.json"), operations.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const inputOf = (path: string): string | undefined => /([^/]+)\.log$/.exec(path)?.[1];
  const data = join(folder, "data");
  const { files, skipped } = await importRows(data, join(folder, "registry"), inputOf, log);
  assert.equal(files, 3);
  assert.deepEqual(skipped, [
    [
      "filestream::one::fingerprint::445aad",
      "a file that is known by its fingerprint can't be identified uniquely",
    ],
    ["journald::LOCAL_SYSTEM_JOURNAL", "it isn't a place in a file"],
    [join(logs, "other.txt"), "no input of the settings reads it"],
  ]);
  const taken = [...(await readRows(data, log, none)).values()].map(({ path, sent, input }) => [
    path,
    sent,
    input,
  ]);
  taken.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  assert.deepEqual(taken, [
    [join(logs, "a.log.1"), 4, "a"],
    [join(logs, "b.log"), 8, "b"],
    [join(logs, "new.log"), 0, "new"],
  ]);
});

for (const [name, content, code] of [
  ["no JSON", "{", "data_corrupt"],
  ["no list", '{"a":1}', "data_corrupt"],
] as const) {
  test(`an invalid registry is refused: ${name}`, async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "x"), content);
    await assert.rejects(importRows(join(folder, "data"), join(folder, "x"), reader, log), { code });
  });
}
