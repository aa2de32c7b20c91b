/** Output stdout: events on the hub's standard output. */

import { codecOption } from "#hub/pipeline/plugins/codec.ts";
import { defineOutput } from "#hub/pipeline/plugins/output.ts";
import { AppError } from "#proto/kit/errors.ts";
import { optional, options, text } from "#proto/kit/options.ts";

export const stdoutOutput = defineOutput({
  name: "stdout",
  description: "writes each event to the hub's standard output",
  options: options({
    codec: codecOption("codec that writes events", "rubydebug"),
    id: optional(text("name of this output in metrics and messages")),
  }),
  create(values, { codec }) {
    const encoder = codec(values.codec);
    return { shape: (event) => ({ target: "", body: encoder.encode(event) }) };
  },
  writer: () => ({
    write: (records) => print(Buffer.concat(records.map(({ body }) => body))),
    stop: async () => undefined,
  }),
});

function print(bytes: Uint8Array): Promise<undefined> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      if (error === null || error === undefined) resolve(undefined);
      else reject(new AppError("unavailable", "standard output accepts no data", { cause: error }));
    });
  });
}
