/**
 * Input `log`: the lines of files that match path patterns, one harvester per file. Without any setting that cuts
 * lines at the agent, blocks of files pass untouched.
 */

import type { Static } from "typebox";
import { defineInput, type InputContext } from "#agent/contract/input.ts";
import { FileInput } from "#agent/inputs/files/file-input.ts";
import { fileProperties, validateFileSettings } from "#agent/inputs/files/file-settings.ts";
import { encodingOf, UTF_8 } from "#agent/lines/encoding.ts";
import { compileExpression } from "#agent/lines/expression.ts";
import { jsonDecoderOf, jsonProperties } from "#agent/lines/json-line.ts";
import { LineFormat, type LineOptions } from "#agent/lines/line-format.ts";
import { multilineOf, multilineProperties } from "#agent/lines/multiline.ts";
import { Type } from "#proto/kit/schema.ts";

export const lineProperties = {
  encoding: Type.String({
    default: "utf-8",
    description:
      "Encoding of the files: utf-8, utf-16le, utf-16be, latin1, windows-1252, gbk, gb18030, big5, euc-jp, shift_jis, euc-kr and others. A byte order mark is recognised and removed.",
  }),
  line_terminator: Type.String({
    default: "auto",
    minLength: 1,
    description:
      "auto (line feed, with or without carriage return), line_feed, carriage_return, carriage_return_line_feed, null_terminator, or the characters that end a line.",
  }),
  include_lines: Type.Array(Type.String(), {
    default: [],
    description: "Regular expressions; only events that match one are sent. Applied before exclude_lines.",
  }),
  exclude_lines: Type.Array(Type.String(), {
    default: [],
    description: "Regular expressions; events that match one are dropped.",
  }),
  on_long: Type.Union([Type.Literal("split"), Type.Literal("truncate")], {
    default: "split",
    description:
      "How an event beyond max_bytes or multiline.max_lines is treated: split into marked pieces, or truncated, marked and counted.",
  }),
  ...multilineProperties,
  ...jsonProperties,
};

/** Values of `lineProperties`. */
export type LineSettings = {
  [K in "encoding" | "line_terminator" | "on_long"]: Static<(typeof lineProperties)[K]>;
} & { include_lines: string[]; exclude_lines: string[] } & {
  [K in keyof typeof multilineProperties]?: Static<(typeof multilineProperties)[K]>;
} & { [K in keyof typeof jsonProperties]?: Static<(typeof jsonProperties)[K]> };

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

function contentOf(settings: LineSettings, { id, metrics, fieldsJson }: InputContext) {
  const onLeftOut: LineOptions["onLeftOut"] = (kind, amount) => {
    if (kind === "filtered") metrics.filtered.inc({ input: id }, amount);
    else metrics.truncatedBytes.inc({ input: id }, amount);
  };
  const options = lineOptionsOf(settings, onLeftOut, fieldsJson);
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

/** Returns the line options of the settings, or null if blocks may be sent unchanged. Throws settings_invalid. */
export function lineOptionsOf(
  settings: LineSettings,
  onLeftOut: LineOptions["onLeftOut"] = () => undefined,
  fieldsJson?: Uint8Array,
): LineOptions | null {
  const encoding = encodingOf(settings.encoding);
  const multiline = multilineOf(settings);
  const json = jsonDecoderOf(settings, fieldsJson);
  const include = settings.include_lines.map((text) => compileExpression("include_lines", text));
  const exclude = settings.exclude_lines.map((text) => compileExpression("exclude_lines", text));
  const blocksDo =
    encoding === UTF_8 &&
    ["auto", "line_feed"].includes(settings.line_terminator) &&
    multiline === null &&
    json === null &&
    include.length + exclude.length === 0 &&
    settings.on_long === "split";
  if (blocksDo) return null;
  return {
    encoding,
    terminator: settings.line_terminator,
    multiline,
    json,
    include,
    exclude,
    onLong: settings.on_long,
    onLeftOut,
  };
}
