/** Processors that change texts, and those that drop or fail a document. */

import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { print } from "#hub/scripts/values/values.ts";
import { withoutMarkup } from "#proto/codec/html-markup.ts";
import { AppError } from "#proto/kit/errors.ts";
import { ProcessorFault, typeNameOf } from "./ingest-document.ts";
import { type JavaRegexp, javaRegexp } from "./java-regexp.ts";
import { decodePercents } from "./percent-encoding.ts";
import { fieldChange, type ProcessorKind, type ProcessorSettings, readField, readText } from "./processor.ts";
import { compileTemplate } from "./template.ts";

/** Time of one expression on one text. */
const EXPRESSION_MS = 1_000;

/** By the first letter of a unit: 2g is 2gb. */
const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  p: 2 ** 50,
};

/** The first version whose processors of texts take lists of texts. */
const FIRST_WITH_LISTS = 706;

/** A processor that makes one text of another; of a list, of each item. */
function ofText(change: (text: string) => unknown): ProcessorKind {
  return (settings, { version }) => {
    const field = fieldChange(settings);
    const takesLists = version >= FIRST_WITH_LISTS;
    return (document) => {
      const value = readField(document, field);
      if (value === undefined) return;
      if (takesLists && Array.isArray(value) && value.every((item) => typeof item === "string")) {
        document.set(field.target, value.map(change));
        return;
      }
      if (typeof value !== "string")
        throw new ProcessorFault(
          `field [${field.field}] of type [${typeNameOf(value)}] cannot be cast to [java.lang.String]`,
        );
      document.set(field.target, change(value));
    };
  };
}

const gsub: ProcessorKind = (settings, context) => {
  const pattern = expressionOf(settings, "pattern");
  const expression = new RegExp(pattern.expression, "gv");
  const replacement = javaReplacement(settings.text("replacement"), pattern);
  return ofText((text) =>
    within(() =>
      context.guard.run(expression, text, EXPRESSION_MS, () => text.replace(expression, replacement)),
    ),
  )(settings, context);
};

/**
 * Replacement of a match in Java: `$1` and `${name}` are captures, `\\` quotes the next character. Any other text fails
 * at the first match only.
 */
function javaReplacement(text: string, pattern: JavaRegexp): (...match: unknown[]) => string {
  const fault = replacementFault(text, pattern);
  if (fault !== undefined)
    return () => {
      throw new ProcessorFault(fault);
    };
  const parts = [...text.matchAll(/\\(.)|\$(?:(\d+)|\{(\w+)\})|([^\\$]+|[\\$])/gs)];
  return (...match) => {
    const groups = match.at(-1) as Readonly<Record<string, string | undefined>>;
    const captures = Array.from({ length: 1 + pattern.groupCount }, (_, at) =>
      at === 0 ? String(match[0]) : groups[`g${at}`],
    );
    let made = "";
    for (const [, quoted, digits, name, plain] of parts) {
      if (digits !== undefined) made += capture(digits, captures);
      else if (name !== undefined) made += captures[pattern.names.get(name)!] ?? "";
      else made += quoted ?? plain ?? "";
    }
    return made;
  };
}

/** Returns what is wrong with the replacement of a match. */
function replacementFault(text: string, { groupCount, names }: JavaRegexp): string | undefined {
  for (const [, quoted, dollar, group] of text.matchAll(/(\\.?)|(\$(?:(\d|\{\w+\})|))/gs)) {
    if (quoted === "\\") return "character to be escaped is missing";
    if (dollar === undefined) continue;
    if (group === undefined) return "Illegal group reference: group index is missing";
    if (/\d/.test(group) && Number(group) > groupCount) return `No group ${group}`;
    if (group.startsWith("{") && !names.has(group.slice(1, -1))) return `No group with name ${group}`;
  }
  return undefined;
}

/** The longest number that is one of a capture; digits after it stand for themselves. */
function capture(digits: string, captures: readonly (string | undefined)[]): string {
  let length = digits.length;
  while (length > 1 && Number(digits.slice(0, length)) >= captures.length) length--;
  return `${captures[Number(digits.slice(0, length))] ?? ""}${digits.slice(length)}`;
}

const split: ProcessorKind = (settings, { guard }) => {
  const field = fieldChange(settings);
  const separator = expressionOf(settings, "separator").expression;
  const keepsTrailing = settings.flag("preserve_trailing");
  return (document) => {
    const value = readText(document, field);
    if (value === undefined) return;
    const parts = within(() => guard.run(separator, value, EXPRESSION_MS, () => partsOf(value, separator)));
    // A text without a separator is a part, also an empty one.
    if (!keepsTrailing && value !== "") while (parts.at(-1) === "") parts.pop();
    document.set(field.target, parts);
  };
};

/** What is between the matches of `separator`, as String.split() of Java; that of texts here adds what groups catch. */
export function partsOf(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(separator.source, `${separator.flags.replace("g", "")}g`))) {
    const to = match.index + match[0].length;
    // An empty match at the start cuts nothing.
    if (to === 0) continue;
    parts.push(text.slice(from, match.index));
    from = to;
  }
  return [...parts, text.slice(from)];
}

const join: ProcessorKind = (settings) => {
  const field = fieldChange(settings);
  const separator = settings.text("separator");
  return (document) => {
    const value = readField(document, field);
    if (!Array.isArray(value))
      throw new ProcessorFault(
        `field [${field.field}] of type [${typeNameOf(value)}] cannot be cast to [java.util.List]`,
      );
    document.set(field.target, value.map((item) => print(item)).join(separator));
  };
};

const drop: ProcessorKind = () => (document) => {
  document.dropped = true;
};

const terminate: ProcessorKind = () => (document) => {
  document.isTerminated = true;
};

const fail: ProcessorKind = (settings) => {
  const message = compileTemplate(settings.text("message"));
  return (document) => {
    throw new ProcessorFault(message(document), {
      javaClass: "org.elasticsearch.ingest.common.FailProcessorException",
    });
  };
};

const pipeline: ProcessorKind = (settings, context) => {
  const name = compileTemplate(settings.text("name"));
  const ignoresMissing = settings.flag("ignore_missing_pipeline");
  return (document) => {
    const id = name(document);
    if (context.hasPipeline(id)) context.call(id, document);
    else if (!ignoresMissing)
      throw new ProcessorFault(`Pipeline processor configured for non-existent pipeline [${id}]`, {
        javaClass: "java.lang.IllegalStateException",
      });
  };
};

export const TEXT_PROCESSORS: Readonly<Record<string, ProcessorKind>> = {
  lowercase: ofText((text) => text.toLowerCase()),
  uppercase: ofText((text) => text.toUpperCase()),
  trim: ofText(trimmed),
  html_strip: ofText(stripHtml),
  urldecode: ofText(decodeUrl),
  bytes: ofText(byteCount),
  gsub,
  split,
  join,
  drop,
  terminate,
  fail,
  pipeline,
};

/** Takes an expression of Java. Throws request_invalid. */
export function expressionOf(settings: ProcessorSettings, name: string): JavaRegexp {
  try {
    return javaRegexp(settings.text(name));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw settings.fault(name, `Invalid regex pattern. ${(error as Error).message}`);
  }
}

/** Runs an expression; one that takes too long is a fault of its processor. */
export function within<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RegexpTimeout) throw new ProcessorFault(`the expression was ${error.message}`);
    throw error;
  }
}

/** The original leaves a text alone that has no tag, with its entities. */
function stripHtml(text: string): string {
  return text.includes("<") && text.includes(">") ? withoutMarkup(text) : text;
}

/** Removes blanks and control characters at the ends, as Java's trim does, which leaves all other white space. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text[from]! <= " ") from++;
  while (to > from && text[to - 1]! <= " ") to--;
  return text.slice(from, to);
}

function decodeUrl(text: string): string {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw new ProcessorFault(`[${text}] isn't a URL-encoded text`);
  return decodePercents(text.replaceAll("+", " "));
}

function byteCount(text: string): number {
  const [, amount, unit = ""] = /^(-?\d+(?:\.\d+)?)\s*([kmgtp]b?|b)?$/i.exec(text.trim()) ?? [];
  if (text === "-1" || text === "0") return Number(text);
  const fault = (reason: string): ProcessorFault =>
    new ProcessorFault(
      `failed to parse setting [Ingest Field] with value [${text}] as a size in bytes${reason}`,
      { javaClass: "ElasticsearchParseException" },
    );
  if (unit === "") throw fault(": unit is missing or unrecognized");
  if (amount === undefined || amount.startsWith("-")) throw fault("");
  return Math.trunc(Number(amount) * BYTES[unit.charAt(0).toLowerCase()]!);
}
