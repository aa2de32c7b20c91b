/** Random texts of simple_query_string, and of query_string over several fields, in which each word counts on its own. */

import { type Item, tokensOf } from "./documents.ts";
import { isSimilar } from "./edit-distance.ts";
import { leastClauses, randomLeast } from "./least-clauses.ts";
import type { Question, Subject } from "./question.ts";
import { phraseTest, someWords } from "./text-queries.ts";

type Test = (item: Item) => boolean;

interface Part {
  readonly text: string;
  readonly fits: Test;
}

const FIELDS = ["t", "s"];

function inAny(test: (tokens: readonly string[]) => boolean): Test {
  return (item) => FIELDS.some((field) => tokensOf(item, field).some(test));
}

/** Words, beginnings, similar words and phrases, each with a marker of a group, or none. */
export function simpleQueryString(subject: Subject): Question {
  const { dice } = subject;
  const parts = dice.times(dice.between(1, 3), () => part(subject));
  const operator = dice.pick(["and", "or"]);
  switch (dice.below(3)) {
    case 0: {
      const text = parts.map((each) => each.text).join(" + ");
      return asked(text, operator, (item) => parts.every(({ fits }) => fits(item)));
    }
    case 1: {
      const text = parts.map((each) => each.text).join(" | ");
      return asked(text, operator, (item) => parts.some(({ fits }) => fits(item)));
    }
    default: {
      const isAnd = operator === "and";
      const text = parts.map((each) => each.text).join(" ");
      return asked(text, operator, (item) =>
        isAnd ? parts.every(({ fits }) => fits(item)) : parts.some(({ fits }) => fits(item)),
      );
    }
  }
}

function asked(query: string, operator: string, fits: Test): Question {
  return { query: { simple_query_string: { query, fields: FIELDS, default_operator: operator } }, fits };
}

function part(subject: Subject): Part {
  const { dice } = subject;
  const words = someWords(subject, 3);
  const [word] = words as [string];
  switch (dice.below(5)) {
    case 0: {
      const start = word.slice(0, 3);
      return { text: `${start}*`, fits: inAny((tokens) => tokens.some((token) => token.startsWith(start))) };
    }
    case 1: {
      const fits = inAny((tokens) => tokens.some((token) => isSimilar(token, word, 1, 0)));
      return { text: `${word}~1`, fits };
    }
    case 2: {
      const slop = dice.pick([0, 3]);
      return {
        text: `"${words.join(" ")}"${slop === 0 ? "" : `~${slop}`}`,
        fits: inAny(phraseTest(words, slop)),
      };
    }
    case 3: {
      const { text, fits } = part(subject);
      return { text: `-${text}`, fits: (item) => !fits(item) };
    }
    default:
      return {
        text: dice.chance(0.2) ? word.toUpperCase() : word,
        fits: inAny((tokens) => tokens.includes(word)),
      };
  }
}

/** Each word is looked for in all fields; how many must be found is counted by words. */
export function queryStringOfFields(subject: Subject): Question {
  const { dice } = subject;
  const words = someWords(subject, 4);
  const isAnd = dice.chance(0.4);
  const least = !isAnd && words.length > 1 && dice.chance(0.4) ? randomLeast(dice, words.length) : undefined;
  const asked = least === undefined ? 1 : Math.max(1, leastClauses(words.length, least));
  const needed = isAnd ? words.length : asked;
  const options = least === undefined ? {} : { minimum_should_match: least };
  // In parentheses, as words beside each other are analysed together.
  const query = words.map((word) => `(${word})`).join(" ");
  return {
    query: { query_string: { query, fields: FIELDS, default_operator: isAnd ? "and" : "or", ...options } },
    fits: (item) => words.filter((word) => inAny((tokens) => tokens.includes(word))(item)).length >= needed,
  };
}
