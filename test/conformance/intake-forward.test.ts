/** Fluentd's logger for Node forwards to the input forward, with acknowledgements and a shared key. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

/** So long nothing is given up: the sender would send it once more, as a chunk of another name. */
const PATIENCE_MS = 280_000;

interface Fluent {
  readonly FluentClient: new (
    tag: string,
    options: object,
  ) => {
    emit(record: object): Promise<void>;
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    socketOn(event: "close", listener: () => void): void;
  };
}

/** Modes with the number of lines before the kill and after it: each message of the first is acknowledged by itself. */
const MODES = [
  ["Message", 40],
  ["Forward", 200],
  ["PackedForward", 200],
  ["CompressedPackedForward", 200],
] as const;

for (const [eventMode, half] of MODES) {
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
      ack: { ackTimeout: PATIENCE_MS },
      security: { clientHostname: "web-1", sharedKey: "secret" },
      socket: {
        host: "127.0.0.1",
        port,
        timeout: PATIENCE_MS,
        reconnect: { backoff: 2, delay: 200, maxDelay: 500 },
      },
      eventRetry: { attempts: 30, delay: 100, maxDelay: 500, backoff: 1.5, onError: () => undefined },
    });
    t.after(() => client.disconnect());
    const send = (texts: readonly string[]): Promise<unknown> =>
      Promise.all(texts.map((message) => client.emit({ message, n: 1 })));
    await send(lines(half));
    const closed = new Promise<void>((resolve) => client.socketOn("close", resolve));
    await hub.kill9();
    // What is written before the sender sees the end of the connection would wait for its acknowledgement.
    await closed;
    const sending = send(lines(half, half));
    await hub.start();
    await sending;
    assert.deepEqual(await messages(2 * half), lines(2 * half));
  });
}
