import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { answerTime, ENDED, firstAnswer, retriedCall } from "./retried-call.ts";

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

describe("calls that are made again beside those without an answer", () => {
  const isPassing = (error: unknown): boolean => error instanceof errors.TimeoutError;
  const options = { isPassing, clock: withoutWaits };

  test("a call that a dead leader has taken is answered by the next leader", async () => {
    let calls = 0;
    const call = (): Promise<number> =>
      ++calls < 3 ? new Promise<never>(() => undefined) : Promise.resolve(calls);
    const { signal } = new AbortController();
    assert.equal(await firstAnswer(call, options, signal), 3);
  });

  test("a slow server's answer to the first call counts, and ends the wait of the others", async () => {
    const slow = Promise.withResolvers<string>();
    const ended: boolean[] = [];
    const call = (signal: AbortSignal): Promise<string> => {
      const at = ended.push(false) - 1;
      signal.addEventListener("abort", () => (ended[at] = true));
      if (at === 2) slow.resolve("first");
      return at === 0 ? slow.promise : new Promise<never>(() => undefined);
    };
    assert.equal(await firstAnswer(call, options, new AbortController().signal), "first");
    assert.ok(ended.length >= 3);
    assert.ok(ended.every((isEnded) => isEnded));
  });

  test("no error is made to end the wait", async () => {
    let given: AbortSignal | undefined;
    const call = (signal: AbortSignal): Promise<string> => {
      given = signal;
      return Promise.resolve("stored");
    };
    assert.equal(await firstAnswer(call, options, new AbortController().signal), "stored");
    assert.equal(given?.reason, ENDED);
  });

  test("an error that stays is thrown at once", async () => {
    const call = (): Promise<never> => Promise.reject(new errors.ClosedConnectionError());
    await assert.rejects(
      firstAnswer(call, { isPassing }, new AbortController().signal),
      errors.ClosedConnectionError,
    );
  });

  test("a call that meets an earlier one under way waits for that one's answer", async () => {
    let calls = 0;
    const { promise, resolve } = Promise.withResolvers<string>();
    const call = (): Promise<string> => {
      if (++calls === 3) resolve("stored");
      return calls === 1 ? promise : Promise.reject(new Error("in process"));
    };
    const isPending = (error: unknown): boolean => (error as Error).message === "in process";
    const { signal } = new AbortController();
    assert.equal(await firstAnswer(call, { ...options, isPending }, signal), "stored");
  });

  test("no further call is made while there is no connection", async () => {
    let [calls, waits] = [0, 0];
    const { promise, resolve } = Promise.withResolvers<string>();
    const call = (): Promise<string> => {
      calls++;
      return promise;
    };
    const clock: Clock = {
      ...systemClock,
      sleep: () => {
        if (++waits === 5) resolve("stored");
        return Promise.resolve();
      },
    };
    const { signal } = new AbortController();
    assert.equal(await firstAnswer(call, { isPassing, clock, isConnected: () => false }, signal), "stored");
    assert.equal(calls, 1);
  });

  test("a call is made again only when a ping that follows it is answered", async () => {
    let calls = 0;
    const stored = Promise.withResolvers<string>();
    const pings = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const call = (): Promise<string> => {
      if (++calls === 3) stored.resolve("stored");
      return stored.promise;
    };
    let pinged = 0;
    const ping = async (): Promise<void> => {
      assert.equal(calls, pinged + 1);
      await new Promise(setImmediate);
      assert.equal(calls, pinged + 1);
      pings[pinged]!.resolve();
      return pings[pinged++]!.promise;
    };
    const { signal } = new AbortController();
    assert.equal(await firstAnswer(call, { ...options, ping }, signal), "stored");
    assert.equal(pinged, 2);
  });

  test("a ping that is lost with the connection isn't waited for a second time", async () => {
    const clock = new StillClock();
    const lost = Promise.withResolvers<void>();
    let isOver = false;
    const over = answerTime(300, { ping: () => lost.promise, clock }, new AbortController().signal);
    void over.then(() => (isOver = true));
    await clock.advance(3_300);
    lost.reject(new Error("connection disconnected"));
    await new Promise(setImmediate);
    assert.equal(isOver, true);
  });

  test("at the deadline the last error is thrown, else the deadline's reason", async () => {
    const deadline = new AbortController();
    let calls = 0;
    const failing = (): Promise<never> => {
      if (++calls === 3) deadline.abort(new Error("over"));
      return Promise.reject(new errors.TimeoutError());
    };
    await assert.rejects(firstAnswer(failing, options, deadline.signal), errors.TimeoutError);
    const silent = (): Promise<never> => new Promise(() => undefined);
    await assert.rejects(firstAnswer(silent, options, AbortSignal.abort(new Error("over"))), /over/);
  });
});
