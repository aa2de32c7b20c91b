import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#proto/kit/memory-bucket.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { FoldingSink, MemoryRaw } from "#test/harness/pipeline-log.ts";
import { Pipeline, type PipelineOptions } from "./pipeline.ts";

const DYING_WORKER = new URL("../../../test/fixtures/dying-pipeline-worker.ts", import.meta.url);
const LINES = 400;

const TO_BOTH = `output {
  elasticsearch { index => "lines" }
  file { path => "out.log" codec => line { format => "%{message}" } }
}`;

/** A pipeline over a log of `LINES` lines in messages of four. */
function setting(t: TestContext, text: string, options: Partial<PipelineOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-outputs-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [raw, sink, cursors] = [new MemoryRaw(), new FoldingSink(), new MemoryBucket()];
  let from = 0;
  for (let at = 0; at < LINES; at += 4) {
    const block = Array.from({ length: 4 }, (_, n) => `line ${at + n}\n`).join("");
    raw.append({ text: block, from });
    from += block.length;
  }
  const definitions = [{ id: "main", files: [{ path: "p.conf", text }] }];
  const make = async () => {
    const pipeline = new Pipeline({
      settings: { id: "main", pipelines: definitions, workers: 2, batchSize: 4, batchDelayMs: 1 },
      source: raw,
      sink,
      deadLetters: sink.deadLetters,
      cursors,
      hub: "hub-1",
      log: silentLogger(),
      metrics: new Metrics(),
      outputs: {
        folder,
        folders: [],
        checkTarget: () => undefined,
        bearer: () => Promise.reject(new Error("there is none")),
      },
      ...options,
    });
    t.after(() => pipeline.stop());
    await pipeline.start();
    return pipeline;
  };
  const inFile = () => readFileSync(join(folder, "out.log"), "utf8").trimEnd().split("\n");
  return { folder, sink, make, inFile, definitions };
}

const ALL = Array.from({ length: LINES }, (_, n) => `line ${n}`);

test("two outputs have every event once although a thread is killed on the way", async (t) => {
  const at = setting(t, TO_BOTH, { workerScript: DYING_WORKER });
  const mark = join(at.folder, "died");
  process.env["TAILRACE_DYING"] = mark;
  const pipeline = await at.make();
  await at.sink.reached(LINES);
  await pipeline.stop();
  assert.ok(existsSync(mark), "a thread was killed");
  assert.deepEqual(
    at.sink.documents.map(({ source }) => source["message"]),
    ALL,
  );
  assert.deepEqual(at.inFile(), ALL);
});

test("a compressed file holds every event once", async (t) => {
  const { sink, make, folder } = setting(t, TO_BOTH.replace("codec", "gzip => true codec"));
  const pipeline = await make();
  await sink.reached(LINES);
  await pipeline.stop();
  const text = gunzipSync(readFileSync(join(folder, "out.log"))).toString();
  assert.deepEqual(text.trimEnd().split("\n"), ALL);
});

test("a cursor waits for a blocked output, and a reload doesn't", async (t) => {
  // A folder stands where the file should be: it can't be written until it is gone.
  const at = setting(t, TO_BOTH);
  mkdirSync(join(at.folder, "out.log"));
  const pipeline = await at.make();
  await at.sink.reached(4);
  assert.equal(pipeline.floor.sequence, 0);
  const text = TO_BOTH.replace("elasticsearch", 'file { path => "other.log" } elasticsearch');
  await pipeline.reload([{ id: "main", files: [{ path: "p.conf", text }] }]);
  rmdirSync(join(at.folder, "out.log"));
  await at.sink.reached(LINES);
  await pipeline.stop();
  assert.deepEqual(at.inFile(), ALL);
  assert.equal(at.sink.documents.length, LINES);
});

test("a path that leads out of the folder becomes a dead letter that names the remedy", async (t) => {
  const at = setting(t, 'output { file { path => "/etc/tailrace-test/%{message}" } }');
  await at.make();
  await at.sink.reached(LINES);
  const { reason, plugin } = at.sink.letters[0]!;
  assert.match(reason, /may not write to \/etc\/tailrace-test\/line 0: .*pipeline\.output\.paths/);
  assert.equal(plugin, "file");
});
