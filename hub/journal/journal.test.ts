import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, test } from "node:test";
import { MIB } from "#proto/kit/units.ts";
import { START } from "#proto/position.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { until } from "#test/harness/until.ts";
import { at, bytes, range, text, useJournal } from "#test/support/journal/test-journal.ts";

const world = useJournal();
const { reopen, newJournal, publishNumbers, readUntil, readNumbers, readAll, removeConsumers, root } = world;

describe("publishing and reading", () => {
  test("messages are read in order with subject, id, position, time and headers", async () => {
    await publishNumbers(1, 20);
    await world.journal.publish("raw.2.agent", bytes("21"), { messageId: "m/21", headers: { Kind: "a" } });
    const messages = await readUntil(RAW_STREAM, START, ({ length }) => length === 21);
    assert.deepEqual(
      messages.map(({ data }) => Number(text(data))),
      range(1, 21),
    );
    const { subject, messageId, position, timeMs, header } = messages[20]!;
    assert.deepEqual([subject, messageId, position], ["raw.2.agent", "m/21", at(1, 21)]);
    assert.deepEqual([header("Kind"), header("None")], ["a", ""]);
    assert.ok(Math.abs(Date.now() - timeMs) < 60_000);
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 18), 3), [19, 20, 21]);
    assert.equal((await world.journal.message(RAW_STREAM, 21))?.messageId, "m/21");
    assert.equal(await world.journal.message(RAW_STREAM, 22), null);
  });

  test("messages of all sizes, published concurrently, are stored and read unchanged", async () => {
    const sizes = [1, 65_535, 65_536, 65_537, 3 * MIB, 10, 10, 0, 7 * MIB, 100_000, 500_000, 12];
    const messages = sizes.map((size, number) => {
      const seed = createHash("sha256").update(`message ${number}`).digest();
      return Buffer.alloc(size, seed);
    });
    const subject = "doc.1.0f8fad5bd9cb469fa165708674289590.0";
    const stored = await Promise.all(messages.map((data) => world.journal.publish(subject, data)));
    const read = await readUntil(DOC_STREAM, START, ({ length }) => length === sizes.length);
    for (const [number, { sequence }] of stored.entries()) {
      const found = await world.journal.message(DOC_STREAM, sequence);
      assert.ok(Buffer.from(found!.data).equals(messages[number]!), `message ${number}, by sequence`);
      const { data } = read.find(({ position }) => position.sequence === sequence)!;
      assert.ok(Buffer.from(data).equals(messages[number]!), `message ${number}, by reading`);
    }
  });

  test("a reader that has everything gets the next message immediately", async () => {
    await publishNumbers(1, 3);
    const reading = readNumbers(RAW_STREAM, at(1, 3), 2);
    await publishNumbers(4, 5);
    assert.deepEqual(await reading, [4, 5]);
  });

  test("a message id is stored once and answered with the first one's sequence", async () => {
    const first = await world.journal.publish("raw.1.a", bytes("x"), { messageId: "same" });
    const second = await world.journal.publish("raw.1.a", bytes("x"), { messageId: "same" });
    assert.deepEqual([first.duplicate, second.duplicate, second.sequence], [false, true, first.sequence]);
  });

  test("an expectation of the subject's last sequence that doesn't hold is a conflict", async () => {
    const { sequence } = await world.journal.publish("doc.1.x.0", bytes("1"), {
      expectLastSubjectSequence: 0,
    });
    await world.journal.publish("doc.1.y.0", bytes("1"));
    await world.journal.publish("doc.1.x.0", bytes("2"), { expectLastSubjectSequence: sequence });
    const stale = world.journal.publish("doc.1.x.0", bytes("3"), { expectLastSubjectSequence: sequence });
    await assert.rejects(stale, { code: "journal_conflict" });
  });

  test("a message of the largest size passes and a larger one is refused", async () => {
    const data = Buffer.alloc(world.journal.maxMessageBytes, 1);
    await world.journal.publish("raw.1.a", data, { messageId: "large" });
    const [message] = await readUntil(RAW_STREAM, START, () => true);
    assert.ok(message!.data.length === data.length && message!.data[0] === 1);
    const tooLarge = world.journal.publish("raw.1.a", Buffer.alloc(world.journal.maxMessageBytes + 1));
    await assert.rejects(tooLarge, { code: "request_too_large" });
  });

  test("messages larger than the read-ahead arrive between small ones, in order", async () => {
    const sizes = [10, 3 * MIB, 20, 5 * MIB, 5 * MIB, 30, MIB, 40];
    for (const size of sizes) await world.journal.publish("raw.1.a", Buffer.alloc(size));
    const stop = new AbortController();
    const got: number[] = [];
    for await (const { data } of world.journal.read(RAW_STREAM, {
      after: START,
      signal: stop.signal,
      aheadBytes: 2 * MIB,
    })) {
      got.push(data.length);
      if (got.length === sizes.length) stop.abort();
    }
    assert.deepEqual(got, sizes);
  });

  test("a filter leaves other subjects out, and the reader's position still moves over them", async () => {
    for (const number of range(1, 30)) await world.journal.publish(`raw.${number % 3}.a`, bytes(`${number}`));
    assert.deepEqual(
      await readNumbers(RAW_STREAM, START, 10, "raw.1.*"),
      range(0, 9).map((index) => 3 * index + 1),
    );
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 7), 2, "raw.1.*"), [10, 13]);
  });

  test("a filtered reader that waits moves over the rest, so that what it has passed may be purged", async () => {
    await reopen({ pollMs: 50 });
    for (const number of range(1, 9)) await world.journal.publish(`raw.${number % 3}.a`, bytes(`${number}`));
    const stop = new AbortController();
    const reader = world.journal.read(RAW_STREAM, { after: START, signal: stop.signal, filter: "raw.1.*" });
    const messages = reader[Symbol.asyncIterator]();
    for (const expected of [1, 4, 7]) assert.equal(text((await messages.next()).value!.data), `${expected}`);
    assert.deepEqual(reader.position, at(1, 7));
    const waiting = messages.next();
    await until("the reader has passed the last message", () => reader.position.sequence === 9);
    await world.journal.purge(RAW_STREAM, at(1, 10));
    await world.journal.publish("raw.1.a", bytes("10"));
    assert.equal(text((await waiting).value!.data), "10");
    stop.abort();
    await messages.return?.();
  });

  test("a reader whose consumer the server has forgotten makes another one and misses nothing", async () => {
    await publishNumbers(1, 3);
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const reading = readUntil(RAW_STREAM, START, ({ length }) => {
      if (length === 3) resolve();
      return length === 6;
    });
    await started;
    await removeConsumers(RAW_STREAM);
    await publishNumbers(4, 6);
    assert.deepEqual(
      (await reading).map(({ data }) => Number(text(data))),
      range(1, 6),
    );
  });

  test("many concurrent readers and publishers all get every message", async () => {
    const readings = range(1, 5).map(() => readNumbers(DOC_STREAM, START, 500));
    const publishers = range(0, 4).map((lane) =>
      publishNumbers(100 * lane + 1, 100 * lane + 100, `doc.${lane}.x.0`),
    );
    await Promise.all(publishers);
    const results = await Promise.all(readings);
    for (const numbers of results) {
      assert.deepEqual(numbers, results[0]);
      assert.deepEqual(
        [...numbers].sort((a, b) => a - b),
        range(1, 500),
      );
    }
  });

  test("reading ends when it is aborted and when the journal stops", async () => {
    const stop = new AbortController();
    const aborted = readAll(stop.signal);
    stop.abort();
    assert.deepEqual(await aborted, []);
    const stopped = readAll(new AbortController().signal);
    await world.journal.publish("raw.1.a", bytes("1"));
    await world.journal.stop();
    assert.ok((await stopped).length <= 1);
    await assert.rejects(world.journal.publish("raw.1.a", bytes("2")), { code: "closed" });
  });
});

describe("dead letters", () => {
  test("are kept with reason and origin, once per origin, and read in pages", async () => {
    const origin = { stream: RAW_STREAM, position: at(1, 7) };
    const letter = {
      source: "main",
      reason: "filter grok failed: größer\nthan ever",
      origin,
      data: bytes("line"),
    };
    await world.journal.deadLetter(letter);
    await world.journal.deadLetter(letter);
    await world.journal.deadLetter({ ...letter, reason: "second event" }, 1);
    await world.journal.deadLetter({ source: "http", reason: "no origin", data: bytes("x") });
    const [first, ...others] = await world.journal.deadLetters(START, 10);
    assert.deepEqual(
      { ...first, data: text(first!.data), timeMs: 0 },
      { ...letter, data: "line", position: at(1, 1), timeMs: 0, originalBytes: 4 },
    );
    assert.deepEqual(
      others.map(({ reason }) => reason),
      ["second event", "no origin"],
    );
    assert.deepEqual(
      (await world.journal.deadLetters(at(1, 1), 1)).map(({ reason }) => reason),
      ["second event"],
    );
    assert.deepEqual(await world.journal.deadLetters(at(1, 3), 10), []);
    await world.journal.purge(DEAD_LETTER_STREAM, at(1, 3));
    assert.deepEqual(
      (await world.journal.deadLetters(at(1, 1), 10)).map(({ reason }) => reason),
      ["no origin"],
    );
  });

  test("one that is longer than a message is cut and marked", async () => {
    const data = Buffer.alloc(world.journal.maxMessageBytes, 1);
    await world.journal.deadLetter({ source: "main", reason: "long", data });
    const [letter] = await world.journal.deadLetters(START, 1);
    assert.equal(letter!.originalBytes, data.length);
    assert.ok(letter!.data.length < data.length);
  });
});

describe("core messages", () => {
  test("requests are answered, and without a responder they fail immediately", async () => {
    const end = world.journal.core.serve("agent.*.hello", async ({ subject, data }) =>
      bytes(`${subject}:${text(data)}`),
    );
    const answer = await world.journal.core.request("agent.a.hello", bytes("hi"), { timeoutMs: 2_000 });
    assert.equal(text(answer), "agent.a.hello:hi");
    end();
    await assert.rejects(world.journal.core.request("agent.a.hello", bytes("hi"), { timeoutMs: 2_000 }), {
      code: "unavailable",
    });
  });

  test("a request whose answer fails runs into its time limit", async () => {
    world.journal.core.serve("fails", () => Promise.reject(new Error("no")));
    await assert.rejects(world.journal.core.request("fails", bytes(""), { timeoutMs: 50 }), {
      code: "timeout",
    });
  });

  test("each request gets its own answer; one that is cancelled ends at once, others when the hub stops", async () => {
    const { core } = world.journal;
    core.serve("echo", ({ data }) => Promise.resolve(data));
    const reached = Promise.withResolvers<void>();
    core.serve("silent", () => {
      reached.resolve();
      return new Promise(() => undefined);
    });
    const answers = range(1, 50).map((number) =>
      core.request("echo", bytes(`${number}`), { timeoutMs: 5_000 }),
    );
    assert.deepEqual((await Promise.all(answers)).map(text).map(Number), range(1, 50));
    const abort = new AbortController();
    const cancelled = core.request("silent", bytes(""), { timeoutMs: 60_000, signal: abort.signal });
    const left = core.request("silent", bytes(""), { timeoutMs: 60_000 });
    await reached.promise;
    abort.abort();
    await assert.rejects(cancelled, { code: "cancelled" });
    const ended = assert.rejects(left, { code: "unavailable" });
    await world.journal.stop();
    await ended;
    await reopen({});
  });

  test("subscriptions live on when the server is started again, and a thrown error doesn't end them", async () => {
    const got: string[] = [];
    let { promise: next, resolve } = Promise.withResolvers<void>();
    world.journal.core.subscribe("agent.*.status", ({ data }) => {
      got.push(text(data));
      resolve();
      throw new Error("handler");
    });
    world.journal.core.publish("agent.a.status", bytes("1"));
    await next;
    ({ promise: next, resolve } = Promise.withResolvers<void>());
    const { promise: restored, resolve: onRestored } = Promise.withResolvers<void>();
    world.journal.onConnection((event) => event === "restored" && onRestored());
    process.kill(world.journal.server.pid!, "SIGKILL");
    await restored;
    world.journal.core.publish("agent.a.status", bytes("2"));
    await next;
    assert.deepEqual(got, ["1", "2"]);
  });
});

describe("an existing NATS", () => {
  test("is used with its token, and streams survive the hub", async () => {
    await publishNumbers(1, 3);
    const { url, token } = world.journal.server.address;
    const other = newJournal({ dataDir: join(root, "unused"), external: { servers: [url], token } });
    await other.start();
    try {
      assert.equal((await other.state(RAW_STREAM)).lastSequence, 3);
      assert.deepEqual(other.server.address, { url, token, tokenFile: "" });
    } finally {
      await other.stop();
    }
  });

  test("that refuses the token is an error that names the token", async () => {
    const other = newJournal({ external: { servers: [world.journal.server.address.url], token: "wrong" } });
    await assert.rejects(other.start(), { code: "nats_refused", message: /nats\.token/ });
    await other.stop();
  });
});
