/**
 * Sweep over the hub's data folder: each kind of file × each kind of damage, while the hub is stopped. Afterwards the hub has
 * every document as it was, or /health names what is missing, or it refuses to start and names the remedy. Wrong answers with
 * a good health are failures. The order is random; as many cases run as the time allows.
 */

import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { request } from "#test/harness/http.ts";
import { startHub, TestHub } from "#test/harness/hub.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const ROUNDS = 4;
const ROUND_DOCS = 20;
/** Longest wait for the right documents or for a health that names the damage, ms. */
const VERDICT_MS = 60_000;
const WRITE_MS = 5_000;

/** Patterns below the data folder; of several files the newest counts. */
const FILES: readonly string[] = [
  "engine/position.json",
  "engine/*/index.json",
  "engine/*/0/manifest-*.json",
  "engine/*/0/*.seg",
  "engine/*/0/*.liv",
  "vault.keys",
  "reach.json",
  "nats/token",
  "nats/nats.conf",
  "nats/nats.pid",
  ...["DOC", "RAW", "KV_indices", "KV_log", "KV_cluster", "KV_auth", "KV_cursors"].flatMap((stream) =>
    ["msgs/1.blk", "msgs/1.idx", "meta.inf", "meta.sum"].map(
      (file) => `nats/store/jetstream/*/streams/${stream}/${file}`,
    ),
  ),
];

/** Data folders of stopped hubs. */
interface Stores {
  readonly whole: string;
  /** The same one before the last round. */
  readonly older: string;
  readonly foreign: string;
}

/** Does the damage to `path`; returns false where it can't be done to this file. */
type Damage = (path: string, relative: string, stores: Stores, random: () => number) => boolean;

const replacedFrom =
  (store: "older" | "foreign"): Damage =>
  (path, relative, stores) => {
    const [other] = newest(stores[store], relative.replace(/(?<=^engine\/)[^/]+(?=\/)/, "*"));
    if (other === undefined || readFileSync(other).equals(readFileSync(path))) return false;
    cpSync(other, path);
    return true;
  };

const DAMAGES: Readonly<Record<string, Damage>> = {
  missing: (path) => {
    rmSync(path);
    return true;
  },
  empty: (path) => {
    truncateSync(path);
    return true;
  },
  "cut in half": (path) => {
    const { length } = readFileSync(path);
    truncateSync(path, Math.floor(length / 2));
    return length > 1;
  },
  "one bit changed": (path, _relative, _stores, random) => {
    const bytes = readFileSync(path);
    if (bytes.length === 0) return false;
    const bit = Math.floor(random() * bytes.length * 8);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(path, bytes);
    return true;
  },
  "of an older state": replacedFrom("older"),
  "of another hub": replacedFrom("foreign"),
};

/** Returns the files of a pattern, the newest first. */
function newest(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder })
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => join(folder, name));
}

type Content = Readonly<Record<string, number>>;

/** Writes a round of documents, changes and deletes some of the round before; all durable. */
async function writeRound(
  { searchUrl }: TestHub,
  round: number,
  content: Record<string, number>,
): Promise<void> {
  let body = "";
  const put = (id: string, n: number): void => {
    body += `{"index":{"_index":"a","_type":"_doc","_id":"${id}"}}\n{"n":${n}}\n`;
    content[id] = n;
  };
  for (let number = 0; number < ROUND_DOCS; number++) put(`${round}-${number}`, number);
  if (round > 0) {
    put(`${round - 1}-1`, 1_000 + round);
    body += `{"delete":{"_index":"a","_type":"_doc","_id":"${round - 1}-2"}}\n`;
    delete content[`${round - 1}-2`];
  }
  const headers = { "content-type": "application/x-ndjson" };
  const answer = await fetch(`${searchUrl}/_bulk?refresh=true`, { method: "POST", headers, body });
  assert.equal(((await answer.json()) as { errors: boolean }).errors, false);
  await request("POST", `${searchUrl}/a/_flush`);
}

/** Makes the folders; returns what the whole one holds. */
async function makeStores(workspace: Workspace): Promise<{ stores: Stores; content: Content }> {
  const stores = {
    whole: workspace.path("whole", "data"),
    older: workspace.path("older", "data"),
    foreign: workspace.path("foreign", "data"),
  };
  const content: Record<string, number> = {};
  const fill = async (folder: string, kept: Record<string, number>): Promise<void> => {
    const hub = await startHub({ dataDir: folder });
    workspace.defer(() => hub.destroy());
    const body = { settings: { "index.number_of_shards": 1 } };
    await request("PUT", `${hub.searchUrl}/a`, body);
    for (let round = 0; round < ROUNDS; round++) {
      if (round === ROUNDS - 1 && folder === stores.whole) {
        await hub.stop();
        cpSync(folder, stores.older, { recursive: true });
        await hub.start();
      }
      await writeRound(hub, round, kept);
    }
    await hub.stop();
  };
  await fill(stores.whole, content);
  await fill(stores.foreign, {});
  return { stores, content };
}

async function contentOf({ searchUrl }: TestHub): Promise<Content> {
  const { body } = await request<{ hits: { hits: { _id: string; _source: { n: number } }[] } }>(
    "POST",
    `${searchUrl}/a/_search`,
    { size: 1_000 },
  );
  return Object.fromEntries(body.hits.hits.map(({ _id, _source }) => [_id, _source.n]));
}

/** Returns the same text for the same documents, whatever their order. */
function textOf(content: Content): string {
  return JSON.stringify(
    Object.keys(content)
      .sort()
      .map((id) => [id, content[id]]),
  );
}

async function reasonsOf({ dashboardUrl }: TestHub): Promise<string> {
  const { body } = await request<{ parts?: { part: string; level: string; reason: string }[] }>(
    "GET",
    `${dashboardUrl}/health`,
  );
  return (body.parts ?? [])
    .filter(({ part, level }) => level !== "ok" && part !== "disk")
    .map(({ part, reason }) => `${part}: ${reason}`)
    .join("; ");
}

/** Returns true where a document is taken within a few seconds. */
async function isWritable({ searchUrl }: TestHub): Promise<boolean> {
  const answer = await fetch(`${searchUrl}/b/_doc`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
    signal: AbortSignal.timeout(WRITE_MS),
  });
  return answer.status === 201;
}

const REMEDY = /restore|remove|delete|move|install|replace|start .* with|set /i;

/** Returns what became of a hub on a damaged folder: "healed", what its health names, or why it refuses. Throws otherwise. */
async function verdict(hub: TestHub, content: Content): Promise<string> {
  try {
    await hub.start();
  } catch (error) {
    const message = (error as Error).message;
    assert.match(message, /ended \(.*before it was ready/, "it neither starts nor ends");
    const reason = message.split("\n").findLast((line) => line.startsWith("tailrace-hub: ")) ?? "";
    assert.match(reason, REMEDY, `it refuses without a remedy: ${message}`);
    return `refused: ${reason.slice(0, 200)}`;
  }
  const expected = textOf(content);
  let found = "";
  return until(
    "the right documents, or a health that names the damage",
    async () => {
      found = textOf(await contentOf(hub).catch(() => ({})));
      const reasons = await reasonsOf(hub);
      // A write that isn't answered in time is one that isn't taken: health must say why.
      const isWhole = found === expected && (await isWritable(hub).catch(() => false));
      if (isWhole) return "healed";
      return reasons !== "" && `named: ${reasons}`;
    },
    { deadlineMs: VERDICT_MS, everyMs: 200 },
  ).catch((error: Error) => {
    throw new Error(
      `${error.message}; expected ${expected}\nfound ${found}\nlog: ${readFileSync(hub.logFile, "utf8").slice(-3_000)}`,
    );
  });
}

test(`a damaged file of the hub heals, is named or is refused, for ${SECONDS} s`, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const { stores, content } = await makeStores(workspace);
  const cases = FILES.flatMap((file) =>
    Object.keys(DAMAGES).map((damage) => ({ file, damage, at: random() })),
  );
  const endMs = systemClock.monotonic() + SECONDS * 1_000;
  const failures: string[] = [];
  let [done, absent] = [0, 0];
  for (const { file, damage } of cases.sort((a, b) => a.at - b.at)) {
    if (systemClock.monotonic() > endMs) break;
    const folder = workspace.path(`case-${done}`, "data");
    cpSync(stores.whole, folder, { recursive: true });
    const [path] = newest(folder, file);
    const isThere = path !== undefined && existsSync(path);
    if (!isThere || !DAMAGES[damage]!(path, path.slice(folder.length + 1), stores, random)) {
      absent++; // the file, or the other store's that would replace it
      continue;
    }
    done++;
    const hub = new TestHub({ dataDir: folder });
    try {
      t.diagnostic(`${file}, ${damage}: ${await verdict(hub, content)}`);
    } catch (error) {
      failures.push(`${file}, ${damage}: ${(error as Error).message}`);
    } finally {
      await hub.destroy();
    }
    if (failures.length === 0) rmSync(join(folder, ".."), { recursive: true, force: true });
  }
  const left = cases.length - done - absent;
  t.diagnostic(
    `seed ${seed}: ${done} cases, ${failures.length} failed; ${left} not reached, ${absent} without a file`,
  );
  assert.deepEqual(failures, [], `repeat with --seed ${seed}`);
});
