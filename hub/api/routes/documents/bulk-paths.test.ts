/**
 * Bodies that a thread parses and packs are answered as those that this thread parses, byte for byte, and leave the same
 * documents: random bodies go to two hubs that are alike, one with threads and one without.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import {
  type BulkHub,
  comparable,
  LINES,
  openBulkHub,
  SHARDS,
  watchedBodies,
} from "#test/support/api/bulk-hub.ts";
import type { Reply } from "#test/support/api/http-client.ts";
import { Random } from "#test/support/engine/random.ts";

const SEEDS = [1, 2, 3];
const BODIES = 40;
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
function failShard({ log }: BulkHub, shard: number | undefined): void {
  log.beforePublish = async () => undefined;
  if (shard === undefined) return;
  log.beforePublish = async (_signal, subject) => {
    if (subject.endsWith(`.${shard}`)) throw new AppError("journal_full", "the log is full");
  };
}

async function documentsOf({ node }: BulkHub): Promise<unknown[]> {
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
    const bodies = watchedBodies(t);
    const [threaded, plain] = [await openBulkHub(t, bodies), await openBulkHub(t)];
    const random = new Random(seed);
    for (let nth = 0; nth < BODIES; nth++) {
      const { path, text } = bodyOf(random);
      const failing = random.oneIn(5) ? random.below(SHARDS) : undefined;
      const replies: Reply[] = [];
      for (const hub of [threaded, plain]) {
        failShard(hub, failing);
        replies.push(await hub.send("POST", path, text, LINES));
      }
      assert.deepEqual(comparable(replies[0]!), comparable(replies[1]!), `body ${nth} to ${path}:\n${text}`);
    }
    assert.deepEqual(await documentsOf(threaded), await documentsOf(plain));
    assert.ok(bodies.encoded > 0, "some bodies took the path of threads");
  });
