import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { isAlive } from "#proto/kit/process/running-process.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { DAY_MS, MIB } from "#proto/kit/units.ts";
import { START } from "#proto/position.ts";
import { DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";
import { at, bytes, range, text, useJournal } from "#test/support/journal/test-journal.ts";
import { interruptedRepairs } from "./buckets/bucket-repair.ts";

const world = useJournal();
const { reopen, restart, publishNumbers, readUntil, readNumbers, readOwn, removeMessage, metric } = world;

describe("a server that is killed", () => {
  const way = (ownFromMemory: boolean): string => (ownFromMemory ? ", also from memory" : "");
  for (const ownFromMemory of [false, true])
    test(`2,000 messages published and read during the fault arrive exactly once, in order${way(ownFromMemory)}`, async () => {
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
          if (kills.has(number)) process.kill(world.journal.server.pid!, "SIGKILL");
          await world.journal.publish("doc.1.x.0", bytes(`${number}`), { messageId: `m/${number}` });
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
      assert.equal((await world.journal.state(DOC_STREAM)).messages, total);
      assert.equal(world.journal.incarnation(DOC_STREAM).incarnation, 1);
      assert.ok(longestHaltMs < 2_000, `the longest halt was ${Math.round(longestHaltMs)} ms`);
      assert.match(await metric("tailrace_journal_server_restarts_total"), / 3$/);
    });

  test("a server that runs but doesn't answer is restarted, and publishers and readers go on", async () => {
    await reopen({ watchdog: { probeEveryMs: 20, unresponsiveMs: 300 } });
    await publishNumbers(1, 2);
    const pid = world.journal.server.pid!;
    const reading = readNumbers(RAW_STREAM, START, 4);
    process.kill(pid, "SIGSTOP");
    await publishNumbers(3, 4);
    assert.deepEqual(await reading, [1, 2, 3, 4]);
    assert.notEqual(world.journal.server.pid, pid);
    assert.match(await metric("tailrace_journal_server_restarts_total"), / 1$/);
  });

  test("a server that doesn't answer is ended within the deadline of a stop", async () => {
    const pid = world.journal.server.pid!;
    process.kill(pid, "SIGSTOP");
    const startMs = performance.now();
    await world.journal.stop();
    assert.ok(performance.now() - startMs < 10_000);
    assert.equal(isAlive(pid), false);
  });

  test("a waiting reader continues immediately after the restart", async () => {
    await publishNumbers(1, 2);
    let killedAt = 0;
    let resumedMs = 0;
    const numbers = await readUntil(RAW_STREAM, START, (messages) => {
      if (messages.length === 2) {
        killedAt = performance.now();
        process.kill(world.journal.server.pid!, "SIGKILL");
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
    await reopen({ maxBytes: 16 * MIB });
  });

  /** Publishes blocks of 4 MiB until one doesn't fit; returns how many did. */
  async function fill(): Promise<number> {
    for (let count = 0; ; count++) {
      try {
        await world.journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { wait: false });
      } catch (error) {
        assert.equal((error as { code: string }).code, "journal_full");
        return count;
      }
    }
  }

  test("makes publishers wait, reports it, and continues when there is space", async () => {
    assert.ok((await fill()) >= 3);
    const reported: unknown[] = [];
    const { promise: waiting, resolve } = Promise.withResolvers<void>();
    world.journal.onFull((stream, full) => {
      reported.push([stream, full]);
      resolve();
    });
    const publishing = world.journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { messageId: "waits" });
    await waiting;
    assert.deepEqual(world.journal.fullStreams, [RAW_STREAM]);
    await world.journal.purge(RAW_STREAM, at(1, 3));
    assert.equal((await publishing).duplicate, false);
    assert.deepEqual(reported, [
      [RAW_STREAM, true],
      [RAW_STREAM, false],
    ]);
    assert.deepEqual(world.journal.fullStreams, []);
    assert.match(await metric("tailrace_journal_full_waits_total"), /stream="RAW"} 1$/m);
    const { firstSequence, bytes: size, maxBytes } = await world.journal.state(RAW_STREAM);
    assert.equal(firstSequence, 3);
    assert.ok(size <= maxBytes);
  });

  test("a publisher that gives up gets journal_full", async () => {
    await fill();
    const deadline = new AbortController();
    world.journal.onFull(() => deadline.abort(new DOMException("too late", "TimeoutError")));
    const { signal } = deadline;
    await assert.rejects(world.journal.publish("raw.1.a", Buffer.alloc(4 * MIB), { signal }), {
      code: "journal_full",
      retryable: true,
    });
  });

  test("other streams and buckets are not held up", async () => {
    await fill();
    await world.journal.publish("doc.1.x.0", bytes("1"), { wait: false });
    await (await world.journal.bucket("b")).put("k", bytes("1"));
  });

  test("a smaller limit never removes stored messages", async () => {
    const stored = await fill();
    await reopen({ maxBytes: 8 * MIB });
    const { messages, firstSequence } = await world.journal.state(RAW_STREAM);
    assert.deepEqual([messages, firstSequence], [stored, 1]);
  });
});

describe("a gap", () => {
  test("messages that were purged before they were read are an error, not left out", async () => {
    await publishNumbers(1, 10);
    await world.journal.purge(RAW_STREAM, at(1, 6));
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
    for (const number of range(1, 10)) await world.journal.publish(`raw.${number % 2}.a`, bytes(`${number}`));
    await world.journal.purge(RAW_STREAM, at(1, 6));
    await assert.rejects(readNumbers(RAW_STREAM, at(1, 3), 1, "raw.1.*"), { code: "journal_gap" });
  });

  test("a stream that was purged whole has no gap for who has read it all", async () => {
    await publishNumbers(1, 5);
    await world.journal.purge(RAW_STREAM, at(1, 1_000));
    const reading = readNumbers(RAW_STREAM, at(1, 5), 1);
    await publishNumbers(6, 6);
    assert.deepEqual(await reading, [6]);
  });
});

describe("the log's history", () => {
  /** Publishes 1..10, keeps a copy of the files, and publishes up to 20. */
  async function publishAroundCopy(): Promise<string> {
    const copy = join(world.dataDir, "copy");
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
    assert.deepEqual(await world.journal.reconcile(RAW_STREAM, [at(1, 20)]), {
      incarnation: 1,
      raised: false,
    });
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 18), 2), [19, 20]);
  });

  test("a clock that is set back before a restart changes nothing, nor one that is set forward", async () => {
    await publishNumbers(1, 20);
    for (const offsetMs of [-30_000, -DAY_MS, DAY_MS, -Date.now()]) {
      await world.reopen({ clock: { ...systemClock, now: () => Date.now() + offsetMs } });
      assert.deepEqual(
        await world.journal.reconcile(RAW_STREAM, [at(1, 20)]),
        { incarnation: 1, raised: false },
        `${offsetMs} ms`,
      );
    }
    assert.deepEqual(await readNumbers(RAW_STREAM, at(1, 18), 2), [19, 20]);
  });

  test("a store replaced by an older copy begins a new incarnation, and readers continue after the loss", async () => {
    const copy = await publishAroundCopy();
    await restart((natsDir) => replaceStore(natsDir, copy));
    const reported: unknown[] = [];
    world.journal.onIncarnation((...args) => reported.push(args));
    await publishNumbers(101, 115); // clients are quicker than the hub's look at its log
    assert.deepEqual(await world.journal.reconcile(RAW_STREAM, [at(1, 20), at(1, 7)]), {
      incarnation: 2,
      raised: true,
    });
    assert.deepEqual(reported, [[RAW_STREAM, 2]]);
    const { incarnation, firstSequence } = world.journal.incarnation(RAW_STREAM);
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
    assert.deepEqual(await world.journal.reconcile(DOC_STREAM, []), { incarnation: 1, raised: false });
    await restart();
    assert.deepEqual(await world.journal.reconcile(RAW_STREAM, [at(2, 25)]), {
      incarnation: 2,
      raised: false,
    });
  });

  test("an emptied store begins a new incarnation", async () => {
    await publishNumbers(1, 20);
    await restart((natsDir) => rmSync(join(natsDir, "store"), { recursive: true }));
    assert.deepEqual(await world.journal.reconcile(RAW_STREAM, [at(1, 20)]), {
      incarnation: 2,
      raised: true,
    });
    await publishNumbers(1, 1);
    const [message] = await readUntil(RAW_STREAM, at(1, 20), () => true);
    assert.deepEqual(message!.position, at(2, 1));
  });

  test("a store that is lost while the hub runs begins a new incarnation by itself, and reading goes on", async () => {
    const copy = await publishAroundCopy();
    const { promise: raised, resolve } = Promise.withResolvers<unknown[]>();
    world.journal.onIncarnation((...args) => resolve(args));
    const reading = readUntil(RAW_STREAM, at(1, 17), (messages) => {
      if (messages.length === 3) {
        process.kill(world.journal.server.pid!, "SIGSTOP"); // else it would write on into the copy
        replaceStore(join(world.dataDir, "nats"), copy);
        process.kill(world.journal.server.pid!, "SIGKILL");
      }
      return messages.length === 5;
    });
    assert.deepEqual(await raised, [RAW_STREAM, 2]);
    await publishNumbers(101, 102);
    const positions = (await reading).map(({ position }) => position);
    assert.deepEqual(positions, [at(1, 18), at(1, 19), at(1, 20), at(2, 11), at(2, 12)]);
  });

  test("a position that the log doesn't have can't be read from before it is reconciled", async () => {
    await assert.rejects(readNumbers(RAW_STREAM, at(3, 5), 1), { code: "journal_gap" });
  });
});

describe("a bucket with a damaged record", () => {
  const KEYS = ["a", "b", "c", "d"];
  const valuesOf = async (bucket: StateBucket): Promise<Record<string, string>> => {
    const entries = (await bucket.keys()).map(async (key) => [key, text((await bucket.get(key))!.value)]);
    return Object.fromEntries(await Promise.all(entries));
  };
  async function damage(key: string): Promise<void> {
    const bucket = await world.journal.bucket("damaged");
    for (const each of KEYS) await bucket.create(each, bytes(`value of ${each}`));
    await restart((natsDir) => {
      const file = join(natsDir, "store/jetstream/TAILRACE/streams/KV_damaged/msgs/1.blk");
      const stored = readFileSync(file);
      const at = stored.indexOf(`value of ${key}`);
      stored.writeUInt8(stored.readUInt8(at) ^ 1, at);
      writeFileSync(file, stored);
    });
  }

  for (const [key, which] of [
    ["a", "first"],
    ["b", "middle"],
    ["d", "newest"],
  ] as const)
    test(`loses that one alone, also when its key is written again: ${which}`, async () => {
      await damage(key);
      const bucket = await world.journal.bucket("damaged");
      const others = Object.fromEntries(
        KEYS.filter((each) => each !== key).map((each) => [each, `value of ${each}`]),
      );
      assert.deepEqual(await valuesOf(bucket), others);
      assert.deepEqual(interruptedRepairs(join(world.dataDir, "nats")), []);
      const found = new Set<string>();
      const stop = new AbortController();
      for await (const change of bucket.watch(stop.signal))
        if (found.add(change.key).size === KEYS.length - 1) stop.abort();
      assert.deepEqual(found, new Set(Object.keys(others)));
      await bucket.create(key, bytes("made again"));
      await bucket.put("c", bytes("changed"));
      const expected = { ...others, [key]: "made again", c: "changed" };
      assert.deepEqual(await valuesOf(bucket), expected);
      await restart();
      assert.deepEqual(await valuesOf(await world.journal.bucket("damaged")), expected);
    });
});
