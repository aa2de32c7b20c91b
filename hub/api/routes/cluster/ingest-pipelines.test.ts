import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { IngestPipelines } from "#hub/pipeline/ingest/ingest-pipelines.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { FakeHub } from "#test/support/api/fake-hub.ts";
import { clientOf } from "#test/support/api/http-client.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";

const ingest = new IngestPipelines(new MemoryBucket(), silentLogger());
const hub = new FakeHub();
const send = clientOf(() => hub.server.addresses.http);

before(async () => {
  await ingest.start();
  hub.ingest = ingest;
  await hub.start();
});
after(async () => {
  await hub.stop();
  await ingest.stop();
});

const MESSAGE = "field [f] not present as part of path [f]";
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
const TRIM = { processors: [{ trim: { field: "f", tag: "z" } }] };

const simulate = async (pipeline: object, source: object, path = "_simulate"): Promise<unknown> => {
  const { body } = await send("POST", `/_ingest/pipeline/${path}`, { pipeline, docs: [{ _source: source }] });
  return (body["docs"] as unknown as unknown[])[0];
};

test("a document that fails on trial has the error of one that is written", async () => {
  const { header, reason, type } = FAILURE;
  assert.deepEqual(await simulate(TRIM, {}), {
    error: { root_cause: [{ header, reason, type }], ...FAILURE },
  });
});

test("an item of a bulk whose document a processor can't work on has the status and the error of an index request", async () => {
  await send("PUT", "/_ingest/pipeline/trims", TRIM);
  const { body } = await send(
    "POST",
    "/_bulk?pipeline=trims",
    '{"index":{"_index":"a","_type":"_doc","_id":"1"}}\n{"g":1}\n',
  );
  const [item] = body["items"] as unknown as { index: object }[];
  assert.deepEqual(item!.index, { _index: "a", _type: "_doc", _id: "1", status: 500, error: FAILURE });
});

test("a trial that shows each step names the failure of the processor alone, and the document that was dropped", async () => {
  const processors = [{ fail: { message: "m", tag: "t", ignore_failure: true } }, { drop: {} }];
  const shown = (await simulate({ processors }, { g: 1 }, "_simulate?verbose")) as {
    processor_results: Record<string, { error?: unknown; _source?: unknown }>[];
  };
  const [first, second] = shown.processor_results;
  const error = { type: "fail_processor_exception", reason: "m" };
  assert.deepEqual(first!["ignored_error"]!.error, { root_cause: [error], ...error });
  assert.deepEqual(second!["doc"]!._source, { g: 1 });
});
