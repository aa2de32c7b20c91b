/** Codec multiline: lines that belong together become one event. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Static } from "typebox";
import { grokPatterns, parsePatternFile } from "#hub/pipeline/grok/all.ts";
import { compileGrok } from "#hub/pipeline/grok/grok-expression.ts";
import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import type { RubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { flag, list, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { parseSize } from "#proto/kit/units.ts";
import { splitPayload } from "./line.ts";
import { charsetOption, toUtf8 } from "./plain.ts";

const LINES_TAG = "multiline_codec_max_lines_reached";
const BYTES_TAG = "multiline_codec_max_bytes_reached";

const OPTIONS = options({
  pattern: text("grok expression for lines that belong to another line"),
  what: oneOf(["previous", "next"], "whether a matching line belongs to the previous or the next line"),
  negate: flag("lines that do not match belong to another line", false),
  patterns_dir: list("folders of pattern files"),
  charset: charsetOption,
  multiline_tag: text("tag of events of several lines; empty: none", "multiline"),
  max_lines: Type.Integer({ default: 500, minimum: 1, description: "maximum number of lines of an event" }),
  max_bytes: text("maximum size of an event, bytes", "10 MiB"),
  auto_flush_interval: optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: "how long to wait for a further line, s; default: 5",
    }),
  ),
});

type Options = Static<typeof OPTIONS>;

/** A stack trace's lines are written at once. s */
const FLUSH_AFTER_S = 5;

export const multilineCodec = defineCodec({
  name: "multiline",
  description: "lines of text, some of which belong together",
  options: OPTIONS,
  create: (values) => new Multiline(values),
});

class Multiline implements Codec {
  readonly #values: Options;
  readonly #maxBytes: number;
  readonly #utf8: (bytes: Uint8Array) => Uint8Array;
  readonly #expression: RubyRegexp;
  #lines: string[] = [];
  #bytes = 0;
  #timeMs = 0;
  #invalid = false;
  /** Payloads that lines held back came from. */
  #held = 0;

  constructor(values: Options) {
    this.#values = values;
    this.#maxBytes = parseSize(values.max_bytes);
    this.#utf8 = toUtf8(values.charset);
    const patterns = new Map(grokPatterns(false));
    for (const folder of values.patterns_dir) {
      for (const name of readdirSync(folder).sort((a, b) => (a < b ? -1 : 1)))
        for (const [key, pattern] of parsePatternFile(readFileSync(join(folder, name), "utf8")))
          patterns.set(key, pattern);
    }
    this.#expression = compileGrok(values.pattern, { patterns, namedCapturesOnly: true });
  }

  get held(): number {
    return this.#held;
  }

  get flushAfterMs(): number {
    return (this.#values.auto_flush_interval ?? FLUSH_AFTER_S) * 1000;
  }

  decode(payload: Uint8Array, timeMs: number): Event[] {
    const events: Event[] = [];
    const before = this.#held;
    this.#held = 0;
    let kept = before;
    for (const line of splitPayload(this.#utf8(payload), "\n")) {
      const made = this.#take(line, timeMs);
      if (made.length > 0) kept = 0;
      events.push(...made);
    }
    this.#held = this.#lines.length === 0 ? 0 : kept + 1;
    return events;
  }

  flush(): Event[] {
    this.#held = 0;
    return this.#lines.length === 0 ? [] : [this.#event([])];
  }

  encode(event: Event): Uint8Array {
    const message = event.fields["message"];
    return Buffer.from(`${typeof message === "string" ? message : event.toJson()}\n`);
  }

  #take(bytes: Uint8Array, timeMs: number): Event[] {
    const valid = toValidUtf8(bytes);
    const text = decodeText(valid);
    const belongs = this.#matches(text) !== this.#values.negate;
    const events: Event[] = [];
    if (this.#values.what === "previous" && !belongs && this.#lines.length > 0) events.push(this.#event([]));
    this.#add(text, valid, timeMs, valid !== bytes);
    const reached = [
      ...(this.#lines.length >= this.#values.max_lines ? [LINES_TAG] : []),
      ...(this.#bytes >= this.#maxBytes ? [BYTES_TAG] : []),
    ];
    if (reached.length > 0) events.push(this.#event(reached));
    else if (this.#values.what === "next" && !belongs) events.push(this.#event([]));
    return events;
  }

  #matches(text: string): boolean {
    return this.#expression.mayMatch(text) && this.#expression.expression(text).test(text);
  }

  #add(text: string, bytes: Uint8Array, timeMs: number, invalid: boolean): void {
    if (this.#lines.length === 0) this.#timeMs = timeMs;
    this.#lines.push(text);
    this.#bytes += bytes.length;
    this.#invalid ||= invalid;
  }

  #event(tags: readonly string[]): Event {
    const event = new Event({ message: this.#lines.join("\n") }, this.#timeMs);
    if (this.#lines.length > 1 && this.#values.multiline_tag !== "") event.tag(this.#values.multiline_tag);
    for (const tag of tags) event.tag(tag);
    if (this.#invalid) event.tag(INVALID_UTF8_TAG);
    this.#lines = [];
    this.#bytes = 0;
    this.#invalid = false;
    return event;
  }
}
