import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { systemClock } from "#proto/kit/clock.ts";
import { fill, setting as logSetting, messages, started } from "#test/harness/running-pipeline.ts";
import { exitingWorker } from "#test/support/pipeline/exiting-worker.ts";
import type { PipelineOptions } from "./pipeline-options.ts";

const LINES = 400;

const TO_BOTH = `output {
  elasticsearch { index => "lines" }
  file { path => "out.log" codec => line { format => "%{message}" } }
}`;

/** A pipeline over a log of `LINES` lines in messages of four. */
function setting(t: TestContext, text: string, options: Partial<PipelineOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-outputs-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const log = logSetting();
  fill(log.raw, LINES, 4);
  const definitions = [{ id: "main", files: [{ path: "p.conf", text }] }];
  const make = () =>
    started(t, log, {
      settings: { id: "main", pipelines: definitions, workers: 2, batchSize: 4, batchDelayMs: 1 },
      outputs: {
        folder,
        folders: [],
        checkTarget: () => undefined,
        bearer: () => Promise.reject(new Error("there is none")),
      },
      ...options,
    });
  const inFile = () => readFileSync(join(folder, "out.log"), "utf8").trimEnd().split("\n");
  return { folder, sink: log.sink, make, inFile };
}

/** Of a session that ends: how long nothing may arrive, and what a write under way gets at least. */
const STALL_MS = 5_000;
const SETTLING_MS = 9_000;

/** A service whose first answer takes until `answer` is called. */
async function slowPlace(t: TestContext) {
  const lines: unknown[] = [];
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let held: ServerResponse | undefined;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const events = (await json(request)) as { message: string }[];
    lines.push(...events.map(({ message }) => message));
    if (lines.length > events.length) response.end();
    else held = response;
    asked.resolve();
  };
  const server = createServer((request, response) => {
    take(request, response).catch(asked.reject);
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const answer = (): void => {
    held?.end(() => answered.resolve());
    held = undefined;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, lines, asked: asked.promise, answer, answered: answered.promise };
}

const ALL = Array.from({ length: LINES }, (_, n) => `line ${n}`);

test("two outputs have every event once although a thread is killed on the way", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-dying-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { script, mark } = exitingWorker(folder);
  const at = setting(t, TO_BOTH, { workerScript: script });
  const pipeline = await at.make();
  await at.sink.reached(LINES);
  await pipeline.stop();
  assert.ok(existsSync(mark), "a thread was killed");
  assert.deepEqual(messages(at.sink), ALL);
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
  // There is a folder where the file should be: the file can't be written until the folder is removed.
  const sleep: typeof systemClock.sleep = (ms, signal) =>
    systemClock.sleep(ms >= STALL_MS ? STALL_MS / 10 : ms, signal);
  const at = setting(t, TO_BOTH, { clock: { ...systemClock, sleep } });
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

test("a reload waits for the write that a slow output is at, so that nothing is written twice", async (t) => {
  const place = await slowPlace(t);
  // The session has seen nothing arrive for as long as it waits, and then settles the write under way.
  const clock: typeof systemClock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      if (ms > SETTLING_MS) place.answer();
      await systemClock.sleep(ms >= STALL_MS ? 1 : ms, signal);
      if (ms > SETTLING_MS) await place.answered;
    },
  };
  const text = `output { elasticsearch { } http { url => "${place.url}" format => "json_batch" } }`;
  const at = setting(t, text, { clock });
  const pipeline = await at.make();
  await place.asked;
  await pipeline.reload([{ id: "main", files: [{ path: "p.conf", text: `${text} # changed` }] }]);
  await at.sink.reached(LINES);
  await pipeline.stop();
  assert.deepEqual(place.lines, ALL);
});

test("a path that leads out of the folder becomes a dead letter that names the remedy", async (t) => {
  const at = setting(t, 'output { file { path => "/etc/tailrace-test/%{message}" } }');
  await at.make();
  await at.sink.reached(LINES);
  const { reason, plugin } = at.sink.letters[0]!;
  assert.match(reason, /may not write to \/etc\/tailrace-test\/line 0: .*pipeline\.output\.paths/);
  assert.equal(plugin, "file");
});
