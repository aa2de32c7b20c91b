/** The settings of inputs that cut lines at the agent. Without any of them blocks of files pass untouched. */

import type { Static } from "typebox";
import { Type } from "#proto/kit/schema.ts";
import { encodingOf, UTF_8 } from "./encoding.ts";
import { compileExpression } from "./expression.ts";
import { jsonDecoderOf, jsonProperties } from "./json-line.ts";
import type { LineOptions } from "./line-format.ts";
import { multilineOf, multilineProperties } from "./multiline.ts";

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

/** Returns what the settings say, or null where blocks may pass as they are. Throws settings_invalid. */
export function lineOptionsOf(
  settings: LineSettings,
  onLeftOut: LineOptions["onLeftOut"] = () => undefined,
): LineOptions | null {
  const encoding = encodingOf(settings.encoding);
  const multiline = multilineOf(settings);
  const json = jsonDecoderOf(settings);
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
