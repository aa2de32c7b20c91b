/** Joins lines into events: stack traces, statements over several lines, blocks of a fixed length. */

import type { Static } from "typebox";
import { onlyWith } from "#agent/contract/idle-settings.ts";
import { settingFault } from "#agent/contract/input.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { Type } from "#proto/kit/schema.ts";
import { durationSetting } from "#proto/kit/settings/kinds.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { compileExpression } from "./expression.ts";

/** Settings of inputs that read lines. */
export const multilineProperties = {
  "multiline.type": Type.Optional(
    Type.Union([Type.Literal("pattern"), Type.Literal("count"), Type.Literal("while_pattern")], {
      description:
        "pattern: matching lines are joined with the line before or after; count: a fixed number of lines is an event; while_pattern: consecutive matching lines are an event. Default: pattern if multiline.pattern is set.",
    }),
  ),
  "multiline.pattern": Type.Optional(Type.String({ description: "Regular expression for lines." })),
  "multiline.negate": onlyWith(
    Type.Optional(Type.Boolean({ description: "Use the lines that don't match instead." })),
    "multiline.pattern",
  ),
  "multiline.match": onlyWith(
    Type.Optional(
      Type.Union([Type.Literal("after"), Type.Literal("before")], {
        description:
          "after: a matching line continues the previous one; before: it belongs to the next one. Default: after.",
      }),
    ),
    "multiline.pattern",
  ),
  "multiline.flush_pattern": onlyWith(
    Type.Optional(Type.String({ description: "A line that matches this ends its event." })),
    "multiline.pattern",
  ),
  "multiline.count_lines": Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: "Number of lines of an event with type count.",
    }),
  ),
  "multiline.max_lines": Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description:
        "Maximum number of lines of an event; longer events are treated as on_long specifies. Default: 500.",
    }),
  ),
  "multiline.timeout": Type.Optional(
    durationSetting({
      description: "Time after which an event is sent although its end was not seen. Default: 5s.",
    }),
  ),
};

type Settings = { [K in keyof typeof multilineProperties]?: Static<(typeof multilineProperties)[K]> };

/** How lines become events. */
export interface MultilineOptions {
  readonly maxLines: number;
  readonly timeoutMs: number;
  /** Returns an event without lines; `resumed`: one that has had some already. */
  readonly begin: (resumed?: boolean) => LineGroup;
}

/** The lines of one event, in order. */
export interface LineGroup {
  /** Takes the next line where it belongs to the event; false: it begins another one and isn't taken. */
  take(text: string): boolean;
  /** True where no further line can belong to the event. */
  readonly whole: boolean;
}

const MAX_LINES_DEFAULT = 500;
const TIMEOUT_DEFAULT = "5s";

/** Returns what the settings say, or null where lines are events. Throws settings_invalid. */
export function multilineOf(settings: Settings): MultilineOptions | null {
  const { "multiline.pattern": pattern, "multiline.count_lines": count } = settings;
  const given = Object.keys(settings).filter(
    (key) => key.startsWith("multiline.") && settings[key as keyof Settings] !== undefined,
  );
  if (given.length === 0) return null;
  const type = settings["multiline.type"] ?? (count === undefined ? "pattern" : "count");
  const maxLines = settings["multiline.max_lines"] ?? MAX_LINES_DEFAULT;
  const timeoutMs = parseDuration(settings["multiline.timeout"] ?? TIMEOUT_DEFAULT);
  if (type === "count") {
    if (count === undefined) throw missing("multiline.count_lines", type);
    return { maxLines, timeoutMs, begin: (resumed) => new CountGroup(resumed ? 0 : count) };
  }
  if (pattern === undefined) throw missing("multiline.pattern", type);
  const expression = compileExpression("multiline.pattern", pattern);
  const negate = settings["multiline.negate"] ?? false;
  const meant = (text: string): boolean => expression.test(text) !== negate;
  const flushText = settings["multiline.flush_pattern"];
  const flush = flushText === undefined ? null : compileExpression("multiline.flush_pattern", flushText);
  const after = (settings["multiline.match"] ?? "after") === "after";
  const begin = (resumed = false): LineGroup => {
    if (type === "while_pattern") return new WhileGroup(meant, resumed);
    return after ? new AfterGroup(meant, flush, resumed) : new BeforeGroup(meant, flush);
  };
  return { maxLines, timeoutMs, begin };
}

function missing(setting: string, type: string): AppError {
  return settingFault(setting, `${setting} is missing; multiline of type ${type} needs it`);
}

class CountGroup implements LineGroup {
  #left: number;

  constructor(lines: number) {
    this.#left = lines;
  }

  get whole(): boolean {
    return this.#left === 0;
  }

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}

/** Lines meant continue the line before. */
class AfterGroup implements LineGroup {
  readonly #meant: (text: string) => boolean;
  readonly #flush: RegExp | null;
  #begun: boolean;
  whole = false;

  constructor(meant: (text: string) => boolean, flush: RegExp | null, resumed: boolean) {
    this.#meant = meant;
    this.#flush = flush;
    this.#begun = resumed;
  }

  take(text: string): boolean {
    if (this.whole || (this.#begun && !this.#meant(text))) return false;
    this.#begun = true;
    this.whole = this.#flush?.test(text) ?? false;
    return true;
  }
}

/** Matching lines belong to the next line. */
class BeforeGroup implements LineGroup {
  readonly #meant: (text: string) => boolean;
  readonly #flush: RegExp | null;
  whole = false;

  constructor(meant: (text: string) => boolean, flush: RegExp | null) {
    this.#meant = meant;
    this.#flush = flush;
  }

  take(text: string): boolean {
    if (this.whole) return false;
    this.whole = !this.#meant(text) || (this.#flush?.test(text) ?? false);
    return true;
  }
}

/** Lines meant, in a row; another line is an event of its own. */
class WhileGroup implements LineGroup {
  readonly #meant: (text: string) => boolean;
  #begun: boolean;
  whole = false;

  constructor(meant: (text: string) => boolean, resumed: boolean) {
    this.#meant = meant;
    this.#begun = resumed;
  }

  take(text: string): boolean {
    if (this.whole) return false;
    const meant = this.#meant(text);
    if (this.#begun && !meant) return false;
    this.#begun = true;
    this.whole = !meant;
    return true;
  }
}
