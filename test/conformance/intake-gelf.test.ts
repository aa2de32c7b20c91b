/** gelf-pro sends to the input gelf: by UDP, the long messages in chunks, and by TCP, over a kill of the hub. */

import { test } from "node:test";
import { ARRIVAL_MS, missingSenders, senderPackage, startIntakeHub } from "#test/harness/foreign-senders.ts";
import { assertLostInFlight, countNow, killWhileSending } from "#test/harness/kill-while-sending.ts";
import { until } from "#test/harness/until.ts";

interface Gelf {
  setConfig(config: object): Gelf;
  info(message: string, extra: object, done: (error: unknown) => void): void;
}

/** Noise, so that packing leaves it longer than a datagram of 1,400 bytes. */
const LONG = Array.from({ length: 2_000 }, (_, n) => ((n * 7_919 + 13) ** 2).toString(36)).join("");

/** Messages of a batch: datagrams of two that the hub has not read yet must fit into its socket's buffer (208 KiB, and a chunk takes 2). */
const BATCH = 20;

for (const adapter of ["udp", "tcp"] as const) {
  test(`gelf by ${adapter.toUpperCase()}: all is found of gelf-pro's messages but what was in flight when the hub was killed`, {
    skip: missingSenders("gelf-pro"),
  }, async (t) => {
    const intake = await startIntakeHub(t, (at) => `gelf { host => "127.0.0.1" port => ${at} }`);
    const gelf = Object.assign({}, senderPackage<Gelf>("gelf-pro"), { adapter: null }).setConfig({
      adapterName: adapter,
      adapterOptions: { host: "127.0.0.1", port: intake.port },
    });
    const send = (text: string, n: number): Promise<true> => {
      const extra = n % 10 === 0 ? { team: "shop", full_message: LONG } : { team: "shop" };
      return new Promise((resolve, reject) =>
        gelf.info(text, extra, (error) => (error instanceof Error ? reject(error) : resolve(true))),
      );
    };
    let begun = 0;
    const sent = await killWhileSending(intake, {
      batch: BATCH,
      send: async (texts, ended) => {
        begun += texts.length;
        for (const [n, text] of texts.entries()) {
          if (adapter === "udp") await send(text, n);
          // Each message is a connection of its own, and one that is refused is an error of the sender.
          else await until("a connection", () => send(text, n), { deadlineMs: ARRIVAL_MS });
        }
        await until(
          "lines of the batches before",
          async () => ended.aborted || (await countNow(intake.hub.searchUrl)) >= begun - BATCH,
        );
      },
      // Nothing tells the sender of datagrams that the hub is away.
      ...(adapter === "udp" && {
        noticed: async ({ sendMore, back }) => {
          await sendMore();
          await back;
        },
      }),
    });
    const lost = assertLostInFlight(sent, adapter === "udp" ? "one" : "many");
    t.diagnostic(`${sent.all} lines sent, ${lost} lost`);
  });
}
