/** The Loki transport of winston sends to the input loki: as JSON, and as protobuf packed by snappy. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

interface Transport {
  flush(): Promise<unknown>;
  close(): Promise<void>;
}

interface Winston {
  readonly createLogger: (options: object) => { info(message: string): void };
}

for (const json of [true, false]) {
  test(`loki as ${json ? "JSON" : "protobuf"}: what winston-loki pushes is found, also after a kill`, {
    skip: missingSenders("winston", "winston-loki"),
  }, async (t) => {
    const { hub, port, messages } = await startIntakeHub(
      t,
      (at) => `loki { host => "127.0.0.1" port => ${at} user => "u" password => "p" }`,
    );
    const Loki = senderPackage<new (options: object) => Transport>("winston-loki");
    const transport = new Loki({
      host: `http://127.0.0.1:${port}`,
      basicAuth: "u:p",
      json,
      labels: { job: "shop", filename: "/var/log/shop.log" },
      // Seconds.
      interval: 0.2,
      clearOnError: false,
      gracefulShutdown: false,
    });
    t.after(() => transport.close());
    const { createLogger } = senderPackage<Winston>("winston");
    const logger = createLogger({ transports: [transport] });
    const send = async (texts: readonly string[]): Promise<void> => {
      for (const text of texts) logger.info(text);
      await transport.flush();
    };
    await send(lines(300));
    await hub.kill9();
    await hub.start();
    await send(lines(300, 300));
    // The transport puts the level after the text.
    const found = (await messages(600)).map((text) => /line \d+/.exec(text)?.[0] ?? text);
    assert.deepEqual(found.toSorted(), lines(600).toSorted());
  });
}
