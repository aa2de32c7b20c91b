import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { LargeBodies } from "#hub/api/ports/documents.ts";
import { type ScannedLines, scanLines } from "#hub/cluster/writes/body-lines.ts";
import type { BodyJob } from "#hub/cluster/writes/body-work.ts";
import type { DocumentBatch } from "#proto/document-batch.ts";
import { MIB } from "#proto/kit/units.ts";
import { type BulkDefaults, type BulkItem, parseBulk } from "./bulk-parser.ts";
import { itemAt, itemsOf, partEnd, partOf, readBulkRun, readLargeRun } from "./bulk-run.ts";

const DEFAULTS: BulkDefaults = {
  index: "logs",
  type: undefined,
  routing: undefined,
  pipeline: undefined,
  source: undefined,
};

/** Returns the document of a write as text. */
function textOf(write: BulkItem["write"]): string | undefined {
  return "source" in write ? Buffer.from(write.source as Uint8Array).toString() : undefined;
}

suite("a body is a run of new documents", () => {
  const cases: readonly [name: string, body: string, isRun: boolean, more?: Partial<BulkDefaults>][] = [
    ["with the same action before each", '{"index":{}}\n{"a":1}\n{"index":{}}\n{"a":2}\n', true],
    ["that creates", '{"create":{"_index":"b"}}\n{}\n', true],
    ["with bare keys", "{index: {}}\n{}\n", true],
    ["with line ends of two characters", '{"index":{}}\r\n{}\r\n{"index":{}}\r\n{}\r\n', true],
    ["unless it has ids", '{"index":{"_id":"1"}}\n{}\n', false],
    ["unless it has routing", '{"index":{"routing":"r"}}\n{}\n', false],
    ["unless the request has routing", '{"index":{}}\n{}\n', false, { routing: "r" }],
    ["unless it goes through a pipeline", '{"index":{}}\n{}\n', false, { pipeline: "p" }],
    ["unless it has a version", '{"index":{"version":3}}\n{}\n', false],
    ["unless actions differ", '{"index":{}}\n{}\n{"create":{}}\n{}\n', false],
    ["unless it updates", '{"update":{"_id":"1"}}\n{"doc":{}}\n', false],
    ["unless it deletes", '{"delete":{"_id":"1"}}\n', false],
    ["unless a line is empty", '{"index":{}}\n{}\n\n{"index":{}}\n{}\n', false],
    ["unless the last document is missing", '{"index":{}}\n{}\n{"index":{}}\n', false],
  ];
  for (const [name, text, isRun, more] of cases) {
    test(name, () => {
      const body = Buffer.from(text);
      const defaults = { ...DEFAULTS, ...more };
      const run = readBulkRun(body, defaults);
      assert.equal(run !== null, isRun);
      if (run !== null) assert.deepEqual([...itemsOf(run, run.run)], [...parseBulk(body, defaults)]);
    });
  }
});

test("a part of a run has its own ids", () => {
  const texts = ["ab", "c", "def", "g"];
  const bytes = Buffer.from("{}1{}2{}3{}4");
  const columns = { starts: Uint32Array.of(0, 3, 6, 9), ends: Uint32Array.of(2, 5, 8, 11) };
  const keys = { ids: Buffer.from(texts.join("")), idEnds: Uint32Array.of(2, 3, 6, 7) };
  const actions = new Uint8Array(4).fill(1);
  const run = { bytes, start: 0, gap: 0, indexNames: ["logs"], actions, ...columns, ...keys };
  const [item] = parseBulk(Buffer.from('{"index":{"_id":"ab"}}\n{}\n'), DEFAULTS);
  const bulk = { kind: "index", item: item!, run } as const;
  for (const [from, to] of [
    [0, 4],
    [1, 3],
    [3, 4],
  ] as const) {
    const part = partOf(run, from, to);
    const items = [...itemsOf(bulk, part)];
    assert.deepEqual(
      items.map(({ id }) => id),
      texts.slice(from, to),
    );
    assert.deepEqual(
      items.map((_, at) => itemAt(bulk, part, at).id),
      texts.slice(from, to),
    );
    const written = items.map(({ write }) => textOf(write));
    assert.deepEqual(
      written,
      Array.from({ length: to - from }, () => "{}"),
    );
  }
});

/** A run of documents of so many bytes each. */
function runOf(documents: number, sizeBytes: number): DocumentBatch {
  const gap = 13;
  const ends = Uint32Array.from({ length: documents }, (_, at) => gap + sizeBytes + at * (gap + sizeBytes));
  return {
    bytes: new Uint8Array(),
    start: gap,
    ends,
    gap,
    indexNames: ["a"],
    actions: new Uint8Array(documents),
  };
}

test("a run is written in parts of at most 25,000 documents and 8 MiB", () => {
  const partsOf = (run: DocumentBatch): number[] => {
    const sizes: number[] = [];
    for (let at = 0, end = 0; at < run.ends.length; at = end) {
      end = partEnd(run, at);
      sizes.push(end - at);
    }
    return sizes;
  };
  assert.deepEqual(partsOf(runOf(60_000, 100)), [25_000, 25_000, 10_000]);
  assert.deepEqual(partsOf(runOf(4, 3 * MIB)), [2, 2]);
  assert.deepEqual(partsOf(runOf(3, 20 * MIB)), [1, 1, 1]);
  assert.deepEqual(partsOf(runOf(0, 1)), []);
  assert.equal(partsOf(runOf(10_000, 10_000)).length, Math.ceil(10_000 / Math.floor((8 * MIB) / 10_013)));
});

/** Bodies of which each scan finds the documents of so many bytes at least. */
function scannedIn(limitBytes: number): LargeBodies & { readonly found: ScannedLines[] } {
  const found: ScannedLines[] = [];
  const lend: LargeBodies["lend"] = (body) => ({
    run: async (job) => {
      const { from, ...line } = job as Extract<BodyJob, { kind: "scan" }>;
      const lines = scanLines(body, line, from, limitBytes)!;
      found.push(lines);
      const shapes = new Float64Array(lines.ends.length).fill(found.length);
      return { ...lines, shapes, samples: new Map() } as never;
    },
    reclaim: async () => body,
    free: () => undefined,
  });
  return { smallBytes: 0, lend, found };
}

test("the columns of many scans become those of one, and others have the thread between them", async () => {
  const count = 50_000;
  const idOf = (n: number): string => "x".repeat(n % 7) + n;
  const documentOf = (n: number): string => `{"n":${n}}`;
  const lines = Array.from({ length: count }, (_, n) => `{"index":{"_id":"${idOf(n)}"}}\n${documentOf(n)}\n`);
  const body = Buffer.from(lines.join(""));
  const bodies = scannedIn(body.length / 4);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { run } = await readLargeRun(bodies, body, DEFAULTS, new AbortController().signal, () => true);
  isOver = true;
  const scans = bodies.found.length;
  assert.equal(scans, 4);
  assert.ok(turns >= 2 * scans - 1, `${turns} turns`);
  assert.ok(bodies.found.every(({ ends, keys }) => ends.length === 0 && keys!.ids.length === 0));
  const part = partOf({ ...run!.run, bytes: body }, 0, count);
  for (const [n, { id, write }] of [...itemsOf(run!, part)].entries())
    assert.deepEqual([id, textOf(write)], [idOf(n), documentOf(n)]);
  assert.deepEqual([part.shapes![0], part.shapes![count - 1]], [1, scans]);
});
