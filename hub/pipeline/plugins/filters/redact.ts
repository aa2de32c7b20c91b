/** Filter redact: removes sensitive data from texts: card numbers, mail addresses, tokens, custom patterns. */

import { createHmac } from "node:crypto";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { type Event, isHash } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { list, oneOf, optional, options, table, text } from "#proto/kit/options.ts";

/** Longest time one own pattern may take for one text, ms. */
const PATTERN_LIMIT_MS = 1_000;

/** Depth of values looked at; deeper ones don't occur in logs. */
const MAX_DEPTH = 32;

/** Hexadecimal digits kept of a keyed hash: 64 bits distinguish the values in logs. */
const HASH_DIGITS = 16;

/** What is known by its form. `accepts` sees each match: forms alone would take too much. */
interface Kind {
  readonly expression: RegExp;
  /** Text without which the expression can't match; spares most texts the search. */
  readonly hint?: string;
  readonly accepts?: (match: string) => boolean;
  /** What stands for a match; without it the option `replacement`. */
  readonly keep?: (match: string, replacement: string) => string;
}

const KINDS = {
  card: {
    expression: /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g,
    accepts: isCardNumber,
  },
  email: {
    expression: /[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g,
    hint: "@",
  },
  jwt: { expression: /\beyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*/g, hint: "eyJ" },
  bearer: {
    expression: /\b(?:Bearer|Basic|Token)\s+[\w.~+/=-]{8,}/gi,
    keep: (match, replacement) => `${match.slice(0, match.search(/\s/))} ${replacement}`,
  },
  token: {
    expression:
      /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bglpat-[\w-]{20,}|\bsk_(?:live|test)_[A-Za-z0-9]{16,}|\bAIza[\w-]{35}/g,
  },
  secret: {
    expression:
      /\b(?:pass(?:word|wd|phrase)?|pwd|secret|api[_-]?key|access[_-]?token|refresh[_-]?token|client[_-]?secret|token)["']?\s*[=:]\s*(?:"[^"]*"|'[^']*'|[^\s,;&"']+)/gi,
    keep: (match, replacement) => `${/^[^=:]*[=:]\s*/.exec(match)![0]}${replacement}`,
  },
  private_key: {
    expression: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    hint: "PRIVATE KEY",
  },
  url_password: {
    expression: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@]{0,256}:[^\s/@]{1,256}@/gi,
    hint: "://",
    keep: (match, replacement) => `${match.slice(0, match.lastIndexOf(":"))}:${replacement}@`,
  },
  iban: { expression: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g, accepts: isIban },
  ipv4: {
    expression: /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.])/g,
  },
} as const satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;
const KIND_NAMES = Object.keys(KINDS) as KindName[];
const DEFAULT_KINDS: KindName[] = [
  "card",
  "email",
  "jwt",
  "bearer",
  "token",
  "secret",
  "private_key",
  "url_password",
];

interface Rule {
  readonly name: string;
  readonly kind: Kind;
  /** Patterns that people wrote may never end. */
  readonly own: boolean;
}

export const redactFilter = defineFilter({
  name: "redact",
  description: "replaces card numbers, mail addresses, tokens and the like in texts",
  options: options({
    fields: list("fields to process, including nested ones; none: all fields"),
    exclude: list("fields that are not changed", ["@timestamp"]),
    kinds: list(`what to replace: ${KIND_NAMES.join(", ")}`, DEFAULT_KINDS),
    patterns: table("custom expressions by name; the name appears in the replacement"),
    replacement: text("replacement text; %{kind} is the name of the kind or pattern", "[%{kind}]"),
    method: oneOf(
      ["replace", "hash"],
      "hash puts a keyed hash after the name, so that equal values can still be recognised",
      "replace",
    ),
    key: optional(text("key of the hash; needed with method hash")),
    tag: text("tag of events with a replacement; empty: none", ""),
  }),
  create(values, context) {
    const rules = compileRules(values.kinds, values.patterns, context);
    if (values.method === "hash" && !values.key)
      context.report(
        "error",
        "method",
        "method hash needs a key",
        'write: key => "…", or name a variable of the environment',
      );
    const text = new TextRedactor(rules, context, replacementOf(values));
    const fields = values.fields.map(fieldReference);
    const excluded = new Set(values.exclude.map((field) => fieldReference(field).path.join("\0")));
    return {
      apply(event) {
        const changed = redactEvent(event, fields, excluded, text);
        if (changed && values.tag !== "") event.tag(values.tag);
        return changed;
      },
    };
  },
});

function compileRules(
  kinds: readonly string[],
  patterns: Readonly<Record<string, string>>,
  { report }: FilterContext,
): Rule[] {
  const rules: Rule[] = [];
  for (const name of kinds) {
    const kind: Kind | undefined = Object.hasOwn(KINDS, name) ? KINDS[name as KindName] : undefined;
    if (kind === undefined)
      report("error", "kinds", `"${name}" isn't a kind of thing`, `kinds are: ${KIND_NAMES.join(", ")}`);
    else rules.push({ name, kind, own: false });
  }
  for (const [name, pattern] of Object.entries(patterns)) {
    try {
      const expression = new RegExp(translateRubyRegexp(pattern).source, "gu");
      rules.push({ name, kind: { expression }, own: true });
    } catch (error) {
      report("error", "patterns", `${name}: ${(error as Error).message}`);
    }
  }
  return rules;
}

function replacementOf({
  replacement,
  method,
  key = "",
}: {
  readonly replacement: string;
  readonly method: string;
  readonly key?: string;
}): (name: string, match: string) => string {
  if (method !== "hash") return (name) => replacement.replaceAll("%{kind}", name);
  return (name, match) => {
    const digits = createHmac("sha256", key).update(match).digest("hex").slice(0, HASH_DIGITS);
    return replacement.replaceAll("%{kind}", `${name}:${digits}`);
  };
}

/** Replaces in one text; counts what it replaced. */
class TextRedactor {
  readonly #rules: readonly Rule[];
  readonly #context: FilterContext;
  readonly #replacement: (name: string, match: string) => string;
  changed = false;

  constructor(
    rules: readonly Rule[],
    context: FilterContext,
    replacement: (name: string, match: string) => string,
  ) {
    this.#rules = rules;
    this.#context = context;
    this.#replacement = replacement;
  }

  redact(text: string): string {
    let result = text;
    for (const rule of this.#rules) {
      if (rule.kind.hint !== undefined && !result.includes(rule.kind.hint)) continue;
      const replaced = this.#apply(rule, result);
      if (replaced !== result) this.changed = true;
      result = replaced;
    }
    return result;
  }

  #apply({ name, kind: { expression, accepts, keep }, own }: Rule, text: string): string {
    const work = (): string =>
      text.replace(expression, (match: string) => {
        if (accepts !== undefined && !accepts(match)) return match;
        const replacement = this.#replacement(name, match);
        return keep === undefined ? replacement : keep(match, replacement);
      });
    const { guard } = this.#context;
    if (!own) return work();
    try {
      return guard.run(expression, text, PATTERN_LIMIT_MS, work);
    } catch (error) {
      if (!(error instanceof RegexpTimeout)) throw error;
      // What can't be looked through must not be indexed as it is.
      return this.#replacement(name, text);
    }
  }
}

function redactEvent(
  event: Event,
  fields: readonly FieldReference[],
  excluded: ReadonlySet<string>,
  text: TextRedactor,
): boolean {
  text.changed = false;
  if (fields.length === 0) {
    redactMembers(event.fields, "", excluded, text, 0);
    return text.changed;
  }
  for (const field of fields) {
    const value = event.get(field);
    if (value === undefined || excluded.has(field.path.join("\0"))) continue;
    const replaced = redactValue(value, field.path.join("\0"), excluded, text, 0);
    if (replaced !== value) event.set(field, replaced);
  }
  return text.changed;
}

/** Returns `value`, or what stands for it. Objects and lists are changed in place. */
function redactValue(
  value: unknown,
  path: string,
  excluded: ReadonlySet<string>,
  text: TextRedactor,
  depth: number,
): unknown {
  if (typeof value === "string") return text.redact(value);
  // A card number may come as a number.
  if (typeof value === "number") {
    const written = String(value);
    const replaced = written.length < 13 ? written : text.redact(written);
    return replaced === written ? value : replaced;
  }
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      value[index] = redactValue(item, path, excluded, text, depth + 1);
  } else if (isHash(value)) {
    redactMembers(value, path, excluded, text, depth + 1);
  }
  return value;
}

function redactMembers(
  object: JsonObject,
  path: string,
  excluded: ReadonlySet<string>,
  text: TextRedactor,
  depth: number,
): void {
  for (const name of Object.keys(object)) {
    const at = path === "" ? name : `${path}\0${name}`;
    if (excluded.has(at) || name === "__proto__") continue;
    const value = object[name];
    const replaced = redactValue(value, at, excluded, text, depth);
    if (replaced !== value) object[name] = replaced;
  }
}

/** ISO/IEC 7812: a known first digit and the sum of Luhn. */
function isCardNumber(match: string): boolean {
  const digits = match.replace(/\D/g, "");
  if (digits.length < 13 || digits.length > 19 || !/^[2-6]/.test(digits) || /^(\d)\1+$/.test(digits))
    return false;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the remainder by 97 is 1. */
function isIban(match: string): boolean {
  const compact = match.replaceAll(" ", "");
  if (compact.length < 15 || compact.length > 34) return false;
  const rotated = compact.slice(4) + compact.slice(0, 4);
  const digits = rotated.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return BigInt(digits) % 97n === 1n;
}
