import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { documentShapes } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { until } from "#test/harness/until.ts";
import { encodeAppends, extentsOf } from "./append-encoder.ts";
import { scanLines } from "./body-lines.ts";
import { BodyThreads, type BodyThreadsOptions } from "./body-threads.ts";

const LINE = '{"index":{}}\n';
const SIGNAL = new AbortController().signal;

function threadsOf(t: TestContext, options: Partial<BodyThreadsOptions> = {}) {
  const metrics = new Metrics();
  const threads = new BodyThreads({ log: silentLogger(), metrics, count: 1, ...options });
  t.after(() => threads.stop());
  return { threads, metrics };
}

function bodyOf(documents: readonly string[]): Buffer {
  return ownMemory(documents.map((document) => `${LINE}${document}\n`).join(""));
}

/** As large bodies have it; small buffers share one. */
function ownMemory(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** A thread that does `what` with each request but bodies. */
function scriptOf(what: string): URL {
  const code = `import { parentPort } from "node:worker_threads";
    parentPort.on("message", (request) => { if (request.kind !== "lend" && request.kind !== "free") { ${what} } });`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

test("a thread finds the documents, shapes and samples that this thread would find, and packs the same messages", async (t) => {
  const { threads } = threadsOf(t);
  const body = bodyOf(
    Array.from({ length: 2_000 }, (_, n) => (n % 3 === 0 ? `{"n":${n}}` : `{"t":"é ${n}"}`)),
  );
  const copy = Buffer.from(body);
  const start = LINE.length;
  const { ends } = scanLines(copy, { lineBytes: start }, 0)!;
  const run = { bytes: copy, start, ends, gap: 1 + start };
  const shapes = documentShapes(extentsOf(run), ends.length, threadKernel());

  const lent = threads.lend(body);
  assert.equal(body.length, 0);
  const found = (await lent.run({ kind: "scan", lineBytes: start, from: 0 }, SIGNAL))!;
  assert.deepEqual([found.ends, found.shapes, found.next], [ends, shapes, copy.length]);
  const samples = [...found.samples].map(([shape, bytes]) => [shape, Buffer.from(bytes).toString()]);
  assert.deepEqual(samples, [
    [shapes[0], '{"n":0}'],
    [shapes[1], '{"t":"é 1"}'],
  ]);

  const ids = Buffer.from(Array.from({ length: ends.length }, (_, n) => `${n}`.padStart(20, "-")).join(""));
  const messages = [
    { head: Uint8Array.of(1, 2), first: 0, count: 1_500 },
    { head: Uint8Array.of(3), first: 1_500, count: 500 },
  ];
  const columns = { start, ends, gap: 1 + start, ids: new Uint8Array(ids) };
  const packed = await lent.run({ kind: "pack", ...columns, messages, areBlocksKnown: true }, SIGNAL);
  const expected = messages.map(({ head, first, count }) => {
    const places = Uint32Array.from({ length: count }, (_, nth) => first + nth);
    return Buffer.from(encodeAppends(head, { ...run, ids, indexNames: [] }, places));
  });
  assert.deepEqual(
    packed.map((bytes) => Buffer.from(bytes)),
    expected,
  );
  assert.deepEqual(await lent.reclaim(SIGNAL), copy);
});

test("a large body is looked through in parts", async (t) => {
  const { threads } = threadsOf(t);
  const body = bodyOf(Array.from({ length: 10 }, (_, n) => `{"n":"${"x".repeat(3 * 1024 ** 2)}${n}"}`));
  const whole = scanLines(body, { lineBytes: LINE.length }, 0)!;
  const { length } = body;
  const lent = threads.lend(body);
  const ends: number[] = [];
  let parts = 0;
  for (let from = 0; from < length; parts++) {
    const found = (await lent.run({ kind: "scan", lineBytes: LINE.length, from }, SIGNAL))!;
    ends.push(...found.ends);
    from = found.next;
  }
  assert.deepEqual([ends, parts], [[...whole.ends], 4]);
  lent.free();
});

test("a body whose lines differ is no run", async (t) => {
  const { threads } = threadsOf(t);
  // A small buffer shares its memory with others, which keep it.
  const body = Buffer.from(`${LINE}{}\n{"create":{}}\n{}\n`);
  const lent = threads.lend(body);
  assert.equal(await lent.run({ kind: "scan", lineBytes: LINE.length, from: 0 }, SIGNAL), null);
  lent.free();
});

test("a thread that dies fails the requests of its bodies, and the next body gets another one", async (t) => {
  const script = scriptOf('throw new Error("boom")');
  const { threads, metrics } = threadsOf(t, { script });
  const lent = [threads.lend(bodyOf(["{}"])), threads.lend(bodyOf(["{}"]))];
  const job = { kind: "scan", lineBytes: LINE.length, from: 0 } as const;
  const failed = await Promise.allSettled(lent.map((body) => body.run(job, SIGNAL)));
  for (const each of failed) {
    assert.equal(each.status, "rejected");
    const { code, status, message } = each.reason as AppError;
    assert.deepEqual([code, status], ["unavailable", 503]);
    assert.match(message, /the request's body was lost: boom; send the request again/);
  }
  await assert.rejects(lent[0]!.reclaim(SIGNAL), { code: "unavailable" });
  for (const body of lent) body.free();
  assert.match(await metrics.text(), /tailrace_bodies_threads_lost_total 1\n/);
  const next = threads.lend(bodyOf(["{}"]));
  await assert.rejects(next.run(job, SIGNAL), { code: "unavailable" });
  assert.match(await metrics.text(), /tailrace_bodies_threads_lost_total 2\n/);
});

test("a job isn't begun once its client has left", async (t) => {
  const script = scriptOf("parentPort.postMessage({ result: null })");
  const { threads } = threadsOf(t, { script });
  const job = { kind: "scan", lineBytes: LINE.length, from: 0 } as const;
  const [first, second] = [threads.lend(bodyOf(["{}"])), threads.lend(bodyOf(["{}"]))];
  const running = first.run(job, SIGNAL);
  const client = new AbortController();
  const waiting = second.run(job, client.signal);
  client.abort();
  await assert.rejects(waiting, { code: "cancelled" });
  assert.equal(await running, null);
  await assert.rejects(second.run(job, client.signal), { code: "cancelled" });
  const late = new AbortController();
  late.abort(new DOMException("late", "TimeoutError"));
  await assert.rejects(second.run(job, late.signal), { code: "timeout" });
});

test("a body that was given back to a client that has left leaves the job of another alone", async (t) => {
  const { threads } = threadsOf(t);
  const job = { kind: "scan", lineBytes: LINE.length, from: 0 } as const;
  const [left, other] = [threads.lend(bodyOf(["{}"])), threads.lend(bodyOf(["{}"]))];
  const client = new AbortController();
  const reclaimed = left.reclaim(client.signal);
  client.abort();
  left.free();
  const found = other.run(job, SIGNAL);
  await assert.rejects(reclaimed, { code: "cancelled" });
  assert.equal((await found)?.ends.length, 1);
  assert.equal((await other.reclaim(SIGNAL)).toString(), `${LINE}{}\n`);
});

test("a thread without bodies ends, and with the hub all do", async (t) => {
  const { threads, metrics } = threadsOf(t, { idleMs: 1 });
  const running = async (): Promise<string | undefined> =>
    /tailrace_bodies_threads (\d)/.exec(await metrics.text())?.[1];
  const first = threads.lend(bodyOf(["{}"]));
  assert.equal(await running(), "1");
  first.free();
  await until("the thread ends", async () => (await running()) === "0");
  const lent = threads.lend(bodyOf(["{}"]));
  assert.equal(await running(), "1");
  const waiting = lent.run({ kind: "scan", lineBytes: LINE.length, from: 0 }, SIGNAL);
  await Promise.all([threads.stop(), assert.rejects(waiting, { code: "closed" })]);
  assert.throws(() => threads.lend(bodyOf(["{}"])), { code: "closed" });
  assert.match(await metrics.text(), /tailrace_bodies_threads_lost_total 0\n/);
});
