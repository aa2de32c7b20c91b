/** Fluentd's logger for Node forwards to the input forward, with acknowledgements and a shared key. */

import { test } from "node:test";
import { missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { assertNoneLost, killWhileSending } from "#test/harness/kill-while-sending.ts";

/**
 * So long the sender waits for an acknowledgement, also of what it wrote to a hub that was killed. Then it sends the lines again, in a
 * chunk of another name: a hub that only was slow can't tell.
 */
const ACKNOWLEDGED_MS = 10_000;

/** Until the hub is back. */
const PATIENCE_MS = 280_000;

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

/** Modes with the number of lines in a batch: each message of the first is acknowledged by itself. */
const MODES = [
  ["Message", 40],
  ["Forward", 200],
  ["PackedForward", 200],
  ["CompressedPackedForward", 200],
] as const;

for (const [eventMode, batch] of MODES) {
  test(`forward, mode ${eventMode}: what @fluent-org/logger sends is found, also after a kill while it sends`, {
    skip: missingSenders("@fluent-org/logger"),
  }, async (t) => {
    const intake = await startIntakeHub(
      t,
      (at) => `forward { host => "127.0.0.1" port => ${at} shared_key => "secret" }`,
    );
    const { FluentClient } = senderPackage<Fluent>("@fluent-org/logger");
    const client = new FluentClient("shop", {
      eventMode,
      ack: { ackTimeout: ACKNOWLEDGED_MS },
      security: { clientHostname: "web-1", sharedKey: "secret" },
      socket: {
        host: "127.0.0.1",
        port: intake.port,
        timeout: PATIENCE_MS,
        reconnect: { backoff: 2, delay: 200, maxDelay: 500 },
      },
      eventRetry: { attempts: 1_000, delay: 100, maxDelay: 500, backoff: 1.5, onError: () => undefined },
    });
    t.after(() => client.disconnect());
    const send = async (texts: readonly string[]): Promise<void> => {
      await Promise.all(texts.map((message) => client.emit({ message, n: 1 })));
    };
    const sent = await killWhileSending(intake, { batch, send });
    const again = assertNoneLost(sent, sent.settled);
    t.diagnostic(`${sent.all} lines sent, 0 lost, ${again} repeated`);
  });
}
