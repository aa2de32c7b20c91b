/**
 * Filter grok with patterns composed of known ones, written for this language.
 *
 * Not expected: the tag where several expressions are tried and the last one doesn't match; captures that took no part in the
 * match, where the field has a value; a name that has both a conversion and none.
 */

import type { Dice } from "#test/fuzz/oracle/dice.ts";
import type { PlainFilter } from "../configuration.ts";
import { FieldError, type PlainEvent } from "../plain-event.ts";
import { textOf, Unspecified, type Value } from "../values.ts";
import { reference, word } from "../vocabulary.ts";

const WORD_SIGN = "[\\p{L}\\p{M}\\p{N}\\p{Pc}]";
/** `\b` of Ruby is Unicode's, `\w` ASCII's. */
const BORDER = `(?:(?<=${WORD_SIGN})(?!${WORD_SIGN})|(?<!${WORD_SIGN})(?=${WORD_SIGN}))`;
/** The library of grok compiles with the option for several lines, so that a dot is any character. */
const ANY = "[^]";

interface Pattern {
  readonly here: string;
  readonly samples: readonly string[];
}

/** From logstash-patterns-core, patterns/legacy/grok-patterns. */
const PATTERNS: Readonly<Record<string, Pattern>> = {
  WORD: { here: `${BORDER}\\w+${BORDER}`, samples: ["one", "x_1", "ABC", "é"] },
  NOTSPACE: { here: "[^ \\t\\r\\n\\f\\v]+", samples: ["a-b", "日本", "😀"] },
  DATA: { here: `${ANY}*?`, samples: ["", "any thing", "x"] },
  GREEDYDATA: { here: `${ANY}*`, samples: ["", "the rest: of it", "two\nlines"] },
  INT: { here: "(?:[+-]?(?:[0-9]+))", samples: ["5", "-12", "+7", "007"] },
  POSINT: { here: `${BORDER}(?:[1-9][0-9]*)${BORDER}`, samples: ["5", "120", "0"] },
  NONNEGINT: { here: `${BORDER}(?:[0-9]+)${BORDER}`, samples: ["5", "0", "x"] },
  BASE10NUM: {
    here: "(?<![0-9.+\\-])[+-]?(?:[0-9]+(?:\\.[0-9]+)?(?![0-9])|\\.[0-9]+(?![0-9]))",
    samples: ["5", "-2.5", ".5", "1000000.25"],
  },
  USERNAME: { here: "[a-zA-Z0-9._\\-]+", samples: ["joe", "a.b-c", "_"] },
  MONTHNUM: { here: "(?:0?[1-9]|1[0-2])", samples: ["1", "07", "12"] },
  HOUR: { here: "(?:2[0123]|[01]?[0-9])", samples: ["23", "7", "00"] },
  MINUTE: { here: "(?:[0-5][0-9])", samples: ["59", "07"] },
  LOGLEVEL: {
    here: "(?:[Ee][Rr][Rr](?:[Oo][Rr])?|[Ww][Aa][Rr][Nn]|[Ii]nfo|INFO)",
    samples: ["ERROR", "warn", "info"],
  },
};

interface Part {
  readonly text: string;
  readonly here: string;
  /** In the order of the groups. */
  readonly captures: readonly Capture[];
  readonly sample: (dice: Dice) => string;
}

interface Capture {
  readonly name: string;
  readonly kind: string | undefined;
}

const FIELDS = ["a", "b", "word", "num", "[n][g]", "message", "ü_"];

function randomPart(dice: Dice): Part {
  if (dice.chance(0.12)) {
    const name = dice.pick(["named", "b"]);
    return {
      text: `(?<${name}>[a-c]+)`,
      here: "([a-c]+)",
      captures: [{ name, kind: undefined }],
      sample: (dice) => dice.pick(["abc", "a"]),
    };
  }
  const pattern = dice.pick(Object.keys(PATTERNS).filter((each) => each !== "LOGLEVEL"));
  const { here, samples } = PATTERNS[pattern]!;
  const isNamed = dice.chance(0.8);
  const isNumber = /INT|NUM|HOUR|MINUTE/.test(pattern);
  const kind = isNamed && isNumber && dice.chance(0.4) ? dice.pick(["int", "float"]) : undefined;
  const name = dice.pick(
    kind === undefined ? FIELDS.slice(0, 3).concat(FIELDS.slice(4)) : ["num", "[n][num]"],
  );
  const isOptional = dice.chance(0.15);
  const text = `%{${pattern}${isNamed ? `:${name}` : ""}${kind === undefined ? "" : `:${kind}`}}`;
  const inner = isNamed ? `(${here})` : `(?:${here})`;
  return {
    text: isOptional ? `(?:${text})?` : text,
    here: isOptional ? `(?:${inner}|)` : inner,
    captures: isNamed ? [{ name, kind }] : [],
    sample: (dice) => (isOptional && dice.chance(0.5) ? "" : dice.pick(samples)),
  };
}

interface Expression {
  readonly text: string;
  readonly here: RegExp;
  readonly captures: readonly Capture[];
  readonly sample: (dice: Dice) => string;
}

const BETWEEN: readonly [ruby: string, here: string, sample: string][] = [
  [" ", " ", " "],
  [" ", " ", " "],
  [",", ",", ","],
  ["\\[", "\\[", "["],
  [": +", ": +", ":  "],
  ["\\s*", "[ \\t\\r\\n\\f\\v]*", " "],
];

function randomExpression(dice: Dice): Expression {
  const parts: Part[] = [];
  const isWhole = dice.chance(0.3);
  let [text, here] = [isWhole ? "^" : "", isWhole ? "^" : ""];
  const samples: ((dice: Dice) => string)[] = [];
  for (let at = dice.between(1, 4); at > 0; at--) {
    const part = randomPart(dice);
    parts.push(part);
    text += part.text;
    here += part.here;
    samples.push(part.sample);
    if (at === 1) break;
    const [ruby, same, sample] = dice.pick(BETWEEN);
    text += ruby;
    here += same;
    samples.push(() => sample);
  }
  if (isWhole && dice.chance(0.5)) [text, here] = [`${text}$`, `${here}(?:$|(?=\\n))`];
  return {
    text,
    here: new RegExp(here.replace(/^\^/, "(?:^|(?<=\\n))"), "u"),
    captures: parts.flatMap(({ captures }) => captures),
    sample: (dice) => samples.map((sample) => sample(dice)).join(""),
  };
}

export function grok(dice: Dice): PlainFilter {
  const expressions = dice.times(dice.between(1, 3), () => randomExpression(dice));
  const field = dice.chance(0.8) ? "message" : reference(dice);
  const isBroken = dice.chance(0.3) ? false : undefined;
  const keepsEmpty = dice.chance(0.2) ? true : undefined;
  const overwrite = dice.chance(0.4) ? dice.some(FIELDS, 2) : undefined;
  const into = dice.chance(0.2) ? dice.pick(["g", "[g][in]"]) : undefined;
  const names = new Map<string, Set<string | undefined>>();
  for (const { name, kind } of expressions.flatMap(({ captures }) => captures))
    names.set(name, (names.get(name) ?? new Set()).add(kind));
  const isMixed = [...names.values()].some((kinds) => kinds.size > 1);
  return {
    name: "grok",
    options: {
      match: new Map([
        [field, expressions.length === 1 ? expressions[0]!.text : expressions.map(({ text }) => text)],
      ]),
      break_on_match: isBroken,
      keep_empty_captures: keepsEmpty,
      overwrite,
      target: into,
    },
    message: (dice) => (dice.chance(0.8) ? dice.pick(expressions).sample(dice) : word(dice)),
    apply(event, { matched }) {
      if (isMixed) throw new Unspecified("conversions of a name");
      const value = event.get(field);
      const inputs = Array.isArray(value) ? value : [value ?? ""];
      let isMatched = false;
      let hasMatched = false;
      try {
        for (const input of inputs) {
          let hasLast = false;
          for (const { here, captures } of expressions) {
            const found = here.exec(textOf(input));
            hasLast = found !== null;
            if (found === null) continue;
            hasMatched = true;
            for (const [name, value] of captured(captures, found)) handle(event, name, value);
            if (isBroken !== false) break;
          }
          isMatched ||= hasLast;
        }
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        isMatched = false;
      }
      if (hasMatched && !isMatched)
        throw new Unspecified("only the last expression's result counts in its source");
      if (isMatched) matched(event);
      else event.tag("_grokparsefailure");
    },
  };

  function handle(event: PlainEvent, name: string, value: Value): void {
    if ((value === null || value === "") && keepsEmpty !== true) return;
    const path = name.startsWith("[") ? name : `[${name}]`;
    const prefix = into === undefined ? "" : into.startsWith("[") ? into : `[${into}]`;
    const full = prefix + path;
    const before = event.get(full);
    if (value === null && before !== undefined)
      throw new Unspecified("a capture without a match beside a value");
    if (before === undefined || before === null || overwrite?.includes(name)) event.set(full, value);
    else if (Array.isArray(before)) event.set(full, [...before, value]);
    else if (typeof before === "string") event.set(full, [before, value]);
  }
}

/** Captures of one name come one after the other, at the first one's place. */
function captured(captures: readonly Capture[], found: RegExpExecArray): [string, Value][] {
  const all = captures.map(
    ({ name, kind }, at) => [name, convertedTo(kind, found[at + 1])] as [string, Value],
  );
  const names = [...new Set(captures.map(({ name }) => name))];
  return names.flatMap((name) => all.filter(([each]) => each === name));
}

function convertedTo(kind: string | undefined, text: string | undefined): Value {
  if (text === undefined) return null;
  if (kind === "int") return BigInt(/^[-+]?[0-9]+/.exec(text)?.[0].replace(/^\+/, "") ?? "0");
  return kind === "float" ? Number(text) : text;
}
