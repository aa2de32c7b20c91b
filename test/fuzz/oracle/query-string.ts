/** Random texts in the language of query_string, with parentheses around each group, so that no rule of precedence counts. */

import { numbersOf, tokensOf, valuesOf } from "./documents.ts";
import { isSimilar } from "./edit-distance.ts";
import type { Question, Subject } from "./question.ts";
import { someValue } from "./question.ts";
import { phraseTest, someWords } from "./text-queries.ts";

interface Clause {
  readonly text: string;
  readonly fits: Question["fits"];
}

export function queryString(subject: Subject): Question {
  const { text, fits } = clause(subject, 2);
  return { query: { query_string: { query: text } }, fits };
}

function clause(subject: Subject, depth: number): Clause {
  const { dice } = subject;
  if (depth === 0 || dice.chance(0.3))
    return dice.pick([word, word, phrase, keyword, numberRange, similar, hasField, wildcard])(subject);
  const parts = dice.times(2 + dice.below(2), () => clause(subject, depth - 1));
  const texts = parts.map(({ text }) => text);
  switch (dice.below(4)) {
    case 0:
      return { text: `(${texts.join(" AND ")})`, fits: (item) => parts.every((each) => each.fits(item)) };
    case 1:
      return { text: `(${texts.join(" OR ")})`, fits: (item) => parts.some((each) => each.fits(item)) };
    case 2:
      return {
        text: `(${texts[0]} AND NOT ${texts[1]})`,
        fits: (item) => parts[0]!.fits(item) && !parts[1]!.fits(item),
      };
    default:
      return {
        text: `(+${texts[0]} -${texts[1]} ${texts[2] ?? ""})`,
        fits: (item) => parts[0]!.fits(item) && !parts[1]!.fits(item),
      };
  }
}

function word(subject: Subject): Clause {
  const [text] = someWords(subject, 1);
  return {
    text: `t:${subject.dice.chance(0.3) ? text!.toUpperCase() : text}`,
    fits: (item) => tokensOf(item, "t").some((tokens) => tokens.includes(text!)),
  };
}

function similar(subject: Subject): Clause {
  const [text] = someWords(subject, 1);
  const edits = subject.dice.between(1, 2);
  return {
    text: `t:${text}~${edits}`,
    fits: (item) =>
      tokensOf(item, "t").some((tokens) => tokens.some((each) => isSimilar(each, text!, edits, 0))),
  };
}

function phrase(subject: Subject): Clause {
  const words = someWords(subject, 3);
  const slop = subject.dice.pick([0, 2]);
  return {
    text: `t:"${words.join(" ")}"${slop === 0 ? "" : `~${slop}`}`,
    fits: (item) => tokensOf(item, "t").some(phraseTest(words, slop)),
  };
}

function keyword(subject: Subject): Clause {
  const value = someValue(subject, "ks");
  return { text: `ks:${value}`, fits: (item) => valuesOf(item, "ks").includes(value) };
}

function wildcard(subject: Subject): Clause {
  const value = String(someValue(subject, "kk"));
  const start = value.slice(0, -1);
  const [text, expression] = subject.dice.pick([
    [`kk:${start}*`, new RegExp(`^${start}`)],
    [`kk:${start}?`, new RegExp(`^${start}.$`)],
    [`kk:/${start}[0-5]+/`, new RegExp(`^${start}[0-5]+$`)],
  ] as const);
  return { text, fits: (item) => valuesOf(item, "kk").some((each) => expression.test(String(each))) };
}

function numberRange({ dice }: Subject): Clause {
  const low = dice.between(-50, 40);
  const high = low + dice.below(30);
  const [text, test] = dice.pick<readonly [string, (value: number) => boolean]>([
    [`n:[${low} TO ${high}]`, (value) => value >= low && value <= high],
    [`n:{${low} TO ${high}]`, (value) => value > low && value <= high],
    [`n:[${low} TO ${high}}`, (value) => value >= low && value < high],
    [`n:[* TO ${high}]`, (value) => value <= high],
    [`n:>="${low}"`, (value) => value >= low],
    [`n:<"${high}"`, (value) => value < high],
  ]);
  return { text, fits: (item) => numbersOf(item, "n").some(test) };
}

function hasField({ dice }: Subject): Clause {
  const field = dice.pick(["at", "n", "ks", "ip"]);
  return { text: `_exists_:${field}`, fits: (item) => valuesOf(item, field).length > 0 };
}
