import assert from "node:assert/strict";
import { test } from "node:test";
import type { PipelineFile } from "#hub/pipeline/language/pipeline-definition.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { fill, setting, started } from "#test/harness/running-pipeline.ts";
import type { PipelineSettings } from "./pipeline-options.ts";

const CONFIGURED = [
  {
    path: "a.conf",
    text: 'filter { grok { match => { "message" => "line %{NUMBER:n:int}" } } if [n] == 3 { drop { } } }',
  },
  { path: "b.conf", text: 'output { elasticsearch { index => "n-%{+yyyy}" document_id => "id-%{n}" } }' },
];

/** Settings of one pipeline made of `files`. */
function settingsOf(files: readonly PipelineFile[], batchSize: number): PipelineSettings {
  return { id: "main", workers: 1, batchSize, batchDelayMs: 1, pipelines: [{ id: "main", files }] };
}

test("a configured pipeline runs its filters and routes to its output", async (t) => {
  const at = setting();
  fill(at.raw, 10, 5);
  const settings = settingsOf(CONFIGURED, 125);
  await started(t, at, { settings });
  await at.sink.reached(9);
  assert.deepEqual(
    at.sink.documents.map(({ id, index, source }) => [id, index, source["n"]]),
    [0, 1, 2, 4, 5, 6, 7, 8, 9].map((n) => [`id-${n}`, "n-2024", n]),
  );
});

test("a reload goes on with the new files and loses nothing; files with faults change nothing", async (t) => {
  const at = setting();
  fill(at.raw, 5, 1);
  const settings = settingsOf(CONFIGURED, 1);
  const pipeline = await started(t, at, { settings });
  await at.sink.reached(4);
  await assert.rejects(
    pipeline.reload([{ id: "main", files: [{ path: "c.conf", text: "filter { grok = }" }] }]),
    /c\.conf:1:15: error/,
  );
  await pipeline.reload([
    { id: "main", files: [{ path: "c.conf", text: 'filter { mutate { add_tag => "new" } }' }] },
  ]);
  at.raw.append({ text: "line 5\nline 6\n", from: 1000 });
  await at.sink.reached(6);
  assert.deepEqual(
    at.sink.documents.map(({ source }) => source["tags"]),
    [undefined, undefined, undefined, undefined, ["new"], ["new"]],
  );
});

test("an expression that doesn't end costs one event a tag, not the pipeline its thread", async (t) => {
  const at = setting();
  at.raw.append({ text: `fine\n${"a".repeat(40)}b\nfine\n` });
  const text =
    'filter { grok { match => { "message" => "^(?:a+)+$" } timeout_millis => 50 tag_on_failure => [] } }';
  const settings = settingsOf([{ path: "a.conf", text }], 1);
  await started(t, at, { settings });
  await at.sink.reached(3);
  assert.deepEqual(
    at.sink.documents.map(({ source }) => source["tags"]),
    [undefined, ["_groktimeout"], undefined],
  );
});

test("an option without effect is logged once at the start, with file, line and reason", async (t) => {
  const logged: unknown[] = [];
  const log = Object.assign(silentLogger(), {
    warn: (_: unknown, message: unknown) => void logged.push(message),
  });
  const text = 'filter {\n  useragent { source => "a" regexes => "/x" }\n}';
  const settings = settingsOf([{ path: "a.conf", text }], 1);
  await started(t, setting(), { settings, log });
  assert.deepEqual(logged, [
    'a.conf:2: filter useragent: "regexes" has no effect: what is known is built in; filter grok reads others',
  ]);
});

test("an id that no UTF-8 can hold makes a dead letter of its event, and the rest goes on", async (t) => {
  const at = setting();
  at.raw.append({ text: '{"id":"half-\\ud800"}\n{"id":"whole"}\n' });
  const text = 'filter { json { source => "message" } } output { elasticsearch { document_id => "%{id}" } }';
  await started(t, at, { settings: settingsOf([{ path: "a.conf", text }], 1) });
  await at.sink.reached(2);
  assert.deepEqual(
    at.sink.documents.map(({ id }) => id),
    ["whole"],
  );
  assert.match(at.sink.letters[0]!.reason, /half a surrogate pair/);
});
