import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { LiveEvent } from "./filter/event-document.ts";
import { type OwnTail, SharedTail, type TailTransport } from "./shared-tail.ts";

type Take = (message: { readonly data: Uint8Array }) => void;

/** Core NATS without a server. */
class Wire implements TailTransport {
  readonly #takes = new Map<string, Set<Take>>();
  readonly sent: string[] = [];
  /** Loses messages of the subjects that begin so. */
  losing = "none";

  publish(subject: string, data: Uint8Array): void {
    this.sent.push(subject);
    if (!subject.startsWith(this.losing)) for (const take of this.#takes.get(subject) ?? []) take({ data });
  }

  subscribe(subject: string, take: Take): () => void {
    const takes = this.#takes.get(subject) ?? new Set();
    this.#takes.set(subject, takes.add(take));
    return () => takes.delete(take);
  }
}

class Hub {
  readonly shown: string[] = [];
  listening = false;
  readonly tail: SharedTail;

  constructor(t: TestContext, wire: Wire, node: string) {
    const isListening = (): boolean => this.listening;
    const own: OwnTail = {
      get listening() {
        return isListening();
      },
      offer: (events) => void this.shown.push(...events.map(({ id }) => id)),
      missed: (why) => void this.shown.push(why),
    };
    const clock = { ...systemClock, monotonic: () => Date.now() };
    this.tail = new SharedTail({ transport: wire, node, own, metrics: new Metrics(), clock });
    void this.tail.start();
    t.after(() => this.tail.stop());
  }
}

function event(id: string, size = 20): LiveEvent {
  return { index: "logs", id, timestampMs: 5, source: Buffer.alloc(size, "x") };
}

function world(t: TestContext): { wire: Wire; a: Hub; b: Hub } {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: 10_000 });
  const wire = new Wire();
  return { wire, a: new Hub(t, wire, "a"), b: new Hub(t, wire, "b") };
}

describe("live tail over several hubs", () => {
  test("a viewer of one hub sees what another processes, once", (t) => {
    const { a, b } = world(t);
    b.listening = true;
    t.mock.timers.tick(400);
    assert.deepEqual([a.tail.listening, b.tail.listening], [true, true]);
    a.tail.offer([event("1"), event("2")]);
    b.tail.offer([event("3")]);
    assert.deepEqual([a.shown, b.shown], [[], ["1", "2", "3"]]);
  });

  test("nothing is sent while nobody looks, nor after the last viewer has left", (t) => {
    const { wire, a, b } = world(t);
    t.mock.timers.tick(2_000);
    a.tail.offer([event("1")]);
    assert.deepEqual([a.tail.listening, wire.sent], [false, []]);
    b.listening = true;
    t.mock.timers.tick(400);
    b.listening = false;
    t.mock.timers.tick(5_000);
    assert.equal(a.tail.listening, false);
  });

  test("events that get lost on the way are shown as a gap", (t) => {
    const { wire, a, b } = world(t);
    b.listening = true;
    t.mock.timers.tick(400);
    a.tail.offer([event("1")]);
    wire.losing = "live.events";
    a.tail.offer([event("2")]);
    wire.losing = "none";
    a.tail.offer([event("3")]);
    assert.deepEqual(b.shown, ["1", "other_hub", "3"]);
  });

  test("more than a second's bytes are left out, the rest goes in several messages", (t) => {
    const { wire, a, b } = world(t);
    b.listening = true;
    t.mock.timers.tick(400);
    const before = wire.sent.length;
    a.tail.offer(Array.from({ length: 5 }, (_, at) => event(`${at}`, 100_000)));
    assert.equal(wire.sent.length - before, 3);
    a.tail.offer([event("large", 9 * 1024 * 1024)]);
    t.mock.timers.tick(1_000);
    a.tail.offer([event("5")]);
    assert.deepEqual(b.shown, ["0", "1", "2", "3", "4", "other_hub", "5"]);
  });
});
