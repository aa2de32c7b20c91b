/**
 * Groups log lines by their templates, after He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach with Fixed
 * Depth Tree" (ICWS 2017). Lines with the same number of tokens and the same beginning are compared; the line joins
 * the most similar template, whose differing tokens become wildcards. The patterns of a search's lines: of all of
 * them, or of a random sample of many.
 */

import type { DiscoverState } from "#ui/services/search/discover-state.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { type SearchClient, shardFailureOf, totalOf } from "#ui/services/search/search-client.ts";
import { buildQuery, TIME_FIELD } from "#ui/services/search/search-request.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";

/** Maximum of compared lines: their answer stays below 1 MiB in most cases. */
const SAMPLE_LINES = 2_000;
/** The same search shows the same sample. */
const SEED = 1;
const FIELDS = ["message", TIME_FIELD, "log.level", "level", "severity", "loglevel"];

export interface FoundPatterns {
  readonly patterns: readonly LogPattern[];
  /** Lines that were compared. */
  readonly compared: number;
  /** Number of matching lines. If it exceeds `compared`, counts must be multiplied by their ratio. */
  readonly total: number;
  /** Compared lines that fit none of the patterns. */
  readonly others: number;
  /** Failures of single shards. */
  readonly warning: string | undefined;
}

/** Replaces a part of a line that differs from line to line. */
export const WILDCARD = "*";
/** A line is compared by its beginning, characters and tokens. */
const MAX_CHARACTERS = 1_000;
const MAX_TOKENS = 60;
/** Maximum of templates; further lines that fit none count as others. */
const MAX_PATTERNS = 500;
/** Share of equal tokens from which on a line belongs to a template. */
const ALIKE = 0.5;
/** Steps in time of a trend. */
export const TREND_STEPS = 24;
/** Variable parts of lines: words with a digit. */
const VARIABLE = /[\p{L}\p{N}._-]*\p{N}[\p{L}\p{N}._-]*/gu;

export interface PatternLine {
  readonly text: string;
  /** ms since 1970 */
  readonly atMs: number;
  /** 0 unknown to 6 fatal. */
  readonly level: number;
}

export interface LogPattern {
  /** Words of the template; `*` in a word or as a word replaces what differs. */
  readonly tokens: readonly string[];
  readonly count: number;
  /** The highest level of its lines. */
  readonly level: number;
  /** Lines in each of TREND_STEPS equal parts of the time range. */
  readonly trend: readonly number[];
  /** One of its lines. */
  readonly sample: string;
}

interface Growing {
  tokens: string[];
  count: number;
  level: number;
  readonly trend: number[];
  readonly sample: string;
}

export class PatternTree {
  readonly #fromMs: number;
  readonly #stepMs: number;
  /** Templates by the number of their tokens and their first one. */
  readonly #groups = new Map<string, Growing[]>();
  #patterns: Growing[] = [];
  #others = 0;

  /** Trends are of the time from `fromMs` to `toMs`. */
  constructor(fromMs: number, toMs: number) {
    this.#fromMs = fromMs;
    this.#stepMs = Math.max(1, (toMs - fromMs) / TREND_STEPS);
  }

  /** Number of lines that belong to none of the patterns. */
  get others(): number {
    return this.#others;
  }

  /** Returns the patterns so far, the most frequent first. */
  patterns(): readonly LogPattern[] {
    return this.#patterns.toSorted((a, b) => b.count - a.count);
  }

  add({ text, atMs, level }: PatternLine): void {
    const tokens = tokensOf(text);
    const [first = ""] = tokens;
    const key = `${tokens.length} ${first.includes(WILDCARD) ? WILDCARD : first}`;
    const group = this.#groups.get(key) ?? [];
    this.#groups.set(key, group);
    const found = nearest(group, tokens) ?? this.#grow(group, tokens, text);
    if (found === undefined) {
      this.#others += 1;
      return;
    }
    found.tokens = found.tokens.map((token, at) => (token === tokens[at] ? token : WILDCARD));
    found.count += 1;
    found.level = Math.max(found.level, level);
    const step = Math.floor((atMs - this.#fromMs) / this.#stepMs);
    found.trend[Math.max(0, Math.min(TREND_STEPS - 1, step))]! += 1;
  }

  #grow(group: Growing[], tokens: string[], sample: string): Growing | undefined {
    if (this.#patterns.length >= MAX_PATTERNS) return undefined;
    const pattern = { tokens, count: 0, level: 0, trend: new Array<number>(TREND_STEPS).fill(0), sample };
    group.push(pattern);
    this.#patterns.push(pattern);
    return pattern;
  }
}

/** Returns the words of a line, what has digits in them as wildcards. */
function tokensOf(text: string): string[] {
  const words = text.slice(0, MAX_CHARACTERS).trim().split(/\s+/, MAX_TOKENS);
  return words.map((word) => word.replaceAll(VARIABLE, WILDCARD));
}

function nearest(group: readonly Growing[], tokens: readonly string[]): Growing | undefined {
  let best: Growing | undefined;
  let most = tokens.length * ALIKE;
  for (const pattern of group) {
    const equal = pattern.tokens.reduce((sum, token, at) => sum + (token === tokens[at] ? 1 : 0), 0);
    if (equal < most || (best !== undefined && equal === most)) continue;
    best = pattern;
    most = equal;
  }
  return best;
}

/** Maximum of a pattern's phrases in a query; the longest are the most specific. */
const MAX_PHRASES = 6;

/**
 * Returns the clause of a query that finds the lines of a pattern by its constant phrases; undefined if it has none.
 * Lines of another pattern that hold the same phrases are found, too.
 */
export function patternClause({ tokens }: Pick<LogPattern, "tokens">): string | undefined {
  const phrases: string[][] = [[]];
  for (const token of tokens)
    if (token.includes(WILDCARD)) phrases.push([]);
    else phrases.at(-1)!.push(token);
  const written = phrases
    .map((words) => words.join(" "))
    .filter((phrase) => /[\p{L}\p{N}]/u.test(phrase))
    .toSorted((a, b) => b.length - a.length)
    .slice(0, MAX_PHRASES)
    .map((phrase) => `message:"${phrase.replaceAll(/["\\]/g, "\\$&")}"`);
  return written.length === 0 ? undefined : written.join(" AND ");
}

/** Searches for the patterns of a state's lines. Throws HubError. */
export async function findPatterns(
  client: SearchClient,
  state: Pick<DiscoverState, "query" | "filters" | "index">,
  range: ResolvedRange,
  signal: AbortSignal,
): Promise<FoundPatterns> {
  const functions = [{ random_score: { seed: SEED } }];
  const body = {
    size: SAMPLE_LINES,
    _source: FIELDS,
    query: { function_score: { query: buildQuery(state, range), functions, boost_mode: "replace" } },
  };
  const response = await client.search(state.index, body, signal);
  const tree = new PatternTree(range.fromMs, range.toMs);
  for (const hit of response.hits.hits) {
    const line = new LogDocument(hit);
    tree.add({ text: line.message, atMs: line.timestampMs, level: line.level });
  }
  return {
    patterns: tree.patterns(),
    compared: response.hits.hits.length,
    total: totalOf(response),
    others: tree.others,
    warning: shardFailureOf(response),
  };
}
