/** The ways to read a text of which some tokens span several places, as synonyms of several words do. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import { AppError } from "#proto/kit/errors.ts";

/** A place of a phrase with the terms that it may have; `offset` counts from the first. */
export interface Place {
  terms: string[];
  offset: number;
}

/** Tokens that overlap: one of the ways is to be found, all places of it in their order. */
export type Stretch = readonly (readonly Place[])[];

/** Ways through one stretch at most, and tokens of one, as clauses of a query; and places of all its ways together. */
const MAX_WAYS = 1024;
const MAX_PLACES = 8 * MAX_WAYS;

/** Tokens that are made of their neighbours: they stand beside these, not in their place. */
const JOINED_TYPES: ReadonlySet<string> = new Set(["shingle", "gram", "<DOUBLE>"]);

/** Whether some tokens span several places and stand for the tokens there. */
export function isGraph(tokens: readonly Token[]): boolean {
  return (
    tokens.some(({ positionLength = 1 }) => positionLength > 1) &&
    !tokens.some(({ type }) => JOINED_TYPES.has(type))
  );
}

/** Cuts the tokens, which are in the order of their positions, where none reaches over. Throws request_invalid. */
export function stretches(tokens: readonly Token[]): Stretch[] {
  const groups: Token[][] = [];
  let end = -1;
  for (const token of tokens) {
    if (token.position >= end) groups.push([token]);
    else groups.at(-1)!.push(token);
    end = Math.max(end, endOf(token));
  }
  return groups.map(waysThrough);
}

function waysThrough(tokens: readonly Token[]): Stretch {
  if (tokens.length > MAX_WAYS) throw tooMany();
  const ways: Place[][] = [];
  const starts = [...new Set(tokens.map(({ position }) => position))];
  let places = 0;
  const walk = (from: number, offset: number, before: readonly Place[]): void => {
    const start = starts.find((position) => position >= from);
    if (start === undefined) {
      places += before.length;
      if (ways.push([...before]) > MAX_WAYS || places > MAX_PLACES) throw tooMany();
      return;
    }
    const at = offset + start - from;
    for (const [end, terms] of termsByEnd(tokens, start))
      walk(end, at + 1, [...before, { terms, offset: at }]);
  };
  walk(tokens[0]!.position, 0, []);
  return ways;
}

/** Terms that begin at `start`, by the place after them. */
function termsByEnd(tokens: readonly Token[], start: number): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const token of tokens) {
    if (token.position !== start) continue;
    const terms = found.get(endOf(token));
    if (terms === undefined) found.set(endOf(token), [token.text]);
    else terms.push(token.text);
  }
  return found;
}

function endOf({ position, positionLength = 1 }: Token): number {
  return position + positionLength;
}

function tooMany(): AppError {
  return new AppError("request_invalid", `the text can be read in more than ${MAX_WAYS} ways`, {
    data: { type: "too_many_clauses" },
  });
}
