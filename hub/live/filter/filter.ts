/** A live filter: parsed once, evaluated for every event. */

import type { EventDocument } from "./event-document.ts";
import { gramsOf } from "./grams.ts";
import { type Bound, type FilterNode, type Pattern, parseFilter } from "./parser.ts";
import { compileContains, compileValue, wordsOf } from "./pattern.ts";

type Predicate = (document: EventDocument) => boolean;

/** A whole word of a field's value, lower case. */
export interface FieldWord {
  readonly field: string;
  readonly word: string;
}

export interface Filter {
  /** Every match has at least one of these; empty: no such list is known. */
  readonly words: readonly FieldWord[];
  /** Grams that the JSON of every match contains; empty: none are known. */
  readonly grams: readonly number[];
  matches(document: EventDocument): boolean;
}

/** Returns the filter of `query` and index patterns (none: all); throws `parsing` with `data.at` and `data.hint`. */
export function compileFilter(query: string, indexPatterns: readonly string[]): Filter {
  const tree = parseFilter(query);
  const predicate = compile(tree);
  const literal = requiredLiteral(tree);
  const takesIndex = compileIndexPatterns(indexPatterns);
  return {
    words: requiredWords(tree),
    grams: gramsOf(literal),
    matches(document) {
      if (!takesIndex(document.event.index)) return false;
      // Fast path: most events are rejected here, before they are decoded.
      if (literal !== "" && !document.isDecoded && !document.mayContain(literal)) return false;
      return predicate(document);
    },
  };
}

/**
 * Returns a test of index names; `-pattern` excludes. Caches the result for the last name, because runs of one name are
 * common.
 */
export function compileIndexPatterns(patterns: readonly string[]): (index: string) => boolean {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("-")).map(compileName);
  const unwanted = patterns
    .filter((pattern) => pattern.startsWith("-"))
    .map((name) => compileName(name.slice(1)));
  let last = "";
  let answer = false;
  return (index) => {
    if (index === last) return answer;
    last = index;
    answer =
      (wanted.length === 0 || wanted.some((test) => test(index))) && !unwanted.some((test) => test(index));
    return answer;
  };
}

function compileName(pattern: string): (index: string) => boolean {
  if (pattern === "*" || pattern === "_all") return () => true;
  if (!pattern.includes("*")) return (index) => index === pattern;
  return compileValue(pattern.split("*"));
}

/** Loops instead of array methods: this code runs for each event and viewer. */
function compile(node: FilterNode): Predicate {
  switch (node.type) {
    case "all":
      return () => true;
    case "and": {
      const tests = node.children.map(compile);
      return (document) => {
        for (const test of tests) if (!test(document)) return false;
        return true;
      };
    }
    case "or": {
      const tests = node.children.map(compile);
      return (document) => {
        for (const test of tests) if (test(document)) return true;
        return false;
      };
    }
    case "not": {
      const test = compile(node.child);
      return (document) => !test(document);
    }
    case "text": {
      const contains = compileContains(node.pattern);
      return (document) => contains(document.text);
    }
    case "term":
      return compileTerm(node.field, node.pattern);
    case "exists":
      return (document) => document.texts(node.field).length > 0;
    case "range": {
      const { field, low, high } = node;
      return (document) => document.texts(field).some((value) => isAbove(value, low) && isBelow(value, high));
    }
  }
}

function compileTerm(field: string, pattern: Pattern): Predicate {
  if (field === "_index") {
    const takes = compileName(pattern.join("*"));
    return (document) => takes(document.event.index);
  }
  const test = field === "message" ? compileContains(pattern) : compileValue(pattern);
  return (document) => {
    for (const value of document.texts(field)) if (test(value)) return true;
    return false;
  };
}

function isAbove(value: string, low: Bound | undefined): boolean {
  if (low === undefined) return true;
  const order = compare(value, low.value);
  return low.inclusive ? order >= 0 : order > 0;
}

function isBelow(value: string, high: Bound | undefined): boolean {
  if (high === undefined) return true;
  const order = compare(value, high.value);
  return high.inclusive ? order <= 0 : order < 0;
}

/** Compares numbers as numbers, else by code units, which order ISO times correctly. NaN if only one side is a number. */
function compare(value: string, bound: string): number {
  const numeric = Number(bound);
  if (bound !== "" && !Number.isNaN(numeric)) return value === "" ? Number.NaN : Number(value) - numeric;
  return value < bound ? -1 : value > bound ? 1 : 0;
}

/** Returns text that the JSON of each match must contain, "" if there is none. */
function requiredLiteral(node: FilterNode): string {
  switch (node.type) {
    case "and":
      return node.children.map(requiredLiteral).reduce(longer, "");
    case "text":
      return node.pattern.map(safeRun).reduce(longer, "");
    case "term":
      // The same number can be written in several ways.
      if (node.field === "_index" || node.pattern.every((piece) => /^[-+.\de]*$/.test(piece))) return "";
      return node.pattern.map(safeRun).reduce(longer, "");
    default:
      return "";
  }
}

/** Returns the shortest known list of words of which each match has at least one; none if no list is known. */
function requiredWords(node: FilterNode): readonly FieldWord[] {
  switch (node.type) {
    case "and":
      return node.children
        .map(requiredWords)
        .reduce(
          (best, words) =>
            words.length > 0 && (best.length === 0 || words.length < best.length) ? words : best,
          [],
        );
    case "or": {
      const words = node.children.map(requiredWords);
      return words.every((one) => one.length > 0) ? words.flat() : [];
    }
    case "term": {
      const word = wholeWord(node);
      return word === "" ? [] : [{ field: node.field, word }];
    }
    default:
      return [];
  }
}

/** Returns the longest word that a value must have to match, "" if parts of words match too. */
function wholeWord({ field, pattern }: { readonly field: string; readonly pattern: Pattern }): string {
  const only = pattern[0] ?? "";
  if (pattern.length !== 1 || field === "_index" || field === "message" || only.includes("?")) return "";
  return wordsOf(only).reduce(longer, "");
}

/** Returns the longest run of characters that JSON writes unescaped. */
function safeRun(piece: string): string {
  return piece.split(/[^a-z0-9 _.:;,=@#$%&()[\]{}<>|+*~^!'-]/).reduce(longer, "");
}

function longer(a: string, b: string): string {
  return b.length > a.length ? b : a;
}
