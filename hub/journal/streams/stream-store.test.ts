import assert from "node:assert/strict";
import { test } from "node:test";
import { JetStreamApiError } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { hasMajority, StreamStore } from "./stream-store.ts";

/** Returns a store whose calls fail with `fault` before they find no message, and the number of calls. */
function storeThatFails(fault: { code: number; err_code: number }, failures: number) {
  const state = { calls: 0 };
  const failed = () => Promise.reject(new JetStreamApiError({ ...fault, description: "" }));
  const repeatable = () => (++state.calls <= failures ? failed() : Promise.resolve(null));
  return { store: new StreamStore({ repeatable } as unknown as Connection), state };
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

test("a stream's state is that of a majority where enough replicas were heard of", () => {
  const heard = (seconds: number, offline = false) => ({
    name: "n",
    current: true,
    offline,
    active: nanos(seconds * 1_000),
    lag: 0,
  });
  assert.ok(hasMajority({}), "a single server");
  assert.ok(hasMajority({ leader: "a", replicas: [] }));
  assert.ok(hasMajority({ leader: "a", replicas: [heard(1), heard(60)] }));
  assert.ok(!hasMajority({ leader: "a", replicas: [heard(6), heard(60)] }));
  assert.ok(!hasMajority({ leader: "a", replicas: [heard(1, true), heard(1, true)] }));
  assert.ok(!hasMajority({ leader: "a", replicas: [heard(1), heard(60), heard(60), heard(60)] }));
  assert.ok(!hasMajority({ leader: "", replicas: [heard(1), heard(1)] }));
});
