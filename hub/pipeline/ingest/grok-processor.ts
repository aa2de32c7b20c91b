/** `grok`: reads fields out of a text by patterns, which are one expression of alternatives. */

import { compileGrok } from "#hub/pipeline/grok/grok-expression.ts";
import { CaptureReader } from "#hub/pipeline/regexp/capture-reader.ts";
import type { RubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { parseJson } from "#proto/codec/json.ts";
import { ingestPatterns } from "./grok-versions.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { type ProcessorContext, type ProcessorKind, type ProcessorSettings, readText } from "./processor.ts";
import { within } from "./text-processors.ts";

/** Time an expression of a document may take. */
const EXPRESSION_MS = 1_000;

/** The first version in which a name that is captured several times is a list; before, its first value counts. */
const FIRST_WITH_LISTS = 807;

/** The first version that converts to more than int and float; before, other types leave a text. */
const FIRST_WITH_TYPES = 700;

/** Where a capture goes. */
interface Target {
  readonly field: string;
  readonly type: string;
}

export const grok: ProcessorKind = (settings, context) => {
  const field = settings.text("field");
  const ignoreMissing = settings.flag("ignore_missing");
  const definitions = settings.table("pattern_definitions");
  const traces = settings.flag("trace_match");
  const keepsAll = context.version >= FIRST_WITH_LISTS;
  const sources = settings.list("patterns");
  const isEcs = settings.choice("ecs_compatibility", ["disabled", "v1"]) === "v1";
  const known = ingestPatterns(isEcs, context.version);
  if (sources.length === 0) throw settings.fault("patterns", "List of patterns must not be empty");
  const isTyped = context.version >= FIRST_WITH_TYPES;
  const patterns = sources.map(
    (source) => new GrokPattern(source, { definitions, known, isTyped }, settings),
  );
  return (document) => {
    const value = readText(document, { field, target: field, ignoreMissing });
    if (value === undefined) return;
    const found = firstMatch(patterns, value, context);
    if (found === undefined)
      throw new ProcessorFault(`Provided Grok expressions do not match field value: [${value}]`);
    for (const [path, values] of found.pattern.captures(found.match))
      document.set(path, values.length === 1 || !keepsAll ? values[0] : values);
    if (traces) document.ingest["_grok_match_index"] = String(patterns.indexOf(found.pattern));
  };
};

interface Found {
  readonly pattern: GrokPattern;
  readonly match: RegExpExecArray;
}

/** As alternatives of one expression: the match that begins first counts, then the order of the patterns. */
function firstMatch(
  patterns: readonly GrokPattern[],
  text: string,
  { guard }: ProcessorContext,
): Found | undefined {
  let best: Found | undefined;
  for (const pattern of patterns) {
    if (!pattern.regexp.mayMatch(text)) continue;
    const match = within(() => guard.exec(pattern.regexp.expression(text), text, EXPRESSION_MS));
    if (match === null || (best !== undefined && match.index >= best.match.index)) continue;
    best = { pattern, match };
    if (match.index === 0) break;
  }
  return best;
}

/** The patterns that expressions name. */
interface Dictionary {
  /** Of the processor itself. */
  readonly definitions: Readonly<Record<string, string>>;
  /** Of the server. */
  readonly known: ReadonlyMap<string, string>;
  /** Captures may be long, double and boolean too. */
  readonly isTyped: boolean;
}

class GrokPattern {
  readonly regexp: RubyRegexp;
  readonly #reader: CaptureReader<Target>;

  constructor(source: string, { definitions, known, isTyped }: Dictionary, settings: ProcessorSettings) {
    const patterns = new Map([...known, ...Object.entries(definitions)]);
    try {
      this.regexp = compileGrok(source, { patterns, namedCapturesOnly: true, dotAll: false });
    } catch (error) {
      throw settings.fault("patterns", (error as Error).message);
    }
    const targets = new Map<string, Target>();
    this.#reader = new CaptureReader(this.regexp, (name) => {
      const target = targets.get(name) ?? targetOf(name, isTyped);
      targets.set(name, target);
      return target;
    });
  }

  /** Returns the values of each field; several where more than one of its captures took part. */
  captures(match: RegExpExecArray): Map<string, unknown[]> {
    const values = new Map<string, unknown[]>();
    this.#reader.visit(match, ({ field, type }, text) => {
      const list = values.get(field);
      if (list === undefined) values.set(field, [typed(text, type)]);
      else list.push(typed(text, type));
    });
    return values;
  }
}

function targetOf(name: string, isTyped: boolean): Target {
  const [, field = name, type = "string"] = /^(.*):([a-z]+)$/.exec(name) ?? [];
  return { field, type: isTyped || type === "int" || type === "float" ? type : "string" };
}

function typed(text: string, type: string): unknown {
  switch (type) {
    case "int":
    case "long":
      return integerOf(text, type);
    case "float":
    case "double": {
      const number = text.trim() === "" ? Number.NaN : Number(text);
      if (Number.isNaN(number)) throw new ProcessorFault(`For input string: "${text}"`);
      // Scripts calculate with the 32 bits of a float.
      return new Decimal(number, type === "float");
    }
    case "boolean":
      return text.toLowerCase() === "true";
    default:
      return text;
  }
}

function integerOf(text: string, type: "int" | "long"): unknown {
  const bits = type === "int" ? 31n : 63n;
  const number = /^[-+]?\d{1,19}$/.test(text) ? BigInt(text.replace("+", "")) : undefined;
  if (number === undefined || number >= 2n ** bits || number < -(2n ** bits))
    throw new ProcessorFault(`For input string: "${text}"`);
  return Number.isSafeInteger(Number(number)) ? Number(number) : parseJson(String(number));
}
