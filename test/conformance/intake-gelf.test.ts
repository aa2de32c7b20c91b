/** gelf-pro sends to the input gelf: by UDP, the long messages in chunks, and by TCP. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";

interface Gelf {
  setConfig(config: object): Gelf;
  info(message: string, extra: object, done: (error: unknown) => void): void;
}

for (const adapter of ["udp", "tcp"]) {
  test(`gelf by ${adapter.toUpperCase()}: what gelf-pro sends is found, with its additional fields`, {
    skip: missingSenders("gelf-pro"),
  }, async (t) => {
    const { port, messages } = await startIntakeHub(t, (at) => `gelf { host => "127.0.0.1" port => ${at} }`);
    const gelf = Object.assign({}, senderPackage<Gelf>("gelf-pro"), { adapter: null }).setConfig({
      adapterName: adapter,
      adapterOptions: { host: "127.0.0.1", port },
    });
    // Noise, so that packing leaves it longer than a datagram of 1,400 bytes.
    const long = Array.from({ length: 2_000 }, (_, n) => ((n * 7_919 + 13) ** 2).toString(36)).join("");
    for (const [n, text] of lines(200).entries()) {
      const extra = n % 10 === 0 ? { team: "shop", full_message: long } : { team: "shop" };
      await new Promise<void>((resolve, reject) =>
        gelf.info(text, extra, (error) => (error instanceof Error ? reject(error) : resolve())),
      );
      // Datagrams that the hub hasn't read yet must fit into the socket's buffer.
      if (n % 50 === 49) await messages(n + 1);
    }
    assert.deepEqual(await messages(200), lines(200));
  });
}
