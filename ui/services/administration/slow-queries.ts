/** Slow searches recorded by the hub, and the parts of a search that are known to be expensive. */

import { msg, str } from "@lit/localize";
import { callHub } from "#ui/services/hub/hub-client.ts";
import { asFacts } from "#ui/services/hub/json-call.ts";

export interface SlowQuery {
  /** ms since 1970; 0: unknown. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly indices: readonly string[];
  /** JSON, or its beginning with `…` after it if it is long. */
  readonly body: string;
  /** Undefined if hits weren't counted. */
  readonly total: number | undefined;
  readonly isTimedOut: boolean;
}

export interface SlowQueries {
  /** From here on a search is slow; undefined: the hub keeps none. */
  readonly thresholdMs: number | undefined;
  /** The newest first. */
  readonly queries: readonly SlowQuery[];
}

/** Skipped hits from which on a search is noticeably slower. */
const DEEP_HITS = 5_000;
/** Groups of an aggregation, and hits of an answer, from which on a search is noticeably slower. */
const MANY = 1_000;
const MAX_DEPTH = 60;
/** Maximum of names in a row: all names of a month would push the rest out of view. */
const SHOWN_INDICES = 3;

/** Returns the searches the hub keeps as slow; throws HubError. */
export async function fetchSlowQueries(signal: AbortSignal): Promise<SlowQueries> {
  const answer = asFacts(await callHub("GET", "/api/slow-queries", undefined, signal));
  const { threshold_ms: threshold, queries } = answer;
  return {
    thresholdMs: typeof threshold === "number" ? threshold : undefined,
    queries: Array.isArray(queries) ? queries.map(readQuery) : [],
  };
}

/** Returns what is likely to have cost the time, each with a remedy; none if nothing is known to. */
export function slowReasons({ body, indices }: Pick<SlowQuery, "body" | "indices">): string[] {
  const parsed = parseBody(body);
  const found = new Set<string>();
  if (parsed !== undefined) {
    walk(parsed, 0, found);
    const { from, size } = asFacts(parsed);
    const passed = Number(from ?? 0) || 0;
    if (passed >= DEEP_HITS)
      found.add(msg(str`It passes over ${passed} hits: use search_after to go further.`));
    if ((Number(size ?? 0) || 0) > MANY)
      found.add(msg("It asks for many hits at once: ask for fewer, or page with search_after."));
  }
  if (parsed !== undefined && !body.includes('"range"'))
    found.add(msg("It has no time range, so all segments are read: add one."));
  if (indices.length > 10) found.add(msg(str`It reads ${indices.length} indices: name fewer.`));
  return [...found];
}

/** Returns the indices of a search for a row of a table: the first ones, and how many more. */
export function indicesText(indices: readonly string[]): string {
  const names = indices.slice(0, SHOWN_INDICES).join(", ");
  const more = indices.length - SHOWN_INDICES;
  return more > 0 ? msg(str`${names} and ${more} more`) : names || "–";
}

function readQuery(value: unknown): SlowQuery {
  const { at, took_ms, indices, body, total, timed_out } = asFacts(value);
  return {
    atMs: Date.parse(String(at)) || 0,
    tookMs: Number(took_ms) || 0,
    indices: Array.isArray(indices) ? indices.map(String) : [],
    body: typeof body === "string" ? body : "",
    total: typeof total === "number" ? total : undefined,
    isTimedOut: timed_out === true,
  };
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // The body was cut: the missing part can't be judged.
    return undefined;
  }
}

function walk(value: unknown, depth: number, found: Set<string>): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const [name, inner] of Object.entries(value)) {
    const reason = reasonOf(name, inner);
    if (reason !== undefined) found.add(reason);
    walk(inner, depth + 1, found);
  }
}

function reasonOf(name: string, value: unknown): string | undefined {
  switch (name) {
    case "wildcard":
    case "query_string":
    case "simple_query_string":
      return hasLeadingWildcard(value)
        ? msg("A wildcard at the start of a word looks at every word: give its beginning.")
        : undefined;
    case "regexp":
      return msg("A regular expression looks at many words: a term or a prefix is faster.");
    case "fuzzy":
      return msg("Similar words are looked for: an exact term is faster.");
    case "script":
    case "script_score":
    case "_script":
      return msg("A script runs for every hit: store its result in a field when lines are written.");
    case "terms":
      return Number(asFacts(value)["size"]) > MANY
        ? msg("It makes very many groups: ask for the first few.")
        : undefined;
    default:
      return undefined;
  }
}

/** A pattern, or the `query` or `value` of one, that begins a word with `*` or `?`; `*` alone costs nothing. */
function hasLeadingWildcard(value: unknown): boolean {
  if (typeof value === "string") return /(^|[\s:(])[*?]+[^\s*?:)]/.test(value);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((inner) => hasLeadingWildcard(inner))
  );
}
