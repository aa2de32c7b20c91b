import assert from "node:assert/strict";
import { test } from "node:test";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { type Acknowledgement, readAcknowledgement } from "./acknowledgement.ts";
import { Lane } from "./lane.ts";
import { type LastAck, Publisher, type Wire, type WireMessage } from "./publisher.ts";

const stored = (sequence: number, duplicate = false): Acknowledgement => ({
  kind: "stored",
  sequence,
  duplicate,
});
const failed: Acknowledgement = { kind: "failed", reason: "full", text: "full" };

const ACK_TIMEOUT_MS = 3_000;
/** Longer than the longest wait before a retry of the oldest batch. */
const OLDEST_MS = 600;
const NO_STREAM: Acknowledgement = { kind: "failed", reason: "no_stream", text: "gone" };

/** A publisher whose wire keeps what it would send. Timers are mocked: time moves by `advance`. */
class Bench {
  readonly sent: WireMessage[] = [];
  readonly settled: string[] = [];
  readonly acks: LastAck[] = [];
  readonly rollbacks: number[][] = [];
  readonly wire: Wire & { connected: boolean };
  readonly clock = new TestClock();
  isDiskFull = false;
  readonly publisher: Publisher;
  readonly #pool = new SlotPool(16, 64);
  readonly #tick: (ms: number) => void;
  /** The last attempt of each batch, by number. */
  readonly #attempts = new Map<number, number>();

  constructor(tick: (ms: number) => void) {
    this.#tick = tick;
    const publish = (message: WireMessage): void => {
      this.sent.push(message);
      this.#attempts.set(message.number, message.attempt);
    };
    this.wire = { connected: true, publish };
    this.publisher = new Publisher(this.wire, {
      agentId: "a",
      epoch: 1,
      secret: "s",
      ackTimeoutMs: ACK_TIMEOUT_MS,
      onAck: (ack) => this.acks.push(ack),
      onRollback: (sequence, floor) => this.rollbacks.push([sequence, floor]),
      renewEpoch: () => {
        if (this.isDiskFull) throw new Error("no space left on device");
        return 9;
      },
      clock: this.clock,
      log: silentLogger(),
      metrics: new Metrics(),
    });
  }

  async send(lane: Lane, text: string): Promise<void> {
    const slot = (await this.#pool.acquire(new AbortController().signal))!;
    this.publisher.send(lane, {
      slot,
      bodyBytes: text.length,
      encode: (epoch, number) => Buffer.from(`${epoch}/${number}:${text}`),
      settle: () => this.settled.push(text),
    });
  }

  /** The log's answer to an attempt of a batch, the last one by default. */
  answer(number: number, answer: Acknowledgement, attempt = this.#attempts.get(number) ?? 1): void {
    this.publisher.acknowledge(number, attempt, answer);
  }

  advance(ms: number): void {
    this.clock.ms += ms;
    this.#tick(ms);
  }

  /** Message ids sent since the last call. */
  take(): string[] {
    return this.sent.splice(0).map(({ messageId }) => messageId);
  }
}

function mocked(name: string, body: (bench: Bench) => Promise<void>): void {
  test(name, async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const bench = new Bench((ms) => t.mock.timers.tick(ms));
    await body(bench);
    bench.publisher.stop();
  });
}

mocked("batches are sent at once and settled by their acknowledgements, in any order", async (b) => {
  const lane = new Lane("raw.1.a");
  for (const text of ["x", "y"]) await b.send(lane, text);
  assert.deepEqual(b.take(), ["a/1/1/s", "a/1/2/s"]);
  b.answer(2, stored(2));
  b.answer(1, stored(1));
  assert.deepEqual(b.settled, ["y", "x"]);
  assert.deepEqual(
    b.acks.map(({ sequence }) => sequence),
    [2, 1],
  );
  assert.deepEqual(b.rollbacks, []);
});

mocked("without an answer in time the same bytes go out again under the same id, for ever", async (b) => {
  await b.send(new Lane("raw.1.a"), "x");
  const [first] = b.sent;
  for (let round = 0; round < 20; round++) b.advance(7_000);
  assert.ok(b.sent.length > 10);
  assert.ok(b.sent.every(({ data, messageId }) => data.equals(first!.data) && messageId === "a/1/1/s"));
  assert.deepEqual(
    [first!.frame === null, b.sent[1]!.frame],
    [false, null],
    "only the first attempt may use the slot in place",
  );
});

mocked(
  "after a failure the batches of the lane go out one by one, in order, and others are not held up",
  async (b) => {
    const lane = new Lane("raw.1.a");
    const other = new Lane("raw.2.a");
    for (const text of ["1", "2", "3"]) await b.send(lane, text);
    b.take();
    b.answer(1, failed);
    await b.send(lane, "4");
    await b.send(other, "5");
    assert.deepEqual(b.take(), ["a/1/5/s"]);
    b.advance(200);
    assert.deepEqual(b.take(), ["a/1/1/s"]);
    b.answer(1, stored(10));
    assert.deepEqual(b.take(), ["a/1/2/s"]);
    b.answer(3, stored(11));
    b.answer(2, stored(12));
    b.answer(4, stored(13));
    assert.deepEqual(b.settled, ["1", "3", "2", "4"]);
  },
);

mocked("a new connection sends everything unacknowledged again at once, in order", async (b) => {
  const lane = new Lane("raw.1.a");
  for (const text of ["1", "2"]) await b.send(lane, text);
  b.wire.connected = false;
  await b.send(lane, "3");
  assert.deepEqual(b.take(), ["a/1/1/s", "a/1/2/s"]);
  b.advance(5_000);
  assert.deepEqual(b.take(), [], "nothing is sent while there is no connection");
  b.wire.connected = true;
  b.publisher.reconnected();
  assert.deepEqual(b.take(), ["a/1/1/s", "a/1/2/s", "a/1/3/s"]);
});

mocked("a sequence that was given away before tells that the log was rolled back, once", async (b) => {
  const lane = new Lane("raw.1.a");
  await b.send(lane, "1");
  b.answer(1, stored(100));
  for (const text of ["2", "3"]) await b.send(lane, text);
  b.answer(2, stored(40));
  b.answer(3, stored(41));
  assert.deepEqual(b.rollbacks, [[40, 100]]);
  assert.deepEqual(b.settled, ["1", "2", "3"]);
});

mocked(
  "a duplicate on the first attempt is somebody else's batch: it goes out under a new epoch",
  async (b) => {
    await b.send(new Lane("raw.1.a"), "x");
    b.answer(1, stored(5, true));
    assert.deepEqual(b.settled, []);
    assert.deepEqual(
      b.sent.map(({ messageId, data }) => [messageId, data.toString()]),
      [
        ["a/1/1/s", "1/1:x"],
        ["a/9/2/s", "9/2:x"],
      ],
    );
    b.answer(2, stored(6));
    assert.deepEqual(b.settled, ["x"]);
  },
);

mocked("a duplicate on a later attempt is our own", async (b) => {
  await b.send(new Lane("raw.1.a"), "x");
  b.publisher.reconnected();
  b.answer(1, stored(5, true));
  assert.deepEqual(b.settled, ["x"]);
});

mocked("health tells the reason only after failures have lasted", async (b) => {
  const lane = new Lane("raw.1.a");
  await b.send(lane, "x");
  b.answer(1, failed);
  assert.equal(b.publisher.state().healthy, true);
  b.clock.ms += 6_000;
  assert.deepEqual(b.publisher.state(), { healthy: false, reason: "full", isLogFull: true });
  b.answer(1, stored(1));
  assert.equal(b.publisher.state().healthy, true);
});

for (const [name, status, answer, expected] of [
  ["a PubAck", 0, { stream: "RAW", seq: 7 }, { kind: "stored", sequence: 7, duplicate: false }],
  [
    "a repeated PubAck",
    0,
    { stream: "RAW", seq: 7, duplicate: true },
    { kind: "stored", sequence: 7, duplicate: true },
  ],
  ["no responders", 503, "", { kind: "failed", reason: "no_stream" }],
  [
    "maximum bytes exceeded",
    0,
    { error: { code: 503, err_code: 10077, description: "maximum bytes exceeded" } },
    { kind: "failed", reason: "full" },
  ],
  [
    "insufficient resources",
    0,
    { error: { code: 503, err_code: 10023 } },
    { kind: "failed", reason: "resources" },
  ],
  [
    "an id in process",
    0,
    { error: { code: 400, err_code: 0, description: "duplicate message id is in process" } },
    { kind: "failed", reason: "in_process" },
  ],
  [
    "another error",
    0,
    { error: { code: 400, err_code: 10060, description: "expected stream does not match" } },
    { kind: "failed", reason: "refused" },
  ],
  ["garbage", 0, "garbage", { kind: "failed", reason: "refused" }],
  ["an answer without a sequence", 0, { stream: "RAW" }, { kind: "failed", reason: "refused" }],
] as const) {
  test(`the stream's answer is understood: ${name}`, () => {
    const data = Buffer.from(typeof answer === "string" ? answer : JSON.stringify(answer));
    const { kind, ...rest } = readAcknowledgement(status, data);
    const { text: _, ...facts } = rest as { text?: string };
    assert.deepEqual({ kind, ...facts }, expected);
  });
}

mocked("a lane is tried again within two seconds, however often it failed", async (b) => {
  const lane = new Lane("raw.1.a");
  await b.send(lane, "x");
  for (let failures = 0; failures < 12; failures++) {
    assert.equal(b.take().length, 1, `after ${failures} failures`);
    b.answer(1, NO_STREAM);
    b.advance(2_100);
  }
});

mocked(
  "while the log has no leader the oldest batch is tried each half second, and the others follow its answer",
  async (b) => {
    const lanes = ["1", "2", "3"].map((partition) => new Lane(`raw.${partition}.a`));
    for (const lane of lanes) await b.send(lane, "x");
    b.take();
    for (let failures = 0; failures < 12; failures++) {
      for (const number of [1, 2, 3]) b.answer(number, NO_STREAM);
      b.advance(OLDEST_MS);
      assert.ok(b.take().includes("a/1/1/s"), `after ${failures} failures`);
    }
    b.answer(2, NO_STREAM);
    b.answer(3, NO_STREAM);
    b.answer(1, stored(1));
    assert.deepEqual(b.take(), ["a/1/2/s", "a/1/3/s"]);
  },
);

mocked(
  "of batches without an answer the oldest is sent again after half a second, and the others with its answer",
  async (b) => {
    const lanes = ["1", "2"].map((partition) => new Lane(`raw.${partition}.a`));
    for (const lane of lanes) await b.send(lane, "x");
    b.take();
    b.advance(600);
    assert.deepEqual(b.take(), ["a/1/1/s"]);
    b.answer(1, stored(1));
    assert.deepEqual(b.take(), ["a/1/2/s"], "the leader that has it is lost");
    b.answer(2, stored(2));
    assert.deepEqual(b.settled, ["x", "x"]);
  },
);

mocked("a batch isn't sent again where one is acknowledged that was sent at the same time", async (b) => {
  const lanes = ["1", "2"].map((partition) => new Lane(`raw.${partition}.a`));
  for (const lane of lanes) await b.send(lane, "x");
  b.take();
  b.answer(2, stored(1));
  b.advance(400);
  assert.deepEqual(b.take(), []);
});

mocked("where answers take long a batch waits four times as long before it is sent again", async (b) => {
  const lane = new Lane("raw.1.a");
  await b.send(lane, "1");
  b.advance(450);
  b.answer(1, stored(1));
  await b.send(lane, "2");
  b.take();
  b.advance(1_700);
  assert.deepEqual(b.take(), []);
  b.advance(200);
  assert.deepEqual(b.take(), ["a/1/2/s"]);
});

mocked("a late answer to an earlier attempt shows that the link is slow", async (b) => {
  const lane = new Lane("raw.1.a");
  await b.send(lane, "1");
  b.advance(1_100);
  b.answer(1, stored(1));
  b.answer(1, stored(1, true));
  await b.send(lane, "2");
  b.take();
  b.advance(ACK_TIMEOUT_MS);
  assert.deepEqual(b.take(), []);
});

for (const [what, partitions] of [
  ["several files", ["1", "2", "3"]],
  ["one file", ["1", "1", "1"]],
] as const)
  mocked(`a log that stands still for a moment gets only the oldest batch of ${what} twice`, async (b) => {
    const lanes = new Map(partitions.map((partition) => [partition, new Lane(`raw.${partition}.a`)]));
    for (const partition of partitions) await b.send(lanes.get(partition)!, "x");
    b.take();
    b.advance(OLDEST_MS);
    assert.deepEqual(b.take(), ["a/1/1/s"]);
    await b.send(lanes.get("1")!, "x");
    b.take();
    b.answer(1, stored(1), 1);
    assert.deepEqual(b.take(), ["a/1/4/s"], "it waited for the oldest");
    for (const number of [2, 3, 4]) b.answer(number, stored(number));
    assert.deepEqual(b.take(), []);
    assert.equal(b.settled.length, 4);
  });

mocked("a batch that was refused is sent again even if the one before it was only late", async (b) => {
  const lane = new Lane("raw.1.a");
  for (const text of ["1", "2"]) await b.send(lane, text);
  b.answer(2, failed);
  b.advance(OLDEST_MS);
  b.take();
  b.answer(1, stored(1), 1);
  assert.deepEqual(b.take(), ["a/1/2/s"]);
});

for (const [what, tell] of [
  ["answers nothing", () => undefined],
  ["refuses everything", (b: Bench) => b.answer(1, NO_STREAM)],
] as const)
  mocked(`a log that ${what} for longer than an election gets the oldest batch less often`, async (b) => {
    await b.send(new Lane("raw.1.a"), "x");
    const sentWithin = (ms: number): number => {
      let count = 0;
      for (let passed = 0; passed < ms; passed += 100) {
        b.advance(100);
        for (const _ of b.take()) {
          count++;
          tell(b);
        }
      }
      return count;
    };
    b.take();
    tell(b);
    assert.ok(sentWithin(10_000) >= 15);
    sentWithin(10_000);
    assert.ok(sentWithin(60_000) <= 60, "once a second at most");
  });

mocked(
  "a batch whose id another sender has used waits for a new epoch while none can be written",
  async (b) => {
    b.isDiskFull = true;
    await b.send(new Lane("raw.1.a"), "x");
    b.answer(1, stored(5, true), 1);
    for (let round = 0; round < 3; round++) {
      b.advance(OLDEST_MS);
      assert.deepEqual(b.take().at(-1), "a/1/1/s");
      b.answer(1, stored(5, true));
    }
    assert.deepEqual(b.settled, []);
    b.isDiskFull = false;
    b.advance(OLDEST_MS);
    b.answer(1, stored(5, true));
    assert.equal(b.take().at(-1), "a/9/2/s");
    b.answer(2, stored(6));
    assert.deepEqual(b.settled, ["x"]);
  },
);
