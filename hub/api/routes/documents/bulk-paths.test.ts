/**
 * Bodies that a thread parses and packs are answered as those that this thread parses, byte for byte, and leave the same
 * documents: random bodies go to two hubs that are alike, one with threads and one without.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { LargeBodies } from "#hub/api/ports/documents.ts";
import { BodyThreads } from "#hub/cluster/writes/body-threads.ts";
import { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf, type Reply } from "#test/support/api/http-client.ts";
import {
  atEnd,
  MemoryLog,
  type Node,
  openNode,
  temporaryFolder,
} from "#test/support/cluster/shard-feeding.ts";
import { Random } from "#test/support/engine/random.ts";

const SEEDS = [1, 2, 3, 4];
const BODIES = 40;
const SHARDS = 3;
const MAPPING = { properties: { n: { type: "long" } } };

interface Hub {
  readonly log: MemoryLog;
  readonly node: Node;
  readonly send: ReturnType<typeof clientOf>;
}

/** `bodies`: absent, the front parses everything. */
async function openHub(t: TestContext, bodies?: LargeBodies): Promise<Hub> {
  const log = new MemoryLog();
  const node = await openNode(t, log, temporaryFolder(t));
  const hub = new FakeHub();
  const { catalog: indices, documents } = node;
  hub.parts = { indices, documents, ...(bodies && { bodies }) };
  await hub.start();
  atEnd(t, () => hub.stop());
  await makeIndices(node);
  return { log, node, send: clientOf(() => hub.server.addresses.http) };
}

async function makeIndices({ catalog }: Node): Promise<void> {
  const plain = { settings: {}, mappings: MAPPING, aliases: {} };
  await catalog.create("plain", { ...plain, aliases: { alias: {} } });
  await catalog.create("shards", { ...plain, settings: { number_of_shards: SHARDS } });
  await catalog.create("strict", { ...plain, mappings: { ...MAPPING, dynamic: "strict" } });
  await catalog.create("nested", { ...plain, mappings: { properties: { steps: { type: "nested" } } } });
  await catalog.create("routed", { ...plain, mappings: { ...MAPPING, _routing: { required: true } } });
  await catalog.create("blocked", { ...plain, settings: { "index.blocks.write": true } });
  await catalog.create("closed", plain);
  await catalog.setState("closed", "close");
}

/** Threads for bodies of any size. `encoded`: how often documents with ids were packed. */
function anySize(t: TestContext): { readonly bodies: LargeBodies; readonly encoded: () => number } {
  const threads = new BodyThreads({ log: silentLogger(), metrics: new Metrics(), count: 1, smallBytes: 0 });
  t.after(() => threads.stop());
  let encoded = 0;
  const lend: LargeBodies["lend"] = (body) => {
    const lent = threads.lend(body);
    return {
      ...lent,
      run: (job, signal) => {
        if (job.kind === "encode") encoded++;
        return lent.run(job, signal);
      },
    };
  };
  return { bodies: { smallBytes: 0, lend }, encoded: () => encoded };
}

/** An answer without what differs from hub to hub, and the times that it took. */
function shown({ status, headers, text }: Reply): readonly unknown[] {
  const answer = text
    .replace(/^\{"took":\d+,(?:"ingest_took":\d+,)?/, "{")
    .replace(/"index_uuid":"[\w-]{22}"/g, '"index_uuid":"UUID"');
  return [status, headers.warning, answer];
}

const INDICES = [
  "plain",
  "plain",
  "alias",
  "shards",
  "shards",
  "strict",
  "nested",
  "routed",
  "blocked",
  "closed",
];
const NAMES = [...INDICES, "new", "Bad Name"];
const QUERIES = ["", "", "", "?refresh=true", "?require_alias=true", "?routing=r", "?pipeline=none"];
const OTHER_QUERIES = ["?wait_for_active_shards=1", "?filter_path=items.*.status", "?timeout=30s"];

interface Body {
  readonly path: string;
  readonly text: string;
}

/** Makes a body of actions that are nearly all alike. */
function bodyOf(random: Random): Body {
  const index = random.pick(NAMES);
  const query = random.oneIn(4) ? random.pick(OTHER_QUERIES) : random.pick(QUERIES);
  const lineOf = lineMaker(random, index);
  const isOdd = random.oneIn(3);
  const end = random.oneIn(6) ? "\r\n" : "\n";
  const items = Array.from({ length: 1 + random.below(40) }, () => {
    const odd = isOdd && random.oneIn(12) ? oddItem(random) : undefined;
    return odd ?? [lineOf(idOf(random, isOdd)), documentOf(random, index)];
  });
  const type = random.oneIn(5) ? "" : "/_doc";
  return { path: encodeURI(`/${index}${type}/_bulk${query}`), text: `${items.flat().join(end)}${end}` };
}

/** Returns what makes the action lines of a body, all of one form. */
function lineMaker(random: Random, index: string): (id: string) => string {
  const kind = random.pick(["index", "index", "create"]);
  const space = random.pick(["", "", " "]);
  const own = random.pick(["", "", "", `"_index":"${index}"`, `"_type":"_doc"`]);
  const more = random.oneIn(8)
    ? random.pick(['"routing":"r"', '"op_type":"create"', '"version":3', '"_id":"z"'])
    : "";
  const isLast = random.oneIn(2);
  return (id) => {
    const key = `"_id":${space}${id}`;
    const fields = [own, more, ...(isLast ? [key] : [])].filter((field) => field !== "");
    return `{"${kind}":${space}{${(isLast ? fields : [key, ...fields]).join(`,${space}`)}}}`;
  };
}

/** A JSON value; few of them, so that documents meet. None is made: made ids may be of any shard. */
function idOf(random: Random, isOdd: boolean): string {
  const number = random.below(60);
  if (!isOdd || !random.oneIn(10))
    return random.oneIn(2) ? `"${number}"` : `"doc-${String(number).padStart(4, "0")}"`;
  const long = "x".repeat(random.pick([511, 512, 513]));
  return random.pick([
    '""',
    '"ü"',
    '"a\\"b"',
    '"\\u0061"',
    "17",
    "1.5",
    "true",
    '" b"',
    '"a/b?<>"',
    `"${long}"`,
  ]);
}

function documentOf(random: Random, index: string): string {
  const n = random.below(100);
  if (random.oneIn(40)) return random.pick(["", "[1]", "{", '{"n":{"a":1}}', `{"other":"ü ${n}"}`]);
  if (random.oneIn(20)) return `{"n":"no ${n}"}`;
  return index === "nested" ? `{"steps":[{"a":${n}}]}` : `{"n":${n}}`;
}

/** Lines that a body of one form doesn't have. */
function oddItem(random: Random): readonly string[] {
  const id = random.below(60);
  return random.pick([
    [`{"delete":{"_id":"${id}"}}`],
    [`{"update":{"_id":"${id}"}}`, `{"doc":{"n":${id}},"doc_as_upsert":true}`],
    [`{"index":{"_id":"${id}","_index":"shards"}}`, `{"n":${id}}`],
    [`{index: {_id: ${id}}}`, "{}"],
    [`{"index":{"_id":"${id}","if_seq_no":${id},"if_primary_term":1}}`, "{}"],
    [`{"index":{"_id":"${id}","unknown":1}}`, "{}"],
    [""],
    ["no action"],
  ]);
}

/** Lets the messages of one shard, or none, fail to reach the log. */
function failShard({ log }: Hub, shard: number | undefined): void {
  log.beforePublish = async () => undefined;
  if (shard === undefined) return;
  log.beforePublish = async (_signal, subject) => {
    if (subject.endsWith(`.${shard}`)) throw new AppError("journal_full", "the log is full");
  };
}

async function documentsOf({ node }: Hub): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const index of ["plain", "shards", "strict", "nested", "new"]) {
    if (node.catalog.get(index) === undefined) continue;
    found.push(node.catalog.get(index)!.mapping.toJSON());
    for (const id of Array.from({ length: 60 }, (_, n) => [
      `${n}`,
      `doc-${String(n).padStart(4, "0")}`,
    ]).flat()) {
      const document = await node.documents.get(index, id, {});
      if (document !== null) found.push({ ...document, source: Buffer.from(document.source).toString() });
    }
  }
  return found;
}

for (const seed of SEEDS)
  test(`bodies with ids are answered alike by both paths: seed ${seed}`, { timeout: 120_000 }, async (t) => {
    const { bodies, encoded } = anySize(t);
    const [threaded, plain] = [await openHub(t, bodies), await openHub(t)];
    const random = new Random(seed);
    for (let nth = 0; nth < BODIES; nth++) {
      const { path, text } = bodyOf(random);
      const failing = random.oneIn(5) ? random.below(SHARDS) : undefined;
      const replies: Reply[] = [];
      for (const hub of [threaded, plain]) {
        failShard(hub, failing);
        replies.push(await hub.send("POST", path, text, { "content-type": "application/x-ndjson" }));
      }
      assert.deepEqual(shown(replies[0]!), shown(replies[1]!), `body ${nth} to ${path}:\n${text}`);
    }
    assert.deepEqual(await documentsOf(threaded), await documentsOf(plain));
    assert.ok(encoded() > 0, "some bodies took the path of threads");
  });

test("where the thread of a body with ids is lost in the middle the documents that are left fail, each by its id", {
  timeout: 120_000,
}, async (t) => {
  const { bodies, encoded } = anySize(t);
  const lend: LargeBodies["lend"] = (body) => {
    const lent = bodies.lend(body);
    return {
      ...lent,
      run: (job, signal) =>
        job.kind === "encode" && encoded() > 0
          ? Promise.reject(new AppError("unavailable", "lost"))
          : lent.run(job, signal),
    };
  };
  const { send } = await openHub(t, { ...bodies, lend });
  const lines = Array.from({ length: 26_000 }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`);
  const type = { "content-type": "application/x-ndjson" };
  const { body } = await send("POST", "/plain/_doc/_bulk", lines.join(""), type);
  const items = Array.from({ length: body["items"]!.length }, (_, n) => body["items"]![n]!["index"]!);
  assert.equal(items.length, 26_000);
  for (const [n, { _id: id, status }] of items.entries())
    assert.deepEqual([id, status], [`${n}`, n < 25_000 ? 201 : 503]);
});
