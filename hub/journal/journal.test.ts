import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, beforeEach, describe, test } from "node:test";
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { type Position, START } from "#proto/position.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { until } from "#test/harness/until.ts";
import { Journal, type JournalOptions } from "./journal.ts";
import type { JournalMessage } from "./reader.ts";

const MIB = 1024 ** 2;
const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (data: Uint8Array): string => Buffer.from(data).toString();
const at = (incarnation: number, sequence: number): Position => ({ incarnation, sequence });
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const root = mkdtempSync(join(tmpdir(), "tailrace-journal-"));
after(() => rmSync(root, { recursive: true, force: true }));

let dataDir = "";
let metrics = new Metrics();
let journal: Journal;

function newJournal(options: Partial<JournalOptions> = {}): Journal {
  metrics = new Metrics();
  const common = {
    dataDir,
    host: "127.0.0.1",
    port: 0,
    name: "test",
    log: silentLogger(),
    metrics,
    maxBytes: 64 * MIB,
  };
  return new Journal({ ...common, ...options });
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(root, "data-"));
  journal = newJournal();
  await journal.start();
});
afterEach(() => journal.stop());

/** Stops the journal, lets `change` have the files, and starts another one on them. */
async function restart(change: (natsDir: string) => void = () => undefined): Promise<void> {
  await journal.stop();
  change(join(dataDir, "nats"));
  journal = newJournal();
  await journal.start();
}

/** Publishes `from`..`to`, each as its own decimal text. */
async function publishNumbers(from: number, to: number, subject = "raw.1.agent"): Promise<void> {
  for (const number of range(from, to))
    await journal.publish(subject, bytes(`${number}`), { messageId: `${number}` });
}

/** Reads messages until `enough` says so. */
async function readUntil(
  stream: string,
  from: Position,
  enough: (messages: readonly JournalMessage[]) => boolean,
  filter?: string,
): Promise<JournalMessage[]> {
  const messages: JournalMessage[] = [];
  const stop = new AbortController();
  const options = { after: from, signal: stop.signal, ...(filter === undefined ? {} : { filter }) };
  for await (const message of journal.read(stream, options)) {
    messages.push(message);
    if (enough(messages)) stop.abort();
  }
  return messages;
}

async function readNumbers(
  stream: string,
  from: Position,
  count: number,
  filter?: string,
): Promise<number[]> {
  const messages = await readUntil(stream, from, ({ length }) => length === count, filter);
  return messages.map(({ data }) => Number(text(data)));
}

/** As the hub's shards read DOC: what this process stores comes from memory. */
async function readOwn(count: number): Promise<JournalMessage[]> {
  const messages: JournalMessage[] = [];
  const stop = new AbortController();
  const options = { after: START, signal: stop.signal, ownFromMemory: true };
  for await (const message of journal.read(DOC_STREAM, options))
    if (messages.push(message) === count) stop.abort();
  return messages;
}

async function readAll(signal: AbortSignal): Promise<JournalMessage[]> {
  const messages: JournalMessage[] = [];
  for await (const message of journal.read(RAW_STREAM, { after: START, signal })) messages.push(message);
  return messages;
}

/** Lets `act` do to the server what the journal itself never does. */
async function meddle(
  act: (manager: JetStreamManager, nats: NatsConnection) => Promise<unknown>,
): Promise<void> {
  const { url, token } = journal.server.address;
  const nats = await connect({ servers: url, token });
  await act(await jetstreamManager(nats), nats);
  await nats.close();
}

/** Removes a message from the middle, as damage to the files would. */
function removeMessage(stream: string, sequence: number): Promise<void> {
  return meddle((manager) => manager.streams.deleteMessage(stream, sequence));
}

function removeConsumers(stream: string): Promise<void> {
  return meddle(async ({ consumers }) => {
    for await (const { name } of consumers.list(stream)) await consumers.delete(stream, name);
  });
}

async function metric(name: string): Promise<string> {
  const lines = (await metrics.text()).split("\n").filter((line) => line.startsWith(name));
  return lines.join("\n");
}

describe("publishing and reading", () => {
  test("messages are read in order with subject, id, position, time and headers", async () => {
    await publishNumbers(1, 20);
    await journal.publish("raw.2.agent", bytes("21"), { messageId: "m/21", headers: { Kind: "a" } });
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
    assert.equal((await journal.message(RAW_STREAM, 21))?.messageId, "m/21");
    assert.equal(await journal.message(RAW_STREAM, 22), null);
  });

  test("a reader that has everything gets what comes next at once", async () => {
    await publishNumbers(1, 3);
    const reading = readNumbers(RAW_STREAM, at(1, 3), 2);
    await publishNumbers(4, 5);
    assert.deepEqual(await reading, [4, 5]);
  });

  test("a message id is stored once and answered with the first one's sequence", async () => {
    const first = await journal.publish("raw.1.a", bytes("x"), { messageId: "same" });
    const second = await journal.publish("raw.1.a", bytes("x"), { messageId: "same" });
    assert.deepEqual([first.duplicate, second.duplicate, second.sequence], [false, true, first.sequence]);
  });

  test("an expectation of the subject's last sequence that doesn't hold is a conflict", async () => {
    const { sequence } = await journal.publish("doc.1.x.0", bytes("1"), { expectLastSubjectSequence: 0 });
    await journal.publish("doc.1.y.0", bytes("1"));
    await journal.publish("doc.1.x.0", bytes("2"), { expectLastSubjectSequence: sequence });
    const stale = journal.publish("doc.1.x.0", bytes("3"), { expectLastSubjectSequence: sequence });
    await assert.rejects(stale, { code: "journal_conflict" });
  });

  test("a message of the largest size passes and a larger one is refused", async () => {
    const data = Buffer.alloc(journal.maxMessageBytes, 1);
    await journal.publish("raw.1.a", data, { messageId: "large" });
    const [message] = await readUntil(RAW_STREAM, START, () => true);
    assert.ok(message!.data.length === data.length && message!.data[0] === 1);
    const tooLarge = journal.publish("raw.1.a", Buffer.alloc(journal.maxMessageBytes + 1));
    await assert.rejects(tooLarge, { code: "request_too_large" });
  });

  test("messages larger than what is read ahead come between small ones, in order", async () => {
    const sizes = [10, 3 * MIB, 20, 5 * MIB, 5 * MIB, 30, MIB, 40];
    for (const size of sizes) await journal.publish("raw.1.a", Buffer.alloc(size));
    const stop = new AbortController();
    const got: number[] = [];
    for await (const { data } of journal.read(RAW_STREAM, {
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
    for (const number of range(1, 30)) await journal.publish(`raw.${number % 3}.a`, bytes(`${number}`));
    assert.deepEqual(
      await readNumbers(RAW_STREAM, START, 10, "raw.1.*"),
      range(0, 9).map((index) => 3 * index + 1),
    );
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 7), 2, "raw.1.*"), [10, 13]);
  });

  test("a filtered reader that waits moves over the rest, so that what it has passed may be purged", async () => {
    await journal.stop();
    journal = newJournal({ pollMs: 50 });
    await journal.start();
    for (const number of range(1, 9)) await journal.publish(`raw.${number % 3}.a`, bytes(`${number}`));
    const stop = new AbortController();
    const reader = journal.read(RAW_STREAM, { after: START, signal: stop.signal, filter: "raw.1.*" });
    const messages = reader[Symbol.asyncIterator]();
    for (const expected of [1, 4, 7]) assert.equal(text((await messages.next()).value!.data), `${expected}`);
    assert.deepEqual(reader.position, at(1, 7));
    const waiting = messages.next();
    await until("the reader has passed the last message", () => reader.position.sequence === 9);
    await journal.purge(RAW_STREAM, at(1, 10));
    await journal.publish("raw.1.a", bytes("10"));
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

  test("many readers and publishers at once all get everything", async () => {
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
    await journal.publish("raw.1.a", bytes("1"));
    await journal.stop();
    assert.ok((await stopped).length <= 1);
    await assert.rejects(journal.publish("raw.1.a", bytes("2")), { code: "closed" });
  });
});

describe("a reader of what this process stores", () => {
  test("gets it from memory, and what others store between it from the server, in order", async () => {
    const sent = new Set<Uint8Array>();
    const numbers: number[] = [];
    const stop = new AbortController();
    let fromMemory = 0;
    const reading = (async () => {
      const options = { after: START, signal: stop.signal, ownFromMemory: true };
      for await (const { data, position } of journal.read(DOC_STREAM, options)) {
        assert.equal(position.sequence, numbers.push(Number(text(data))));
        if (sent.has(data)) fromMemory++;
      }
    })();
    let stored = 0;
    const store = async (): Promise<void> => {
      const data = bytes(`${stored++}`);
      sent.add(data);
      await journal.publish("doc.1.x.0", data);
    };
    while (fromMemory < 20) await Promise.all(range(1, 10).map(store));
    await meddle(async (_manager, nats) => {
      for (let nth = 0; nth < 15; nth++) await jetstream(nats).publish("doc.1.x.0", `${stored++}`);
    });
    for (let nth = 0; nth < 15; nth++) await store();
    await until("all are read", () => numbers.length === stored);
    stop.abort();
    await reading;
    assert.equal(new Set(numbers).size, stored);
  });

  test("gets the stored bytes where an id is used a second time", async () => {
    const reading = readOwn(21);
    for (const number of range(1, 20))
      await journal.publish("doc.1.x.0", bytes(`${number}`), { messageId: `${number}` });
    await journal.publish("doc.1.x.0", bytes("another 20"), { messageId: "20" });
    await journal.publish("doc.1.x.0", bytes("21"), { messageId: "21" });
    const messages = await reading;
    assert.deepEqual(messages.map(({ data, position }) => [position.sequence, text(data)]).slice(-2), [
      [20, "20"],
      [21, "21"],
    ]);
  });
});

describe("a server that is killed", () => {
  const way = (ownFromMemory: boolean): string => (ownFromMemory ? ", also from memory" : "");
  for (const ownFromMemory of [false, true])
    test(`2,000 messages published and read meanwhile are there once each, in order${way(ownFromMemory)}`, async () => {
      const total = 2_000;
      const kills = new Set([500, 1_000, 1_500]);
      let longestHaltMs = 0;
      const reading = ownFromMemory
        ? readOwn(total)
        : readUntil(DOC_STREAM, START, ({ length }) => length === total);
      let last = performance.now();
      let next = 1;
      const publish = async (): Promise<void> => {
        while (next <= total) {
          const number = next++;
          if (kills.has(number)) process.kill(journal.server.pid!, "SIGKILL");
          await journal.publish("doc.1.x.0", bytes(`${number}`), { messageId: `m/${number}` });
          longestHaltMs = Math.max(longestHaltMs, performance.now() - last);
          last = performance.now();
        }
      };
      await Promise.all(range(1, 8).map(publish));
      const read = await reading;
      assert.deepEqual(
        read.map(({ data }) => Number(text(data))).sort((a, b) => a - b),
        range(1, total),
      );
      assert.deepEqual(
        read.map(({ position }) => position.sequence),
        range(1, total),
      );
      assert.equal((await journal.state(DOC_STREAM)).messages, total);
      assert.equal(journal.incarnation(DOC_STREAM).incarnation, 1);
      assert.ok(longestHaltMs < 2_000, `the longest halt was ${Math.round(longestHaltMs)} ms`);
      assert.match(await metric("tailrace_journal_server_restarts_total"), / 3$/);
    });

  test("a reader that waits goes on at once after the restart", async () => {
    await publishNumbers(1, 2);
    let killedAt = 0;
    let resumedMs = 0;
    const numbers = await readUntil(RAW_STREAM, START, (messages) => {
      if (messages.length === 2) {
        killedAt = performance.now();
        process.kill(journal.server.pid!, "SIGKILL");
        void publishNumbers(3, 3);
      }
      resumedMs = performance.now() - killedAt;
      return messages.length === 3;
    });
    assert.deepEqual(
      numbers.map(({ data }) => text(data)),
      ["1", "2", "3"],
    );
    assert.ok(resumedMs < 2_000, `it took ${Math.round(resumedMs)} ms`);
  });
});

describe("a full stream", () => {
  beforeEach(async () => {
    await journal.stop();
    journal = newJournal({ maxBytes: 16 * MIB });
    await journal.start();
  });

  /** Publishes blocks of 4 MiB until one doesn't fit; returns how many did. */
  async function fill(): Promise<number> {
    for (let count = 0; ; count++) {
      try {
        await journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { wait: false });
      } catch (error) {
        assert.equal((error as { code: string }).code, "journal_full");
        return count;
      }
    }
  }

  test("makes publishers wait, tells of it, and goes on when there is space", async () => {
    assert.ok((await fill()) >= 3);
    const told: unknown[] = [];
    const { promise: waiting, resolve } = Promise.withResolvers<void>();
    journal.onFull((stream, full) => {
      told.push([stream, full]);
      resolve();
    });
    const publishing = journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { messageId: "waits" });
    await waiting;
    assert.deepEqual(journal.fullStreams, [RAW_STREAM]);
    await journal.purge(RAW_STREAM, at(1, 3));
    assert.equal((await publishing).duplicate, false);
    assert.deepEqual(told, [
      [RAW_STREAM, true],
      [RAW_STREAM, false],
    ]);
    assert.deepEqual(journal.fullStreams, []);
    assert.match(await metric("tailrace_journal_full_waits_total"), /stream="RAW"} 1$/);
    const { firstSequence, bytes: size, maxBytes } = await journal.state(RAW_STREAM);
    assert.equal(firstSequence, 3);
    assert.ok(size <= maxBytes);
  });

  test("a publisher that gives up is told that the log is full", async () => {
    await fill();
    const signal = AbortSignal.timeout(100);
    await assert.rejects(journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { signal }), {
      code: "journal_full",
      retryable: true,
    });
  });

  test("other streams and buckets are not held up", async () => {
    await fill();
    await journal.publish("doc.1.x.0", bytes("1"), { wait: false });
    await (await journal.bucket("b")).put("k", bytes("1"));
  });

  test("a smaller limit never removes what is stored", async () => {
    const stored = await fill();
    await journal.stop();
    journal = newJournal({ maxBytes: 8 * MIB });
    await journal.start();
    const { messages, firstSequence } = await journal.state(RAW_STREAM);
    assert.deepEqual([messages, firstSequence], [stored, 1]);
  });
});

describe("a gap", () => {
  test("messages that were purged before they were read are an error, not left out", async () => {
    await publishNumbers(1, 10);
    await journal.purge(RAW_STREAM, at(1, 6));
    await assert.rejects(readNumbers(RAW_STREAM, at(1, 3), 1), {
      code: "journal_gap",
      message: /sequence 4 .*up to 5 were purged/,
    });
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 5), 5), range(6, 10));
    assert.deepEqual(await readNumbers(RAW_STREAM, START, 5), range(6, 10));
  });

  test("a message that is gone from the middle is an error when its turn comes", async () => {
    await publishNumbers(1, 10);
    await removeMessage(RAW_STREAM, 5);
    const got: string[] = [];
    const reading = readUntil(RAW_STREAM, START, (messages) => {
      got.push(text(messages.at(-1)!.data));
      return false;
    });
    await assert.rejects(reading, { code: "journal_gap", message: /sequence 5 / });
    assert.deepEqual(got, ["1", "2", "3", "4"]);
  });

  test("with a filter a purge of unread messages is an error too", async () => {
    for (const number of range(1, 10)) await journal.publish(`raw.${number % 2}.a`, bytes(`${number}`));
    await journal.purge(RAW_STREAM, at(1, 6));
    await assert.rejects(readNumbers(RAW_STREAM, at(1, 3), 1, "raw.1.*"), { code: "journal_gap" });
  });

  test("a stream that was purged whole has no gap for who has read it all", async () => {
    await publishNumbers(1, 5);
    await journal.purge(RAW_STREAM, at(1, 1_000));
    const reading = readNumbers(RAW_STREAM, at(1, 5), 1);
    await publishNumbers(6, 6);
    assert.deepEqual(await reading, [6]);
  });
});

describe("the log's history", () => {
  /** Publishes 1..10, keeps a copy of the files, and publishes up to 20. */
  async function publishAroundCopy(): Promise<string> {
    const copy = join(dataDir, "copy");
    await publishNumbers(1, 10);
    await restart((natsDir) => cpSync(join(natsDir, "store"), copy, { recursive: true }));
    await publishNumbers(11, 20);
    return copy;
  }

  function replaceStore(natsDir: string, copy: string): void {
    rmSync(join(natsDir, "store"), { recursive: true });
    cpSync(copy, join(natsDir, "store"), { recursive: true });
  }

  test("an untouched store stays in its incarnation", async () => {
    await publishNumbers(1, 20);
    await restart();
    assert.deepEqual(await journal.reconcile(RAW_STREAM, [at(1, 20)]), { incarnation: 1, raised: false });
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 18), 2), [19, 20]);
  });

  test("a store replaced by an older copy begins a new incarnation, and readers go on behind the loss", async () => {
    const copy = await publishAroundCopy();
    await restart((natsDir) => replaceStore(natsDir, copy));
    const told: unknown[] = [];
    journal.onIncarnation((...args) => told.push(args));
    await publishNumbers(101, 115); // clients are quicker than the hub's look at its log
    assert.deepEqual(await journal.reconcile(RAW_STREAM, [at(1, 20), at(1, 7)]), {
      incarnation: 2,
      raised: true,
    });
    assert.deepEqual(told, [[RAW_STREAM, 2]]);
    const { incarnation, firstSequence } = journal.incarnation(RAW_STREAM);
    assert.deepEqual([incarnation, firstSequence], [2, 11]);
    const messages = await readUntil(RAW_STREAM, at(1, 20), ({ length }) => length === 15);
    assert.deepEqual(
      messages.map(({ data }) => Number(text(data))),
      range(101, 115),
    );
    assert.deepEqual(messages[0]!.position, at(2, 11));
    const slow = await readUntil(RAW_STREAM, at(1, 9), ({ length }) => length === 2);
    assert.deepEqual(
      slow.map(({ position }) => position),
      [at(1, 10), at(2, 11)],
    );
    assert.deepEqual(await journal.reconcile(DOC_STREAM, []), { incarnation: 1, raised: false });
    await restart();
    assert.deepEqual(await journal.reconcile(RAW_STREAM, [at(2, 25)]), { incarnation: 2, raised: false });
  });

  test("an emptied store begins a new incarnation", async () => {
    await publishNumbers(1, 20);
    await restart((natsDir) => rmSync(join(natsDir, "store"), { recursive: true }));
    assert.deepEqual(await journal.reconcile(RAW_STREAM, [at(1, 20)]), { incarnation: 2, raised: true });
    await publishNumbers(1, 1);
    const [message] = await readUntil(RAW_STREAM, at(1, 20), () => true);
    assert.deepEqual(message!.position, at(2, 1));
  });

  test("a store that is lost while the hub runs begins a new incarnation by itself, and reading goes on", async () => {
    const copy = await publishAroundCopy();
    const { promise: raised, resolve } = Promise.withResolvers<unknown[]>();
    journal.onIncarnation((...args) => resolve(args));
    const reading = readUntil(RAW_STREAM, at(1, 17), (messages) => {
      if (messages.length === 3) {
        process.kill(journal.server.pid!, "SIGSTOP"); // else it would write on into the copy
        replaceStore(join(dataDir, "nats"), copy);
        process.kill(journal.server.pid!, "SIGKILL");
      }
      return messages.length === 5;
    });
    assert.deepEqual(await raised, [RAW_STREAM, 2]);
    await publishNumbers(101, 102);
    const positions = (await reading).map(({ position }) => position);
    assert.deepEqual(positions, [at(1, 18), at(1, 19), at(1, 20), at(2, 11), at(2, 12)]);
  });

  test("a position that the log doesn't know of can't be read from before it is reconciled", async () => {
    await assert.rejects(readNumbers(RAW_STREAM, at(3, 5), 1), { code: "journal_gap" });
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
    await journal.deadLetter(letter);
    await journal.deadLetter(letter);
    await journal.deadLetter({ ...letter, reason: "second event" }, 1);
    await journal.deadLetter({ source: "http", reason: "no origin", data: bytes("x") });
    const [first, ...others] = await journal.deadLetters(START, 10);
    assert.deepEqual(
      { ...first, data: text(first!.data), timeMs: 0 },
      { ...letter, data: "line", position: at(1, 1), timeMs: 0, originalBytes: 4 },
    );
    assert.deepEqual(
      others.map(({ reason }) => reason),
      ["second event", "no origin"],
    );
    assert.deepEqual(
      (await journal.deadLetters(at(1, 1), 1)).map(({ reason }) => reason),
      ["second event"],
    );
    assert.deepEqual(await journal.deadLetters(at(1, 3), 10), []);
    await journal.purge(DEAD_LETTER_STREAM, at(1, 3));
    assert.deepEqual(
      (await journal.deadLetters(at(1, 1), 10)).map(({ reason }) => reason),
      ["no origin"],
    );
  });

  test("one that is longer than a message is cut and says so", async () => {
    const data = Buffer.alloc(journal.maxMessageBytes, 1);
    await journal.deadLetter({ source: "main", reason: "long", data });
    const [letter] = await journal.deadLetters(START, 1);
    assert.equal(letter!.originalBytes, data.length);
    assert.ok(letter!.data.length < data.length);
  });
});

describe("core messages", () => {
  test("requests are answered, and those that nobody serves are told at once", async () => {
    const end = journal.core.serve("agent.*.hello", async ({ subject, data }) =>
      bytes(`${subject}:${text(data)}`),
    );
    const answer = await journal.core.request("agent.a.hello", bytes("hi"), { timeoutMs: 2_000 });
    assert.equal(text(answer), "agent.a.hello:hi");
    end();
    await assert.rejects(journal.core.request("agent.a.hello", bytes("hi"), { timeoutMs: 2_000 }), {
      code: "unavailable",
    });
  });

  test("a request whose answer fails runs into its time limit", async () => {
    journal.core.serve("fails", () => Promise.reject(new Error("no")));
    await assert.rejects(journal.core.request("fails", bytes(""), { timeoutMs: 50 }), { code: "timeout" });
  });

  test("subscriptions live on when the server is started again, and a thrown error doesn't end them", async () => {
    const got: string[] = [];
    let { promise: next, resolve } = Promise.withResolvers<void>();
    journal.core.subscribe("agent.*.status", ({ data }) => {
      got.push(text(data));
      resolve();
      throw new Error("handler");
    });
    journal.core.publish("agent.a.status", bytes("1"));
    await next;
    ({ promise: next, resolve } = Promise.withResolvers<void>());
    const { promise: restored, resolve: onRestored } = Promise.withResolvers<void>();
    journal.onConnection((event) => event === "restored" && onRestored());
    process.kill(journal.server.pid!, "SIGKILL");
    await restored;
    journal.core.publish("agent.a.status", bytes("2"));
    await next;
    assert.deepEqual(got, ["1", "2"]);
  });
});

describe("an existing NATS", () => {
  test("is used with its token, and streams survive the hub", async () => {
    await publishNumbers(1, 3);
    const { url, token } = journal.server.address;
    const other = newJournal({ dataDir: join(root, "unused"), external: { servers: [url], token } });
    await other.start();
    try {
      assert.equal((await other.state(RAW_STREAM)).lastSequence, 3);
      assert.deepEqual(other.server.address, { url, token, tokenFile: "" });
    } finally {
      await other.stop();
    }
  });

  test("that refuses the token is an error that says so", async () => {
    const other = newJournal({ external: { servers: [journal.server.address.url], token: "wrong" } });
    await assert.rejects(other.start(), { code: "nats_refused", message: /nats\.token/ });
    await other.stop();
  });
});
