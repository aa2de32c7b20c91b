/**
 * Reads tokens as a graph. A token leads from its position over as many positions as it spans: a synonym of several
 * words and the word that it stands for are two paths from one position to another.
 */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { PhrasePart } from "#hub/search/execute/nodes/phrase.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Maximum number of ways, and of the words of one: as many as a query may have clauses. */
const MAX_WAYS = 1024;

/** Words of all ways of all stretches that have several. */
const MAX_WORDS = 2 * MAX_WAYS;

/** Ways through a whole phrase at most: each is a phrase of its own, which are found one after the other. */
const MAX_PHRASES = 16;

/** Types of tokens that are indexed over words: those of one position are alternatives, whatever they span. */
const OVERLAYS = new Set(["shingle", "gram", "<DOUBLE>"]);

/** Tokens that follow one another, without gaps but those of words that the analyzer took out. */
export type Way = readonly PhrasePart[];

/** A stretch of a text that all ways through it enter and leave at the same positions. */
export interface GraphPart {
  /** Free positions in front, of words that the analyzer took out. */
  readonly gap: number;
  readonly ways: readonly Way[];
}

/** Tokens from one position to another. */
interface Edge {
  readonly terms: string[];
  readonly end: number;
}

/** Returns true if tokens span several positions, so that there may be several ways. */
export function isGraph(tokens: readonly Token[]): boolean {
  return (
    tokens.some(({ positionLength = 1 }) => positionLength > 1) &&
    !tokens.some(({ type }) => OVERLAYS.has(type))
  );
}

/** Returns the stretches of a graph in their order. Throws request_invalid for too many ways. */
export function graphParts(tokens: readonly Token[]): GraphPart[] {
  const edges = edgesOf(tokens);
  const starts = [...edges.keys()].sort((a, b) => a - b);
  const parts: GraphPart[] = [];
  let words = 0;
  let before = starts[0] ?? 0;
  for (let from = 0; from < starts.length; ) {
    const start = starts[from]!;
    let end = lastEnd(edges.get(start)!);
    let to = from + 1;
    for (; to < starts.length && starts[to]! < end; to++)
      end = Math.max(end, lastEnd(edges.get(starts[to]!)!));
    const ways = waysFrom(edges, starts.slice(from, to));
    if (ways.length > 1) for (const way of ways) words += way.length;
    if (words > MAX_WORDS) throw tooMany();
    parts.push({ gap: start - before, ways });
    before = end;
    from = to;
  }
  return parts;
}

/** Returns the ways through all parts; undefined where they are too many. */
export function wholeWays(parts: readonly GraphPart[]): Way[] | undefined {
  let found: PhrasePart[][] = [[]];
  for (const { gap, ways } of parts) {
    const [only] = ways as [Way];
    if (ways.length === 1) {
      for (const way of found) append(way, only, gap);
      continue;
    }
    if (found.length * ways.length > MAX_PHRASES) return undefined;
    found = found.flatMap((head) => ways.map((way) => append([...head], way, gap)));
  }
  return found;
}

function append(head: PhrasePart[], way: Way, gap: number): PhrasePart[] {
  const last = head.at(-1);
  const next = last === undefined ? 0 : last.offset + 1 + gap;
  for (const { terms, offset } of way) head.push({ terms, offset: next + offset });
  return head;
}

function lastEnd(edges: readonly Edge[]): number {
  return Math.max(...edges.map(({ end }) => end));
}

function edgesOf(tokens: readonly Token[]): Map<number, Edge[]> {
  const edges = new Map<number, Edge[]>();
  for (const { text, position, positionLength = 1 } of tokens) {
    const end = position + positionLength;
    const from = edges.get(position);
    const same = from?.find((edge) => edge.end === end);
    if (same !== undefined) same.terms.push(text);
    else if (from === undefined) edges.set(position, [{ terms: [text], end }]);
    else from.push({ terms: [text], end });
  }
  return edges;
}

/** Returns the ways from the first of `starts`, the positions of a stretch at which tokens begin, in ascending order. */
function waysFrom(edges: ReadonlyMap<number, readonly Edge[]>, starts: readonly number[]): Way[] {
  const found: Way[] = [];
  let words = 0;
  const walk = (position: number, offset: number, way: Way): void => {
    if (way.length === MAX_WAYS) throw tooMany();
    for (const { terms, end } of edges.get(position)!) {
      const longer = [...way, { terms, offset }];
      // No token begins where the analyzer took a word out.
      const next = starts.find((each) => each >= end);
      if (next !== undefined) walk(next, offset + 1 + next - end, longer);
      else if (found.push(longer) > MAX_WAYS || (words > 0 && words + longer.length > MAX_WORDS))
        throw tooMany();
      else words += longer.length;
    }
  };
  walk(starts[0]!, 0, []);
  return found;
}

function tooMany(): AppError {
  return new AppError(
    "request_invalid",
    `the text's words and synonyms form more than ${MAX_WAYS} paths, or paths of more than ${MAX_WORDS} words; search for fewer at a time`,
    { data: { type: "too_many_clauses" } },
  );
}
