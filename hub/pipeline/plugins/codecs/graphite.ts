/** Codec graphite: lines of name, value and time, as Carbon receives them (plaintext protocol of Graphite). */

import type { Static } from "typebox";
import { toFloat } from "#hub/pipeline/formats/value-conversion.ts";
import { type Codec, defineCodec } from "#hub/pipeline/plugins/codec.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { decimal } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash, Timestamp, valueText } from "#proto/event.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { flag, list, options, table, text } from "#proto/kit/options.ts";
import { splitPayload } from "./line.ts";

const FAILURE_TAG = "_graphiteparsefailure";

/** Longest name, and format of names, that is written: they come from fields, and expressions run over them. */
const MAX_NAME = 512;

/** Stands for a metric's name in metrics_format. */
const PLACEHOLDER = "*";

const OPTIONS = options({
  metrics: table("values by the names of their metrics, both as formats"),
  fields_are_metrics: flag("writes each field as a metric instead of those of metrics", false),
  include_metrics: list("regular expressions of names; others aren't written", [".*"]),
  exclude_metrics: list("regular expressions of names that aren't written", ["%\\{[^}]+\\}"]),
  metrics_format: text("format of names; * stands for the metric's own", PLACEHOLDER),
});

type Values = Static<typeof OPTIONS>;

export const graphiteCodec = defineCodec({
  name: "graphite",
  description: "lines of name, value and time in seconds, as Graphite receives them",
  options: OPTIONS,
  create: (values): Codec => {
    const write = new MetricWriter(values);
    return {
      decode: (payload, timeMs) => splitPayload(payload, "\n").map((line) => readMetric(line, timeMs)),
      encode: (event) => Buffer.from(write.lines(event)),
    };
  },
});

/** A line without a time has that of its arrival; a name is one field, whatever is in it. */
function readMetric(line: Uint8Array, nowMs: number): Event {
  const message = decodeText(line);
  const [name = "", value = "", time] = message.trim().split(/\s+/);
  const seconds = time === undefined ? nowMs / 1000 : Number(time);
  if (
    name === "" ||
    name.startsWith("@") ||
    value === "" ||
    !Number.isFinite(Number(value)) ||
    !Number.isFinite(seconds)
  ) {
    const event = new Event({ message }, nowMs);
    event.tag(FAILURE_TAG);
    return event;
  }
  return new Event({ [name]: decimal(Number(value)), "@timestamp": new Timestamp(seconds * 1000) }, nowMs);
}

class MetricWriter {
  readonly #fieldsAreMetrics: boolean;
  readonly #metrics: readonly (readonly [name: Format, value: Format])[];
  readonly #included: readonly RegExp[];
  readonly #excluded: readonly RegExp[];
  readonly #format: Format;

  constructor(values: Values) {
    this.#fieldsAreMetrics = values.fields_are_metrics;
    this.#metrics = Object.entries(values.metrics).map(
      ([name, value]) => [compileFormat(name), compileFormat(value)] as const,
    );
    this.#included = values.include_metrics.map(regexp);
    this.#excluded = values.exclude_metrics.map(regexp);
    this.#format = compileFormat(values.metrics_format);
  }

  lines(event: Event): string {
    const seconds = Math.floor(event.timeMs / 1000);
    const format = this.#format(event);
    if (format.length > MAX_NAME) return "";
    const written = this.#named(event).flatMap(([name, value]) => {
      if (name.length > MAX_NAME) return [];
      const isWritten =
        this.#included.some((each) => each.test(name)) && !this.#excluded.some((each) => each.test(name));
      if (!isWritten) return [];
      return `${format.replaceAll(PLACEHOLDER, () => name).replace(/\s+/g, "_")} ${decimalText(value)} ${seconds}\n`;
    });
    return written.join("");
  }

  #named(event: Event): (readonly [name: string, value: string])[] {
    if (!this.#fieldsAreMetrics)
      return this.#metrics.map(([name, value]) => [name(event), value(event)] as const);
    return Object.entries(event.fields)
      .filter(([name, value]) => !name.startsWith("@") && !isHash(value) && !Array.isArray(value))
      .map(([name, value]) => [name, valueText(value)] as const);
  }
}

/** Carbon reads floats; what isn't a number, or one that no float holds, is 0. */
function decimalText(value: string): string {
  const number = Number(toFloat(value)) || 0;
  if (!Number.isFinite(number)) return "0.0";
  // From 1e21 on a whole number has an exponent, after which no fraction may follow.
  return Number.isInteger(number) && Math.abs(number) < 1e21 ? `${number}.0` : String(number);
}

function regexp(source: string): RegExp {
  return new RegExp(translateRubyRegexp(source).source, "u");
}
