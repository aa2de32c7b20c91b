/** Output pipeline: events to the inputs pipeline of other pipelines. */

import { defineOutput } from "#hub/pipeline/plugins/output.ts";
import { flag, list, options } from "#proto/kit/options.ts";

export const pipelineOutput = defineOutput({
  name: "pipeline",
  description: "hands events to other pipelines",
  options: options({
    send_to: list("addresses of inputs pipeline; each gets every event"),
    ensure_delivery: flag("waits while an address has no pipeline; false: skips it", true),
  }),
  create({ send_to }, { report }) {
    if (send_to.length === 0)
      report("error", "send_to", "there is no address to send to", 'write: send_to => ["other"]');
    return {
      shape: (event) => ({
        target: "",
        body: Buffer.from(JSON.stringify({ ...event.fields, "@metadata": event.metadata })),
      }),
    };
  },
  writer: ({ send_to, ensure_delivery }, { feed }) => ({
    async write(records) {
      for (const address of send_to) {
        try {
          await feed(address, records);
        } catch (error) {
          if (ensure_delivery || (error as { code?: string }).code !== "unavailable") throw error;
        }
      }
      return undefined;
    },
    stop: async () => undefined,
  }),
});
