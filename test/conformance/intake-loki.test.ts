/** The Loki transport of winston sends to the input loki: as JSON, and as protobuf packed by snappy. Lines are tailed as Grafana does it. */

import assert from "node:assert/strict";
import { on } from "node:events";
import { test } from "node:test";
import { WebSocket } from "ws";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { assertNoneLost, killWhileSending } from "#test/harness/kill-while-sending.ts";

interface Transport {
  /** ms that nothing is sent after a push that failed: a minute of its own. */
  readonly batcher: { circuitBreakerInterval: number };
  flush(): Promise<unknown>;
  close(): Promise<void>;
}

interface Winston {
  readonly createLogger: (options: object) => { info(message: string): void };
}

for (const json of [true, false]) {
  test(`loki as ${json ? "JSON" : "protobuf"}: what winston-loki pushes is found, also after a kill while it sends`, {
    skip: missingSenders("winston", "winston-loki"),
  }, async (t) => {
    const intake = await startIntakeHub(
      t,
      (at) => `loki { host => "127.0.0.1" port => ${at} user => "u" password => "p" }`,
    );
    const Loki = senderPackage<new (options: object) => Transport>("winston-loki");
    const isFailing = { batch: false };
    const transport = new Loki({
      host: `http://127.0.0.1:${intake.port}`,
      basicAuth: "u:p",
      json,
      labels: { job: "shop", filename: "/var/log/shop.log" },
      // Seconds.
      interval: 0.2,
      clearOnError: false,
      gracefulShutdown: false,
      onConnectionError: () => (isFailing.batch = true),
    });
    transport.batcher.circuitBreakerInterval = 500;
    t.after(() => transport.close());
    const { createLogger } = senderPackage<Winston>("winston");
    const logger = createLogger({ transports: [transport] });
    const send = async (texts: readonly string[]): Promise<void> => {
      for (const text of texts) logger.info(text);
      // A flush also ends when the push has failed, with the lines back in the batch.
      do {
        isFailing.batch = false;
        await transport.flush();
      } while (isFailing.batch);
    };
    const sent = await killWhileSending(intake, { batch: 300, send });
    const again = assertNoneLost(sent, sent.succeeded);
    t.diagnostic(`${sent.all} lines sent, 0 lost, ${again} repeated`);
  });
}

test("loki: a tail at either address has the older lines and then each that is pushed", async (t) => {
  const { hub, port } = await startIntakeHub(t, (at) => `loki { host => "127.0.0.1" port => ${at} }`);
  // Searches find nothing by themselves: the tail alone has to see to it.
  const template = await fetch(`${hub.searchUrl}/_template/unseen`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ index_patterns: ["*"], order: 99, settings: { refresh_interval: "-1" } }),
  });
  assert.equal(template.status, 200);
  const push = async (text: string): Promise<void> => {
    const streams = [{ stream: { job: "shop" }, values: [[`${Date.now()}000000`, text]] }];
    const answer = await fetch(`http://127.0.0.1:${port}/loki/api/v1/push`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ streams }),
    });
    assert.equal(answer.status, 204);
  };
  await push("line 0");
  for (const [n, base] of [hub.searchUrl, `${hub.dashboardUrl}/es`].entries()) {
    const query = encodeURIComponent('{job="shop"} |= "line"');
    const socket = new WebSocket(
      `${base.replace(/^http/, "ws")}/loki/api/v1/tail?query=${query}&limit=${n + 1}`,
    );
    t.after(() => socket.terminate());
    const seen: string[] = [];
    for await (const [data] of on(socket, "message")) {
      const { streams } = JSON.parse(String(data)) as { streams: { values: [string, string][] }[] };
      for (const [, line] of streams.flatMap(({ values }) => values)) seen.push(line);
      if (seen.length === n + 1) await push(`line ${n + 1}`);
      if (seen.length > n + 1) break;
    }
    assert.deepEqual(seen, lines(n + 2));
    socket.terminate();
  }
});
