/** Splunk's logging library for JavaScript sends to the input splunk_hec. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

interface Splunk {
  readonly Logger: new (
    options: object,
  ) => {
    send(context: object): void;
    flush(done: (error: unknown, response: unknown, body: { text: string }) => void): void;
  };
}

test("splunk_hec: what splunk-logging sends is found, also after a kill while it tries again", {
  skip: missingSenders("splunk-logging"),
}, async (t) => {
  const { hub, port, messages } = await startIntakeHub(
    t,
    (at) => `splunk_hec { host => "127.0.0.1" port => ${at} tokens => ["secret"] }`,
  );
  const { Logger } = senderPackage<Splunk>("splunk-logging");
  const logger = new Logger({
    token: "secret",
    url: `http://127.0.0.1:${port}`,
    maxBatchCount: 0,
    maxRetries: 20,
  });
  const send = (texts: readonly string[]): Promise<string> => {
    for (const message of texts) logger.send({ message, metadata: { host: "web-1", sourcetype: "shop" } });
    return new Promise((resolve) => logger.flush((_error, _response, body) => resolve(body?.text)));
  };
  assert.equal(await send(lines(300)), "Success");
  await hub.kill9();
  const sending = send(lines(300, 300));
  await hub.start();
  assert.equal(await sending, "Success");
  const found = (await messages(600)).length;
  assert.equal(found, 600);
});
