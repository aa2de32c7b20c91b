import assert from "node:assert/strict";
import { test } from "node:test";
import { Journal } from "#hub/journal/journal.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";
import { START } from "#proto/position.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { startNats } from "#test/harness/nats.ts";
import { TcpProxy } from "#test/harness/tcp-proxy.ts";

/** There and back, this is longer than the first wait for a consumer. */
const DELAY_MS = 900;

test("a log and its buckets are read from a server that answers later than is waited for at first", async (t) => {
  const server = await startNats();
  t.after(() => server.stop());
  const link = await TcpProxy.start(server.port);
  t.after(() => link.stop());
  const journal = new Journal({
    dataDir: "",
    host: "",
    port: 0,
    name: "test",
    external: { servers: [`nats://127.0.0.1:${link.port}`], token: server.token },
    log: silentLogger(),
    metrics: new Metrics(),
    maxBytes: 64 * MIB,
  });
  await journal.start();
  t.after(() => journal.stop());
  const bucket = await journal.bucket("things");
  for (const key of ["a", "b"]) {
    await journal.publish(`raw.1.${key}`, Buffer.from(key), { messageId: key });
    await bucket.put(key, Buffer.from(key));
  }
  link.delay(DELAY_MS);
  const read = async (): Promise<string[]> => {
    const found: string[] = [];
    const stop = new AbortController();
    for await (const { data } of journal.read(RAW_STREAM, { after: START, signal: stop.signal }))
      if (found.push(Buffer.from(data).toString()) === 2) stop.abort();
    return found;
  };
  const [messages, keys] = await Promise.all([read(), bucket.keys()]);
  assert.deepEqual(
    [messages, keys.toSorted()],
    [
      ["a", "b"],
      ["a", "b"],
    ],
  );
  link.heal();
});
