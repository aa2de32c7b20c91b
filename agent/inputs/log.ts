/** Input `log`: the lines of files that match path patterns, one harvester per file. */

import { defineInput, type InputContext } from "#agent/contract/input.ts";
import { FileInput } from "#agent/inputs/files/file-input.ts";
import { fileProperties, validateFileSettings } from "#agent/inputs/files/file-settings.ts";
import { LineFormat } from "#agent/lines/line-format.ts";
import { type LineSettings, lineOptionsOf, lineProperties } from "#agent/lines/line-settings.ts";
import { Type } from "#proto/kit/schema.ts";

const schema = Type.Object({ ...fileProperties, ...lineProperties }, { additionalProperties: false });

export const logInput = defineInput({
  type: "log",
  summary: "Reads the lines of log files and follows them over rotation, truncation and removal.",
  heldSlots: 0,
  schema,
  validate(settings) {
    validateFileSettings(settings);
    lineOptionsOf(settings as LineSettings);
  },
  create: (settings, context) =>
    new FileInput(settings, contentOf(settings as LineSettings, context), context),
});

function contentOf(settings: LineSettings, { id, metrics }: InputContext) {
  const options = lineOptionsOf(settings, (kind, amount) => {
    if (kind === "filtered") metrics.filtered.inc({ input: id }, amount);
    else metrics.truncatedBytes.inc({ input: id }, amount);
  });
  return {
    inputType: "log",
    // A message may be longer in UTF-8 than in the file; it must still fit into one message to the hub.
    createFormat:
      options === null
        ? null
        : (_path: string, maxBytes: number) =>
            new LineFormat(options, Math.floor(maxBytes / options.encoding.expansion)),
    fieldsOf: null,
    awaitsFields: null,
    wideText: options?.encoding.unitBytes === 2,
    joinsRotated: false,
    stop: () => Promise.resolve(),
  };
}
