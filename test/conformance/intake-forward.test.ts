/** Fluentd's logger for Node forwards to the input forward, with acknowledgements and a shared key. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

interface Fluent {
  readonly FluentClient: new (
    tag: string,
    options: object,
  ) => {
    emit(record: object): Promise<void>;
    connect(): Promise<void>;
    disconnect(): Promise<void>;
  };
}

for (const eventMode of ["Message", "Forward", "PackedForward", "CompressedPackedForward"]) {
  test(`forward, mode ${eventMode}: what @fluent-org/logger sends is found once, also after a kill`, {
    skip: missingSenders("@fluent-org/logger"),
  }, async (t) => {
    const { hub, port, messages } = await startIntakeHub(
      t,
      (at) => `forward { host => "127.0.0.1" port => ${at} shared_key => "secret" }`,
    );
    const { FluentClient } = senderPackage<Fluent>("@fluent-org/logger");
    const client = new FluentClient("shop", {
      eventMode,
      ack: { ackTimeout: 30_000 },
      security: { clientHostname: "web-1", sharedKey: "secret" },
      socket: {
        host: "127.0.0.1",
        port,
        timeout: 30_000,
        reconnect: { backoff: 2, delay: 200, maxDelay: 500 },
      },
      eventRetry: { attempts: 30, delay: 100, maxDelay: 500, backoff: 1.5, onError: () => undefined },
    });
    t.after(() => client.disconnect());
    const send = (texts: readonly string[]): Promise<unknown> =>
      Promise.all(texts.map((message) => client.emit({ message, n: 1 })));
    await send(lines(200));
    await hub.kill9();
    const sending = send(lines(200, 200));
    await hub.start();
    await sending;
    assert.deepEqual(await messages(400), lines(400));
  });
}
