import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { IngestPipelines } from "#hub/api/ports/pipelines.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";

const MESSAGE = "field [f] not present as part of path [f]";
const FAILED = {
  message: MESSAGE,
  fault: { processorType: "trim", processorTag: "z", javaClass: "java.lang.IllegalArgumentException" },
};
/** Pipelines that every document fails in. */
const ingest = {
  all: () => new Map([["trims", {}]]),
  run: (items: readonly unknown[]) => Promise.resolve(items.map(() => ({ kind: "failed", ...FAILED }))),
  simulate: () => Promise.resolve([{ failed: FAILED }]),
} as unknown as IngestPipelines;
const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  hub.ingest = ingest;
  await hub.start();
});
after(() => hub.stop());

const INNER = { type: "illegal_argument_exception", reason: MESSAGE };
const WRAPPED = {
  type: "illegal_argument_exception",
  reason: `java.lang.IllegalArgumentException: ${MESSAGE}`,
  caused_by: INNER,
};
/** As the 6.5.4 server answers for a document that a processor can't work on. */
const FAILURE = {
  type: "exception",
  reason: `java.lang.IllegalArgumentException: java.lang.IllegalArgumentException: ${MESSAGE}`,
  header: { processor_type: "trim", processor_tag: "z" },
  caused_by: WRAPPED,
};
test("a document that fails on trial has the error of one that is written", async () => {
  const { header, reason, type } = FAILURE;
  const trial = { pipeline: { processors: [] }, docs: [{ _source: {} }] };
  const { body } = await send("POST", "/_ingest/pipeline/_simulate", trial);
  assert.deepEqual(body["docs"], [{ error: { root_cause: [{ header, reason, type }], ...FAILURE } }]);
});

test("a step that failed on trial keeps what is known about it", async (t) => {
  t.mock.method(ingest, "simulate", () =>
    Promise.resolve([{ processor_results: [{ tag: "z", failed: FAILED }] }]),
  );
  const trial = { pipeline: { processors: [] }, docs: [{ _source: {} }] };
  const { body } = await send("POST", "/_ingest/pipeline/_simulate?verbose=true", trial);
  const [doc] = body["docs"] as unknown as {
    processor_results: { tag: string; error: { type: string } }[];
  }[];
  assert.deepEqual(
    doc!.processor_results.map(({ tag, error }) => [tag, error.type]),
    [["z", "exception"]],
  );
});

test("an item of a bulk whose document a processor can't work on has the status and the error of an index request", async () => {
  const { body } = await send(
    "POST",
    "/_bulk?pipeline=trims",
    '{"index":{"_index":"a","_type":"_doc","_id":"1"}}\n{"g":1}\n',
  );
  const [item] = body["items"] as unknown as { index: object }[];
  assert.deepEqual(item!.index, { _index: "a", _type: "_doc", _id: "1", status: 500, error: FAILURE });
});

test("from 7 on a document that a processor can't work on has the error that the processor threw", async () => {
  const type = "application/vnd.elasticsearch+json; compatible-with=7";
  const line = '{"index":{"_index":"a","_id":"1"}}\n{"g":1}\n';
  const { body } = await send("POST", "/_bulk?pipeline=trims", line, { accept: type, "content-type": type });
  const [item] = body["items"] as unknown as { index: { status: number; error: object } }[];
  assert.deepEqual([item!.index.status, item!.index.error], [400, INNER]);
});
