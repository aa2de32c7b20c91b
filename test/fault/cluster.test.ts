/**
 * Three hubs on a JetStream cluster of three under load, with one fault at a time: no line is lost or doubled, no acknowledged
 * write is lost, no version goes back, and all copies are equal in the end. One nats-server takes the place of the three where
 * there is none from 2.10.23 on, or where TAILRACE_NATS_SERVER names an older one.
 */

import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { systemClock } from "#proto/kit/clock.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, type Hit, pagesOfAll, refreshed } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until, untilSteady } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { Clients } from "./cluster-clients.ts";
import { type Fault, faults } from "./cluster-faults.ts";
import { IngestWatch } from "./cluster-ingest.ts";
import { FilePartitions } from "./cluster-partitions.ts";
import { Pauses, summaryOf } from "./cluster-pauses.ts";
import { type Node, startWorld, type World } from "./cluster-world.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const FILES = 12;
/** Lines per second of each file. */
const RATE = Number(process.env["TAILRACE_FAULT_LINES"] ?? 1_200) / FILES;
/** Lines of a file whose hub dies arrive again within this time, also on a busy machine. */
const LONGEST_PAUSE_MS = Number(process.env["TAILRACE_FAULT_PAUSE_MS"] ?? 25_000);
const SETTLED_MS = 120_000;
/** A hub that didn't answer is left out of refreshes for 10 s, and until it renews its membership. */
const REACHED_AFTER_MS = 15_000;
const INDICES = ["versions", "created", "counters"] as const;

type Document = readonly [id: string, version: number, sequence: number, n: unknown];

/** Returns the documents of an index as a hub's own copy has them. */
async function documentsOf({ hub }: Node, index: string): Promise<Document[]> {
  const documents: Document[] = [];
  type Hit = { _id: string; _version: number; _seq_no: number; _source: { n: unknown } };
  type Page = { _scroll_id: string; hits: { hits: Hit[] } };
  const body = { size: 5_000, version: true, seq_no_primary_term: true, sort: ["_doc"] };
  let page = await ask<Page>("POST", `${hub.searchUrl}/${index}/_search?scroll=1m`, body);
  while (page.hits.hits.length > 0) {
    for (const hit of page.hits.hits) documents.push([hit._id, hit._version, hit._seq_no, hit._source.n]);
    const next = { scroll: "1m", scroll_id: page._scroll_id };
    page = await ask<Page>("POST", `${hub.searchUrl}/_search/scroll`, next);
  }
  return documents.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Asserts that every hub has all documents that were acknowledged, and that all have the same. */
async function assertEqualCopies({ nodes }: World, clients: Clients, hint: string): Promise<void> {
  const [first, ...others] = nodes as [Node, ...Node[]];
  for (const { hub } of nodes) await refreshed(hub.searchUrl, "*");
  for (const index of INDICES) {
    const documents = await documentsOf(first, index);
    for (const node of others)
      assert.deepEqual(await documentsOf(node, index), documents, `${index} of ${node.name} ${hint}`);
    assertAcknowledged(index, new Map(documents.map(([id, version, , n]) => [id, { version, n }])), clients);
  }
}

/** Asserts that every hub has each line once, and that all have the same of it. */
async function assertEqualLines({ nodes }: World, logs: readonly SequenceLog[], hint: string): Promise<void> {
  const digestOf = async ({ hub }: Node): Promise<Digest> => {
    const digest = new Digest();
    await assertExactlyOnce(hub.searchUrl, logs, hint, (page) => {
      for (const hit of page) digest.add(textOf(hit));
    });
    return digest;
  };
  const [first, ...others] = (await Promise.all(nodes.map(digestOf))) as [Digest, ...Digest[]];
  for (const [at, other] of others.entries())
    if (!other.equals(first)) await failByLines(nodes[0]!, nodes[at + 1]!, hint);
}

/** Millions of texts that are to be equal in any order: their number and two sums of their checksums. */
class Digest {
  #texts = 0;
  #sum = 0;
  #mixed = 0;

  add(text: string): void {
    const checksum = crc32(text);
    this.#texts++;
    this.#sum = (this.#sum + checksum) >>> 0;
    this.#mixed = (this.#mixed + Math.imul(checksum ^ (checksum >>> 15), 0x2c1b3c6d)) >>> 0;
  }

  equals(other: Digest): boolean {
    return this.#texts === other.#texts && this.#sum === other.#sum && this.#mixed === other.#mixed;
  }
}

function textOf({ _index, _id, _source }: Hit): string {
  return `${_index}/${_id} ${JSON.stringify(_source)}`;
}

/** Throws with the lines that one hub has and another doesn't, as a second reading finds them. */
async function failByLines(one: Node, other: Node, hint: string): Promise<never> {
  const known = new Set<string>();
  for await (const page of pagesOfAll(one.hub.searchUrl)) for (const hit of page) known.add(textOf(hit));
  const different: string[] = [];
  for await (const page of pagesOfAll(other.hub.searchUrl))
    different.push(...page.map(textOf).filter((text) => !known.delete(text)));
  const all = [...different, ...known];
  const which = all.length === 0 ? "none of them at a second reading" : all.slice(0, 20).join("\n");
  throw new Error(`lines of ${one.name} and ${other.name} differ ${hint}: ${which}`);
}

function assertAcknowledged(
  index: (typeof INDICES)[number],
  found: ReadonlyMap<string, { version: number; n: unknown }>,
  { created, versions, counters }: Clients,
): void {
  if (index === "created") {
    const missing = [...created].filter((id) => !found.has(id));
    assert.deepEqual(missing, [], "acknowledged documents that are missing");
  } else if (index === "versions") {
    for (const [id, version] of versions)
      assert.ok(found.get(id)!.version >= version, `${id} has ${found.get(id)?.version}, not ${version}`);
  } else {
    for (const [id, { acknowledged, unknown }] of counters) {
      const n = Number(found.get(id)?.n ?? 0);
      const isRight = n >= acknowledged && n <= acknowledged + unknown;
      assert.ok(isRight, `${id} is ${n} after ${acknowledged} increments and ${unknown} unknown ones`);
    }
  }
}

/** Lets faults happen one after the other; returns the pauses of the files. */
async function happen(
  world: World,
  all: Iterable<Fault>,
  { watch, partitions }: { readonly watch: IngestWatch; readonly partitions: FilePartitions },
  note: (text: string) => void,
): Promise<Pauses[]> {
  const pauses: Pauses[] = [];
  for (const fault of all) {
    const before = await partitions.owners();
    const roles = fault.server === undefined ? [] : await partitions.rolesOf(fault.server);
    const startedMs = systemClock.monotonic();
    watch.takeLongestMs();
    note(`${fault.name} begins${roles.length === 0 ? "" : `; it is ${roles.join(", ")}`}`);
    // A fault of a nats-server concerns all hubs.
    const concerned = fault.node === undefined ? world.nodes : [fault.node];
    for (const node of concerned) node.reachedMs = Number.POSITIVE_INFINITY;
    await fault.happen();
    await untilShared(
      world.nodes.map(({ hub }) => hub),
      SETTLED_MS,
    );
    if (fault.node !== undefined) fault.node.isFaulty = false;
    for (const node of concerned) node.reachedMs = systemClock.monotonic() + REACHED_AFTER_MS;
    // The next fault begins when this one is over, so that a pause belongs to one.
    await watch.untilAllGrow(SETTLED_MS);
    const longest = watch.takeLongestMs();
    const tookMs = Math.round(systemClock.monotonic() - startedMs);
    const after = await partitions.owners();
    const pause = new Pauses(fault, longest, before, after);
    pauses.push(pause);
    note(`${fault.name}: settled after ${tookMs} ms, longest pauses in ms ${pause.describe()}`);
  }
  return pauses;
}

test(`a cluster of three loses and doubles nothing in ${SECONDS} s of faults`, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const hint = `(repeat with --seed ${seed})`;
  const workspace = new Workspace(t);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const world = await startWorld(workspace, 3, paths);
  t.diagnostic(`seed ${seed}, ${world.servers.length} nats-servers`);
  await findFirstLines(world, logs, paths, random);
  const partitions = await FilePartitions.read(workspace, world);
  const clients = new Clients(world.nodes, randomFrom(seed + 1));
  const watch = new IngestWatch(world.nodes);
  const end = new AbortController();
  const working = Promise.all([clients.run(end.signal), watch.run(end.signal)]);
  const all = faults(world, systemClock.monotonic() + SECONDS * 1_000, random);
  const told = workspace.path("faults.log");
  const note = (text: string): void => appendFileSync(told, `${new Date().toISOString()} ${text}\n`);
  note(`faults of seed ${seed}`);
  const faulty = happen(world, all, { watch, partitions }, note).finally(() => {
    end.abort();
    for (const line of readFileSync(told, "utf8").trimEnd().split("\n")) t.diagnostic(line);
  });
  const writers = logs.map((log, at) => writeWhile(faulty, log, paths[at]!, random));
  const pauses = await faulty;
  await Promise.all([working, ...writers]);

  for (const line of summaryOf(pauses)) t.diagnostic(line);
  const written = logs.reduce((sum, log) => sum + log.count, 0);
  t.diagnostic(
    `${written} lines, ${clients.created.size} created, ${clients.versions.size} versioned documents, ${clients.searches} searches, ${clients.found.partial} partial, ${clients.unanswered.length} unanswered, ${clients.wrong.length} wrong`,
  );
  for (const each of [...clients.wrong.slice(0, 20), ...clients.unanswered.slice(0, 40)]) t.diagnostic(each);
  await assertEqualLines(world, logs, hint);
  await untilSteady("the documents", async () => (await documentsOf(world.nodes[0]!, "created")).length);
  await assertEqualCopies(world, clients, hint);
  assert.deepEqual(clients.wrong, [], hint);
  assert.ok(
    clients.unanswered.length <= clients.searches / 1_000,
    `${clients.unanswered.length} of ${clients.searches} searches`,
  );
  const tooLong = pauses
    .filter(({ longestMs }) => longestMs > LONGEST_PAUSE_MS)
    .map(({ fault }) => fault.name);
  assert.deepEqual(tooLong, [], `pauses of more than ${LONGEST_PAUSE_MS} ms ${hint}`);
});

/** Writes lines and waits until every hub finds them: no hub answers for indices that it can't know of. */
async function findFirstLines(
  { nodes }: World,
  logs: readonly SequenceLog[],
  paths: readonly string[],
  random: () => number,
): Promise<void> {
  await Promise.all(
    logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines: 1, random, rate: RATE })),
  );
  for (const { hub } of nodes)
    await until(
      `the first lines at ${hub.searchUrl}`,
      async () => (await count(hub.searchUrl)) >= logs.length,
    );
}

async function writeWhile(
  faulty: Promise<unknown>,
  log: SequenceLog,
  path: string,
  random: () => number,
): Promise<void> {
  let isOver = false;
  faulty.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) await writeInBursts({ log, path, lines: RATE, random, rate: RATE });
}
