/**
 * Large bulk requests, which a thread of their own parses and packs, are answered item by item as small ones are: the same
 * documents go to two indices that are alike, once in one body and once in many.
 */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ask, readMetric } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const DOCUMENTS = 3_000;
/** Documents of a small body. */
const FEW = 500;
/** Makes bodies of 3,000 documents larger than 1 MiB, those of 500 smaller. */
const PADDING = "padding ".repeat(80);
const MIB = 1024 * 1024;

type Item = Record<string, { readonly status: number; readonly error?: { readonly type: string } }>;

interface BulkAnswer {
  readonly status: number;
  readonly body: { readonly errors?: boolean; readonly items?: readonly Item[]; readonly error?: unknown };
}

interface Case {
  readonly name: string;
  /** Makes what the documents go to. */
  readonly make?: (index: string) => Promise<unknown>;
  readonly action?: (index: string, n: number) => string;
  readonly document?: (n: number) => string;
  readonly query?: string;
  /** Status of the items, by their number; 201 without it. */
  readonly status?: (n: number) => number;
  /** Documents found in the end; those that are in without it. */
  readonly found?: number;
}

const workspace = new Workspace();
let hub: TestHub;
let url: string;

before(async () => {
  hub = await startHub({ dataDir: workspace.path("hub") });
  workspace.defer(() => hub.destroy());
  url = hub.searchUrl;
});

after(() => workspace.close());

const put = (path: string, body: object): Promise<unknown> => ask("PUT", `${url}/${path}`, body);
const isThird = (n: number): boolean => n % 3 === 0;

const CASES: readonly Case[] = [
  { name: "new fields" },
  { name: "create", action: () => '{"create":{}}' },
  {
    name: "documents that don't fit the mapping",
    make: (index) => put(index, { mappings: { _doc: { properties: { n: { type: "long" } } } } }),
    document: (n) => (isThird(n) ? `{"n":"no ${n}","p":"${PADDING}"}` : `{"n":${n},"p":"${PADDING}"}`),
    status: (n) => (isThird(n) ? 400 : 201),
  },
  {
    name: "lines that aren't a document",
    document: (n) => (isThird(n) ? `[${n}]` : `{"n":${n},"p":"${PADDING}"}`),
    status: (n) => (isThird(n) ? 400 : 201),
  },
  {
    name: "nested documents",
    make: (index) => put(index, { mappings: { _doc: { properties: { steps: { type: "nested" } } } } }),
    document: (n) => `{"steps":[{"a":${n}},{"b":"${PADDING}"}]}`,
  },
  {
    name: "very many shapes",
    make: (index) => put(index, { mappings: { _doc: { dynamic: false } } }),
    document: (n) => `{"f${n}":${n},"p":"${PADDING}"}`,
  },
  {
    name: "an index with a write block",
    make: (index) => put(index, { settings: { "index.blocks.write": true } }),
    status: () => 403,
  },
  {
    name: "a closed index",
    make: async (index) => {
      await put(index, {});
      await ask("POST", `${url}/${index}/_close`);
    },
    status: () => 400,
    found: 0,
  },
  {
    name: "a name that no index may have",
    action: () => '{"index":{"_index":"Bad Name"}}',
    status: () => 400,
  },
  {
    name: "an alias with a write index",
    make: async (index) => {
      await put(`${index}-1`, { aliases: { [index]: {} } });
      await put(`${index}-2`, { aliases: { [index]: { is_write_index: true } } });
    },
  },
  { name: "an alias that is required", query: "?require_alias=true", status: () => 404 },
  {
    name: "a pipeline of the index",
    make: async (index) => {
      await put("_ingest/pipeline/large", { processors: [{ set: { field: "seen", value: true } }] });
      await put(index, { settings: { "index.default_pipeline": "large" } });
    },
  },
  { name: "a pipeline that isn't there", query: "?pipeline=nowhere", status: () => 400 },
  {
    name: "a data stream that refuses [index]",
    make: (index) => put(`_index_template/${index}`, { index_patterns: [index], data_stream: {} }),
    document: (n) => `{"@timestamp":"2026-01-01T00:00:00Z","n":${n},"p":"${PADDING}"}`,
    status: () => 400,
    found: 0,
  },
  {
    name: "a data stream, whose documents need a time",
    make: (index) => put(`_index_template/${index}`, { index_patterns: [index], data_stream: {} }),
    action: () => '{"create":{}}',
    document: (n) =>
      isThird(n) ? `{"n":${n},"p":"${PADDING}"}` : `{"@timestamp":"2026-01-01T00:00:00Z","p":"${PADDING}"}`,
    status: (n) => (isThird(n) ? 400 : 201),
  },
  { name: "a refresh at once", query: "?refresh=true" },
  { name: "copies that are awaited", query: "?wait_for_active_shards=1" },
  { name: "a part of the answer", query: "?filter_path=items.*.status" },
  { name: "several shards", make: (index) => put(index, { settings: { number_of_shards: 3 } }) },
  {
    name: "ids",
    action: (_, n) => `{"index":{"_id":"${n % 2_000}"}}`,
    status: (n) => (n < 2_000 ? 201 : 200),
    found: 2_000,
  },
  { name: "routing", action: (_, n) => `{"index":{"routing":"${n % 7}"}}` },
  { name: "mixed actions", action: (_, n) => (isThird(n) ? '{"create":{}}' : '{"index":{}}') },
];

for (const [number, each] of CASES.entries())
  test(`large and small bodies have the same answers: ${each.name}`, async () => {
    const answers: string[][] = [];
    for (const [size, count] of [
      ["large", DOCUMENTS],
      ["small", FEW],
    ] as const) {
      const index = `case-${number}-${size}`;
      await each.make?.(index);
      const items: Item[] = [];
      for (let from = 0; from < DOCUMENTS; from += count) {
        const body = bodyOf(each, index, from, count);
        assert.equal(body.length > MIB, count === DOCUMENTS);
        const answer = await send(`${index}/_doc/_bulk${each.query ?? ""}`, body);
        assert.equal(answer.status, 200);
        items.push(...answer.body.items!);
      }
      const wanted = Array.from({ length: DOCUMENTS }, (_, n) => each.status?.(n) ?? 201);
      assert.deepEqual(items.map(statusOf), wanted);
      const found = each.found ?? wanted.filter((status) => status < 300).length;
      assert.equal(await countOf(index), found);
      answers.push(items.map((item) => withoutNames(item, index)));
    }
    assert.deepEqual(answers[0], answers[1]);
  });

test("a large body that is packed is answered as it is unpacked", async () => {
  const body = bodyOf({ name: "" }, "packed", 0, DOCUMENTS);
  const { status, body: answer } = await send("packed/_doc/_bulk", gzipSync(body), {
    "content-encoding": "gzip",
  });
  assert.deepEqual([status, answer.errors, answer.items?.length], [200, false, DOCUMENTS]);
  assert.equal(await countOf("packed"), DOCUMENTS);
});

test("of a large body with a line that isn't an action nothing is written", async () => {
  const body = bodyOf({ name: "" }, "broken", 0, DOCUMENTS);
  for (const end of ['{"index":{}}\n', "no action\n{}\n", '{"index":{}}\n{"a":1}']) {
    const { status } = await send("broken/_doc/_bulk", Buffer.concat([body, Buffer.from(end)]));
    assert.equal(status, 400);
  }
  assert.equal(await countOf("broken"), 0);
});

test("large bodies of clients that leave are let go", async () => {
  const body = bodyOf({ name: "" }, "left", 0, DOCUMENTS);
  const clients = Array.from({ length: 8 }, async () => {
    const client = new AbortController();
    const sent = send("left/_doc/_bulk", body, {}, client.signal);
    // By the time the hub has seen a second request it works on the first.
    await ask("GET", `${url}/`);
    client.abort();
    await sent.catch(() => undefined);
  });
  await Promise.all(clients);
  for (const name of ["tailrace_bodies_lent", "tailrace_api_bodies_bytes"])
    await until(`${name} is 0`, async () => (await readMetric(`${hub.dashboardUrl}/metrics`, name)) === 0);
});

function bodyOf({ action, document }: Case, index: string, from: number, count: number): Buffer {
  const lines = Array.from({ length: count }, (_, at) => {
    const n = from + at;
    const line = action?.(index, n) ?? '{"index":{}}';
    return `${line}\n${document?.(n) ?? `{"n":${n},"text":"line ${n}","p":"${PADDING}"}`}\n`;
  });
  return Buffer.from(lines.join(""));
}

async function send(
  path: string,
  body: Buffer,
  headers: Record<string, string> = {},
  signal: AbortSignal = AbortSignal.timeout(60_000),
): Promise<BulkAnswer> {
  const answer = await fetch(`${url}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", ...headers },
    body: new Uint8Array(body),
    signal,
  });
  return { status: answer.status, body: (await answer.json()) as BulkAnswer["body"] };
}

function statusOf(item: Item): number {
  return Object.values(item)[0]!.status;
}

/** An item without what differs from index to index, and made ids. */
function withoutNames(item: Item, index: string): string {
  return JSON.stringify(item, (key, value: unknown) =>
    ["_seq_no", "_id", "index_uuid", "_version"].includes(key) ? undefined : value,
  )
    .replaceAll(index, "INDEX")
    .replace(/_doc\]\[[\w-]{20}\]|document with id '[\w-]{20}'/g, "MADE");
}

async function countOf(index: string): Promise<number> {
  await fetch(`${url}/${index}/_refresh`, { method: "POST" });
  const answer = await fetch(`${url}/${index}/_count?ignore_unavailable=true&allow_no_indices=true`);
  const { count = 0 } = (await answer.json()) as { readonly count?: number };
  return count;
}
