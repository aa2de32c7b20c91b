/** Random queries of text: match with its options, phrases, multi_match. */

import { WORDS } from "./corpus.ts";
import type { Level } from "./documents.ts";
import { type Item, type Json, tokensOf } from "./documents.ts";
import { automaticEdits, isSimilar } from "./edit-distance.ts";
import { leastClauses, randomLeast } from "./least-clauses.ts";
import type { Question, Subject } from "./question.ts";

/** Whether the tokens of one text match. */
type TokenTest = (tokens: readonly string[]) => boolean;

const TEXTS: Readonly<Record<Level, readonly string[]>> = { root: ["t", "s"], object: ["o.t"], part: [] };

export function someWords({ dice }: Subject, most: number): string[] {
  return dice.some(WORDS, 1 + dice.below(most));
}

export function textQuery(subject: Subject, level: Level): Question {
  const { dice } = subject;
  const makers = [match, match, fuzzyMatch, phrase, phrase, phrasePrefix, fuzzyTerm];
  if (level === "root") makers.push(multiMatch);
  return dice.pick(makers)(subject, dice.pick(TEXTS[level]));
}

function hasToken(item: Item, field: string, test: (token: string) => boolean): boolean {
  return tokensOf(item, field).some((tokens) => tokens.some(test));
}

function match(subject: Subject, field: string): Question {
  const { dice } = subject;
  const words = someWords(subject, 4);
  const isAnd = dice.chance(0.4);
  const least = !isAnd && dice.chance(0.3) ? randomLeast(dice, words.length) : undefined;
  // One word isn't a query of several clauses, so that the option has no effect.
  const asked =
    least === undefined || words.length === 1 ? 1 : Math.max(1, leastClauses(words.length, least));
  const needed = isAnd ? words.length : asked;
  return {
    query: {
      match: {
        [field]: {
          query: words.join(" "),
          operator: isAnd ? "and" : "or",
          ...(least === undefined ? {} : { minimum_should_match: least }),
        },
      },
    },
    fits: (item) => words.filter((word) => hasToken(item, field, (token) => token === word)).length >= needed,
  };
}

function fuzzyMatch(subject: Subject, field: string): Question {
  const { dice } = subject;
  const words = someWords(subject, 2);
  const fuzziness = dice.pick([0, 1, 2, "AUTO"]);
  const prefix = dice.below(3);
  const transpositions = dice.chance(0.7);
  const isAnd = dice.chance(0.5);
  const found = (item: Item, word: string): boolean => {
    const edits = fuzziness === "AUTO" ? automaticEdits(word) : Number(fuzziness);
    return hasToken(item, field, (token) => isSimilar(token, word, edits, prefix, transpositions));
  };
  const options = { fuzziness, prefix_length: prefix, fuzzy_transpositions: transpositions };
  return {
    query: { match: { [field]: { query: words.join(" "), operator: isAnd ? "and" : "or", ...options } } },
    fits: (item) =>
      isAnd ? words.every((word) => found(item, word)) : words.some((word) => found(item, word)),
  };
}

function fuzzyTerm({ dice }: Subject, field: string): Question {
  const value = dice.pick(WORDS);
  const fuzziness = dice.pick([0, 1, 2, "AUTO"]);
  const edits = fuzziness === "AUTO" ? automaticEdits(value) : Number(fuzziness);
  const transpositions = dice.chance(0.7);
  return {
    query: { fuzzy: { [field]: { value, fuzziness, transpositions } } },
    fits: (item) => hasToken(item, field, (token) => isSimilar(token, value, edits, 0, transpositions)),
  };
}

function phrase(subject: Subject, field: string): Question {
  const words = someWords(subject, 3);
  const slop = subject.dice.pick([0, 0, 1, 2, 5]);
  return {
    query: { match_phrase: { [field]: { query: words.join(" "), slop } } },
    fits: (item) => tokensOf(item, field).some(phraseTest(words, slop)),
  };
}

function phrasePrefix(subject: Subject, field: string): Question {
  const words = someWords(subject, 2);
  const last = subject.dice.pick(WORDS).slice(0, 1 + subject.dice.below(3));
  return {
    query: { match_phrase_prefix: { [field]: [...words, last].join(" ") } },
    fits: (item) => tokensOf(item, field).some(phrasePrefixTest(words, last)),
  };
}

/**
 * A phrase whose words are all different: each word's position less its place in the phrase differs from the others' by the
 * slop at most. Words that are there twice aren't asked for: Lucene's search for them is a heuristic, which no
 * documentation describes.
 */
export function phraseTest(words: readonly string[], slop: number): TokenTest {
  return (tokens) => {
    const places = words.map((word, at) =>
      tokens.flatMap((token, place) => (token === word ? [place - at] : [])),
    );
    return (places[0] ?? []).some((first) => {
      for (let low = first - slop; low <= first; low++) {
        if (places.every((each) => each.some((place) => place >= low && place <= low + slop))) return true;
      }
      return false;
    });
  };
}

function phrasePrefixTest(words: readonly string[], last: string): TokenTest {
  return (tokens) =>
    tokens.some((_, from) => {
      const end = tokens[from + words.length];
      return end?.startsWith(last) && words.every((word, at) => tokens[from + at] === word);
    });
}

function multiMatch(subject: Subject): Question {
  const { dice } = subject;
  const fields = ["t", "s"];
  const words = someWords(subject, 3);
  const type = dice.pick(["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix"]);
  const operator = dice.pick(["or", "and"]);
  const has = (item: Item, field: string, word: string): boolean =>
    hasToken(item, field, (token) => token === word);
  const all = operator === "and";
  const byWords = (test: (word: string) => boolean): boolean => (all ? words.every(test) : words.some(test));
  const fits = (item: Item): boolean => {
    if (type === "cross_fields") return byWords((word) => fields.some((field) => has(item, field, word)));
    if (type === "phrase") return fields.some((field) => tokensOf(item, field).some(phraseTest(words, 0)));
    if (type === "phrase_prefix") {
      const test = phrasePrefixTest(words.slice(0, -1), words.at(-1)!);
      return fields.some((field) => tokensOf(item, field).some(test));
    }
    return fields.some((field) => byWords((word) => has(item, field, word)));
  };
  const options: Json = type.startsWith("phrase") ? {} : { operator };
  return { query: { multi_match: { query: words.join(" "), fields, type, ...options } }, fits };
}
