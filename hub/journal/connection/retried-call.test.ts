import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { retriedCall } from "./retried-call.ts";

const connection = {
  repeatable: <T>(call: (nats: NatsConnection) => Promise<T>): Promise<T> => call({} as NatsConnection),
};

const withoutWaits: Clock = { ...systemClock, sleep: () => Promise.resolve() };

describe("calls that are repeated", () => {
  test("a call that isn't answered while a leader is elected succeeds when there is one", async () => {
    let calls = 0;
    const answer = await retriedCall(
      connection,
      () => (++calls < 4 ? Promise.reject(new errors.TimeoutError()) : Promise.resolve("stored")),
      withoutWaits,
    );
    assert.deepEqual([answer, calls], ["stored", 4]);
  });

  test("a cluster whose servers haven't found each other yet is waited for", async () => {
    let calls = 0;
    const noPeers = { code: 400, err_code: 10005, description: "no suitable peers for placement" };
    const call = (): Promise<string> =>
      ++calls < 3 ? Promise.reject(new JetStreamApiError(noPeers)) : Promise.resolve("stored");
    assert.equal(await retriedCall(connection, call, withoutWaits), "stored");
  });

  test("an error that stays is thrown at once", async () => {
    let calls = 0;
    const call = (): Promise<never> => {
      calls++;
      return Promise.reject(new errors.ClosedConnectionError());
    };
    await assert.rejects(retriedCall(connection, call, withoutWaits), errors.ClosedConnectionError);
    assert.equal(calls, 1);
  });
});
