import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { MIB } from "#proto/kit/units.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { hasMajority, StreamStore } from "./stream-store.ts";

/** Longer than other calls wait before they are made again. */
const SLOW_MS = 1_100;

/** Returns a store whose calls fail with `fault` before they find no message, and the number of calls. */
function storeThatFails(fault: { code: number; err_code: number }, failures: number) {
  const state = { calls: 0 };
  const failed = () => Promise.reject(new JetStreamApiError({ ...fault, description: "" }));
  const repeatable = () => (++state.calls <= failures ? failed() : Promise.resolve(null));
  return { store: new StreamStore({ repeatable, connected: true } as unknown as Connection), state };
}

for (const [what, err_code] of [
  ["whose JetStream is temporarily unavailable", 10008],
  ["without a leader", 10009],
  ["whose stream is offline", 10118],
] as const)
  test(`a cluster ${what} is asked again`, async () => {
    const { store, state } = storeThatFails({ code: 503, err_code }, 2);
    assert.equal(await store.lastMessage("KV_log", "$KV.log.>"), null);
    assert.equal(state.calls, 3);
  });

test("a stream that doesn't exist is reported at once", async () => {
  const { store, state } = storeThatFails({ code: 404, err_code: 10059 }, 1);
  await assert.rejects(store.state("KV_log"), { code: "unavailable" });
  assert.equal(state.calls, 1);
});

/**
 * Returns a store whose server answers that a stream ends at `last` and its two replicas were heard of `seconds` ago. Bodies
 * of purges go to `purges`.
 */
function storeThatAnswers(
  answers: { last: number; seconds: number }[],
  clock = new StillClock(),
  purges: unknown[] = [],
) {
  const request = (subject: string, body?: string | Uint8Array): Promise<unknown> => {
    if (subject.includes(".PURGE.")) {
      purges.push(JSON.parse(String(Buffer.from(body ?? "{}"))));
      return Promise.resolve({ data: Buffer.from('{"success":true,"purged":1}') });
    }
    const { last, seconds } = answers.shift()!;
    const replicas = ["b", "c"].map((name) => ({ name, current: true, active: nanos(seconds * 1_000) }));
    const state = { first_seq: 1, last_seq: last, messages: last, bytes: 0 };
    const config = { name: "RAW", num_replicas: 3 };
    const info = { config, state, cluster: { name: "tailrace", leader: "a", replicas } };
    return Promise.resolve({ data: Buffer.from(JSON.stringify(info)) });
  };
  const nats = { request, options: {} };
  const repeatable = (call: (server: unknown) => unknown) => call(nats);
  return new StreamStore({ repeatable, connected: true } as unknown as Connection, clock);
}

test("a server that stood still and goes on as the leader doesn't decide what was lost", async () => {
  const answers = [
    { last: 90, seconds: 10 },
    { last: 90, seconds: 10 },
    { last: 120, seconds: 1 },
  ];
  const store = storeThatAnswers(answers);
  assert.equal((await store.settledState("RAW")).lastSequence, 120);
  assert.deepEqual(answers, []);
});

test("what a stream contains isn't asked of a server without a majority", async () => {
  const answers = [
    { last: 90, seconds: 10 },
    { last: 120, seconds: 1 },
    { last: 120, seconds: 10 },
    { last: 120, seconds: 1 },
  ];
  const store = storeThatAnswers(answers);
  assert.deepEqual(await store.subjects("KV_log", "$KV.log.>"), []);
  assert.deepEqual(answers, []);
});

/** Returns a store of a stream, whose page of subjects comes after as many milliseconds as each request has, and how many were made. */
function storeThatLists(messages: number, delaysMs: readonly number[]) {
  const info = { config: { name: "KV_log", num_replicas: 1 }, cluster: {} };
  const state = { first_seq: 1, last_seq: messages, messages, bytes: 0 };
  const requests = { count: 0 };
  const answer = (body: unknown) => ({ data: Buffer.from(JSON.stringify(body)) });
  const request = async (_: string, body: string | Uint8Array): Promise<unknown> => {
    if (body.length === 0) return answer({ ...info, state });
    await sleep(delaysMs[requests.count++], undefined, { ref: false });
    return answer({ ...info, state: { ...state, subjects: { "$KV.log.a": 1 } }, total: 1 });
  };
  const repeatable = (call: (server: unknown) => unknown) => call({ request, options: {} });
  return { store: new StreamStore({ repeatable, connected: true } as unknown as Connection), requests };
}

test("a server that needs long for many subjects isn't asked again meanwhile", async () => {
  const { store, requests } = storeThatLists(100_000, [SLOW_MS]);
  assert.deepEqual(await store.subjects("KV_log", "$KV.log.>"), ["$KV.log.a"]);
  assert.equal(requests.count, 1);
});

test("few subjects whose answer is lost with the leader are asked for again as soon as other answers", async () => {
  const { store, requests } = storeThatLists(1_000, [4 * SLOW_MS, 0]);
  assert.deepEqual(await store.subjects("KV_log", "$KV.log.>"), ["$KV.log.a"]);
  assert.equal(requests.count, 2, "the first request is answered only after a wait of four seconds");
});

test("a loss is decided by a second answer, as late answers let a leader that stood still pass for one", async () => {
  const clock = new StillClock();
  const answers = [
    { last: 90, seconds: 0.001 },
    { last: 120, seconds: 1 },
  ];
  const store = storeThatAnswers(answers, clock);
  const state = store.settledState("RAW", ({ lastSequence }) => lastSequence < 100);
  while (answers.length === 2) await turn();
  for (let seconds = 0; seconds < 3; seconds++) await clock.advance(1_000);
  assert.equal((await state).lastSequence, 120);
  assert.deepEqual(answers, []);
});

for (const [what, stale, waitsMs] of [
  ["a server without a majority", { last: 90, seconds: 10 }, 0],
  ["a server that stood still and lacks processed messages", { last: 90, seconds: 0.001 }, 3_000],
] as const)
  test(`what is purged is not decided by ${what}`, async () => {
    const clock = new StillClock();
    const purges: unknown[] = [];
    const answers = [stale, { last: 120, seconds: 1 }];
    const purged = storeThatAnswers(answers, clock, purges).purgeBelow("RAW", () => 101);
    while (waitsMs > 0 && answers.length === 2) await turn();
    await clock.advance(waitsMs);
    await purged;
    assert.deepEqual(purges, [{ seq: 101 }]);
    assert.deepEqual(answers, []);
  });

test("a purge ends with the stream, and one that would remove nothing isn't made", async () => {
  const clock = new StillClock();
  const purges: unknown[] = [];
  const answers = [1, 2, 3].map(() => ({ last: 90, seconds: 1 }));
  const store = storeThatAnswers(answers, clock, purges);
  const purged = store.purgeBelow("RAW", () => 1_000);
  while (answers.length === 3) await turn();
  await clock.advance(3_000);
  await purged;
  await store.purgeBelow("RAW", () => 1);
  assert.deepEqual(purges, [{ seq: 91 }]);
});

test("a server that may only be slow isn't waited for longer than is asked for", async () => {
  const store = storeThatAnswers(Array.from({ length: 99 }, () => ({ last: 90, seconds: 10 })));
  await assert.rejects(store.majorityState("RAW", 50), { code: "unavailable" });
});

test("a stream's state is that of a majority where enough replicas were heard of", () => {
  const heard = (seconds: number, offline = false) => ({
    name: "n",
    current: true,
    offline,
    active: nanos(seconds * 1_000),
    lag: 0,
  });
  const isKnown = (wanted: number, replicas: ReturnType<typeof heard>[], leader = "a"): boolean =>
    hasMajority({ name: "tailrace", leader, replicas }, wanted);
  assert.ok(hasMajority({}, 1), "a single server");
  assert.ok(hasMajority({ leader: "a" }, 3), "the last server of a cluster, which goes on alone");
  assert.ok(isKnown(1, []));
  assert.ok(isKnown(3, [heard(1), heard(60)]));
  assert.ok(!isKnown(3, [heard(4), heard(60)]));
  assert.ok(!isKnown(3, [heard(0), heard(10)]), "one that was never heard of");
  assert.ok(!isKnown(3, []), "no list");
  assert.ok(!isKnown(5, [heard(1), heard(60)]), "two that aren't listed");
  assert.ok(!isKnown(3, [heard(1, true), heard(1, true)]));
  assert.ok(!isKnown(5, [heard(1), heard(60), heard(60), heard(60)]));
  assert.ok(!isKnown(3, [heard(1), heard(1)], ""));
});

/** A stream as it is defined. The server leaves out what is false. */
const DEFINED = {
  name: "RAW",
  description: "Tailrace's log, 1",
  subjects: ["raw.>"],
  retention: "limits",
  storage: "file",
  discard: "new",
  max_bytes: 64 * MIB,
  max_msg_size: MIB,
  max_age: 0,
  max_msgs: -1,
  max_msgs_per_subject: -1,
  duplicate_window: nanos(10 * 60_000),
  allow_direct: true,
  num_replicas: 1,
};

for (const [what, byHand, expected] of [
  ["as it is defined is left alone", {}, []],
  ["with an age after which messages are removed is set right", { max_age: nanos(1_000) }, [{ max_age: 0 }]],
  ["with a number of messages is set right", { max_msgs: 1_000 }, [{ max_msgs: -1 }]],
  [
    "with a number of messages of a subject is set right",
    { max_msgs_per_subject: 1 },
    [{ max_msgs_per_subject: -1 }],
  ],
  ["without acknowledgements is set right", { no_ack: true }, [{ no_ack: false }]],
] as const)
  test(`a stream that is found ${what}`, async () => {
    const updates: Record<string, unknown>[] = [];
    const request = (subject: string, body: string | Uint8Array): Promise<unknown> => {
      if (subject.startsWith("$JS.API.STREAM.UPDATE."))
        updates.push(JSON.parse(String(Buffer.from(body))) as Record<string, unknown>);
      const info = { config: { ...DEFINED, ...byHand }, state: { bytes: 0 } };
      return Promise.resolve({ data: Buffer.from(JSON.stringify(info)) });
    };
    const repeatable = (call: (server: unknown) => unknown) => call({ request, options: {} });
    const store = new StreamStore({ repeatable, connected: true } as unknown as Connection);
    const limits = { maxBytes: 64 * MIB, maxMessageBytes: MIB, keepLimit: false, replicas: 1 };
    await store.ensure({ name: "RAW", subjects: ["raw.>"], whenFull: "wait", ...limits });
    const changes = updates.map((update) =>
      Object.fromEntries(Object.keys(byHand).map((key) => [key, update[key]])),
    );
    assert.deepEqual(changes, expected);
  });
