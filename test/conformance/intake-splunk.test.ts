/** Splunk's logging library for JavaScript sends to the input splunk_hec. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { assertNoneLost, killWhileSending } from "#test/harness/kill-while-sending.ts";

interface Splunk {
  readonly Logger: new (
    options: object,
  ) => {
    send(context: object): void;
    flush(done: (error: unknown, response: unknown, body: { text: string }) => void): void;
  };
}

test("splunk_hec: what splunk-logging sends is found, also after a kill while it sends", {
  skip: missingSenders("splunk-logging"),
}, async (t) => {
  const intake = await startIntakeHub(
    t,
    (at) => `splunk_hec { host => "127.0.0.1" port => ${at} tokens => ["secret"] }`,
  );
  const { Logger } = senderPackage<Splunk>("splunk-logging");
  const logger = new Logger({
    token: "secret",
    url: `http://127.0.0.1:${intake.port}`,
    maxBatchCount: 0,
    // Its pauses double up to two minutes.
    maxRetries: 20,
  });
  const send = async (texts: readonly string[]): Promise<void> => {
    for (const message of texts) logger.send({ message, metadata: { host: "web-1", sourcetype: "shop" } });
    const text = await new Promise((resolve) =>
      logger.flush((_error, _response, body) => resolve(body?.text)),
    );
    assert.equal(text, "Success");
  };
  const sent = await killWhileSending(intake, { batch: 300, send });
  const again = assertNoneLost(sent, sent.succeeded);
  t.diagnostic(`${sent.all} lines sent, 0 lost, ${again} repeated`);
});
