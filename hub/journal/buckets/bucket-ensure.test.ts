import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "#hub/journal/connection/connection.ts";
import type { Publisher } from "#hub/journal/connection/publisher.ts";
import { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { startScriptedNats } from "#test/support/journal/scripted-nats.ts";
import { NatsBucket } from "./nats-bucket.ts";

test("a bucket that exists is opened while the cluster has no leader but the bucket has", async (t) => {
  const requests: string[] = [];
  const config = { name: "KV_log", subjects: ["$KV.log.>"], num_replicas: 1, max_msgs_per_subject: 1 };
  const address = await startScriptedNats(t, ({ subject, answer }) => {
    requests.push(subject);
    if (subject === "$JS.API.STREAM.INFO.KV_log") answer(JSON.stringify({ config, state: {}, created: "" }));
  });
  const connection = new Connection({
    target: () => ({ servers: [address] }),
    name: "test",
    log: silentLogger(),
  });
  await connection.start();
  t.after(() => connection.stop());
  await NatsBucket.open({
    name: "log",
    connection,
    publisher: {} as Publisher,
    streams: new StreamStore(connection),
    clock: systemClock,
    log: silentLogger(),
    replicas: () => 1,
  });
  assert.deepEqual(new Set(requests), new Set(["$JS.API.STREAM.INFO.KV_log"]));
});
