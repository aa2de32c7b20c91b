import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { Registry } from "./registry.ts";
import { newRow } from "./row.ts";

const FILES = 500;
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-registry-"));
  folders.push(folder);
  return folder;
}

async function open(folder: string): Promise<Registry> {
  const registry = new Registry({ folder, log: silentLogger(), metrics: new Metrics(), clock: systemClock });
  await registry.start();
  return registry;
}

/** Fills a registry, ends it in order, and returns the agent's id. */
async function fill(folder: string): Promise<string> {
  const registry = await open(folder);
  for (let file = 0; file < FILES; file++)
    registry.put(`1-${file}-a`, { ...newRow("log", `/l/${file}`, file, 0), sent: file + 1 });
  registry.setStream({ incarnation: 3, sequence: 77, messageId: "a/1/9" });
  registry.setPosition("journald", "cursor");
  await registry.stop();
  return registry.agentId;
}

function sents(registry: Registry): number[] {
  return [...registry.rows()].map(([, { sent }]) => sent).sort((a, b) => a - b);
}

const EVERYTHING = Array.from({ length: FILES }, (_, file) => file + 1);

test("rows, the place in the log and the agent's id outlive a restart, and the epoch grows", async () => {
  const folder = temporary();
  const agentId = await fill(folder);
  const registry = await open(folder);
  assert.deepEqual(sents(registry), EVERYTHING);
  assert.deepEqual(registry.stream, { incarnation: 3, sequence: 77, messageId: "a/1/9" });
  assert.deepEqual([registry.agentId, registry.epoch, registry.firstRun], [agentId, 2, false]);
  registry.delete("1-0-a");
  await registry.stop();
  const again = await open(folder);
  assert.deepEqual([again.get("1-0-a"), again.epoch], [undefined, 3]);
  await again.stop();
});

const remove = (path: string): void => rmSync(path, { recursive: true });
const spoil = (path: string): void => writeFileSync(path, "garbage");

for (const [damage, files, apply] of [
  ["CURRENT is missing", /^CURRENT$/, remove],
  ["CURRENT is empty", /^CURRENT$/, truncateSync],
  ["the MANIFEST is garbage", /^MANIFEST/, spoil],
  ["the MANIFEST is missing", /^MANIFEST/, remove],
  ["the data files are missing", /\.(ldb|log)$/, remove],
  ["the data files are garbage", /\.(ldb|log)$/, spoil],
  ["everything in the database is missing", /./, remove],
] as const) {
  test(`where ${damage}, no row is lost and no epoch used again`, async () => {
    const folder = temporary();
    const agentId = await fill(folder);
    for (const name of readdirSync(join(folder, "registry"))) {
      if (files.test(name)) apply(join(folder, "registry", name));
    }
    const registry = await open(folder);
    assert.deepEqual([sents(registry), registry.position("journald")], [EVERYTHING, "cursor"]);
    assert.equal(registry.agentId, agentId);
    assert.ok(registry.epoch > 1);
    await registry.stop();
  });
}

for (const share of [0.1, 0.5, 0.9])
  test(`where a bit of a table has flipped at ${share * 100} %, no row is lost`, async () => {
    const folder = temporary();
    const agentId = await fill(folder);
    await (await open(folder)).stop(); // writes the log's content as a table
    const tables = readdirSync(join(folder, "registry")).filter((name) => name.endsWith(".ldb"));
    assert.ok(tables.length > 0);
    for (const name of tables) {
      const path = join(folder, "registry", name);
      const bytes = readFileSync(path);
      bytes[Math.floor(bytes.length * share)]! ^= 4;
      writeFileSync(path, bytes);
    }
    const registry = await open(folder);
    assert.deepEqual([sents(registry), registry.agentId], [EVERYTHING, agentId]);
    await registry.stop();
    assert.ok(readdirSync(folder).some((name) => name.startsWith("registry.bad-")));
  });

test("LevelDB opens no damaged tables, which it might merge, and end the process over their order", async () => {
  const folder = temporary();
  for (let round = 0; round < 4; round++) await fill(folder);
  const database = join(folder, "registry");
  const found = readdirSync(database).filter((name) => /\.(ldb|log)$/.test(name));
  for (const name of found.filter((each) => each.endsWith(".ldb"))) {
    const bytes = readFileSync(join(database, name));
    bytes[100]! ^= 4;
    writeFileSync(join(database, name), bytes);
  }
  const registry = await open(folder);
  assert.deepEqual(sents(registry), EVERYTHING);
  await registry.stop();
  const [bad] = readdirSync(folder).filter((name) => name.startsWith("registry.bad-"));
  assert.deepEqual(
    readdirSync(join(folder, bad!)).filter((name) => /\.(ldb|log)$/.test(name)),
    found,
  );
});

for (const share of [0, 0.5, 0.99])
  test(`a table that a crash left unfinished at ${share * 100} % isn't damage`, async () => {
    const folder = temporary();
    await fill(folder);
    await (await open(folder)).stop(); // writes the log's content as a table
    const database = join(folder, "registry");
    const table = readFileSync(join(database, readdirSync(database).find((name) => name.endsWith(".ldb"))!));
    writeFileSync(join(database, "000999.ldb"), table.subarray(0, Math.floor(table.length * share)));
    const registry = await open(folder);
    assert.deepEqual(sents(registry), EVERYTHING);
    await registry.stop();
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("registry.bad-")),
      [],
    );
    assert.ok(!readdirSync(database).includes("000999.ldb"));
  });

test("a table that ends too early is damage where it is in use", async () => {
  const folder = temporary();
  await fill(folder);
  await (await open(folder)).stop(); // writes the log's content as a table
  const database = join(folder, "registry");
  const table = join(database, readdirSync(database).find((name) => name.endsWith(".ldb"))!);
  truncateSync(table, 1_000);
  const registry = await open(folder);
  assert.deepEqual(sents(registry), EVERYTHING);
  await registry.stop();
  assert.ok(readdirSync(folder).some((name) => name.startsWith("registry.bad-")));
});

for (const [what, spoiled] of [
  ["agent's id", (text: string) => text.replace(/"agentId":"./, '"agentId":"x')],
  ["format", (text: string) => text.replace("format", "fnrmat")],
] as const)
  test(`where a byte of the marker's ${what} is damaged, the agent keeps its id`, async () => {
    const folder = temporary();
    const agentId = await fill(folder);
    const marker = join(folder, "FORMAT");
    writeFileSync(marker, spoiled(readFileSync(marker, "utf8")));
    const registry = await open(folder);
    assert.equal(registry.agentId, agentId);
    await registry.stop();
    assert.equal((JSON.parse(readFileSync(marker, "utf8")) as { agentId: string }).agentId, agentId);
  });

test("a damaged database is kept aside, at most twice", async () => {
  const folder = temporary();
  await fill(folder);
  for (let round = 0; round < 3; round++) {
    truncateSync(join(folder, "registry/CURRENT"));
    await (await open(folder)).stop();
  }
  assert.equal(readdirSync(folder).filter((name) => name.startsWith("registry.bad-")).length, 2);
});

test("without the marker the rows and the agent's id are kept all the same", async () => {
  const folder = temporary();
  const agentId = await fill(folder);
  rmSync(join(folder, "FORMAT"));
  const registry = await open(folder);
  assert.deepEqual([sents(registry), registry.agentId], [EVERYTHING, agentId]);
  await registry.stop();
});

test("rows that the snapshot has further than the repaired database are taken from it", async () => {
  const folder = temporary();
  await fill(folder);
  const path = join(folder, "registry.snapshot.json");
  const snapshot = JSON.parse(readFileSync(path, "utf8")) as {
    files: Record<string, { sent: number; generation: number }>;
  };
  snapshot.files["1-0-a"]!.sent = 4_000;
  snapshot.files["1-1-a"]!.generation = 5;
  snapshot.files["1-2-a"]!.sent = 0;
  writeFileSync(path, JSON.stringify(snapshot));
  truncateSync(join(folder, "registry/CURRENT"));
  const registry = await open(folder);
  assert.deepEqual(
    ["1-0-a", "1-1-a", "1-2-a"].map((key) => [registry.get(key)!.sent, registry.get(key)!.generation]),
    [
      [4_000, 0],
      [2, 5],
      [3, 0],
    ],
  );
  await registry.stop();
});

test("a second agent on the same folder is refused with the first one's process id", async () => {
  const folder = temporary();
  const registry = await open(folder);
  await assert.rejects(open(folder), {
    code: "data_locked",
    message: new RegExp(`in use by the process ${process.pid};`),
  });
  registry.put("1-1-1", newRow("log", "/l", 5, 0));
  await registry.stop();
});

test("a folder with damaged tables that another agent uses is refused, and not repaired", async () => {
  const folder = temporary();
  await fill(folder);
  const registry = await open(folder);
  const database = join(folder, "registry");
  const table = join(database, readdirSync(database).find((name) => name.endsWith(".ldb"))!);
  const bytes = readFileSync(table);
  bytes[100]! ^= 4;
  writeFileSync(table, bytes);
  await assert.rejects(open(folder), { code: "data_locked" });
  bytes[100]! ^= 4;
  writeFileSync(table, bytes);
  await registry.stop();
  assert.ok(!readdirSync(folder).some((name) => name.startsWith("registry.bad-")));
});

test("a checkpoint survives kill -9", async () => {
  const folder = temporary();
  const script = `
    import { Registry } from "#agent/registry/registry.ts";
    import { newRow } from "#agent/registry/row.ts";
    import { silentLogger } from "#proto/kit/log.ts";
    import { Metrics } from "#proto/kit/metrics.ts";
    import { systemClock } from "#proto/kit/clock.ts";
    const registry = new Registry({ folder: process.argv[1], log: silentLogger(), metrics: new Metrics(), clock: systemClock });
    await registry.start();
    registry.put("1-1-1", newRow("log", "/l", 5, 0));
    await registry.checkpoint();
    process.kill(process.pid, "SIGKILL");`;
  const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, folder], {
    encoding: "utf8",
  });
  assert.equal(signal, "SIGKILL", stderr);
  const registry = await open(folder);
  assert.deepEqual([registry.get("1-1-1")?.sent, registry.epoch], [5, 2]);
  await registry.stop();
});

test("a folder that can't be written is reported with the remedy", {
  skip: process.getuid?.() === 0 && "root may write anywhere",
}, async () => {
  const folder = temporary();
  chmodSync(folder, 0o500);
  await assert.rejects(open(join(folder, "data")), { code: "file_unreadable", message: /--path\.data/ });
});
