import assert from "node:assert/strict";
import { test } from "node:test";
import { ONLY_HOST } from "#hub/cluster/shards/shard-owner.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { channelPair } from "#test/support/host/channel-pair.ts";
import { Host } from "./host.ts";
import type { Operation } from "./operations/operation.ts";
import { type Message, Peer } from "./wire/peer.ts";

test("a cancelled call ends at once though the other host it asked is busy, whose answer is still taken", async (t) => {
  const [frontEnd, hostEnd] = channelPair();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Message>();
  const front = new Peer(frontEnd, {
    answer: () => {
      asked.resolve();
      return answer.promise;
    },
    event: () => undefined,
  });
  const late = Promise.withResolvers<unknown>();
  const probe: Operation = ({ ask }, { signal }) =>
    ask(1, "asked", { value: "collect" }, signal, ({ value }) => late.resolve(value));
  const options = { folder: temporaryFolder(t), log: silentLogger(), metrics: new Metrics() };
  new Host({
    ...options,
    channel: hostEnd,
    clock: systemClock,
    onCommitting: () => undefined,
    seat: ONLY_HOST,
    operations: { probe },
  });
  const control = new AbortController();
  const call = front.call("probe", null, { signal: control.signal });
  await asked.promise;
  control.abort();
  await assert.rejects(call, { code: "cancelled" });
  assert.equal(front.overdue, undefined);
  answer.resolve({ value: "too late" });
  assert.equal(await late.promise, "too late");
});
