/** The transported form of a search's answer: hits, aggregations and suggestions are JSON text, which the front passes on. */

import type { Message } from "#hub/host/wire/peer.ts";
import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import { jsonSteps, RawJson } from "#hub/search/options/json-writer.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { NumberText, singleFraction } from "#proto/kit/number-text.ts";
import type { AnswerForm } from "./calls.ts";

/** The answer to a search. */
export interface Found
  extends Omit<SearchResponse, "hits" | "aggregations" | "suggest" | "cursor" | "totalLimit"> {
  readonly totalLimit?: number | undefined;
  /** A list. */
  readonly hits: RawJson;
  readonly hitCount: number;
  /** An object; undefined without aggregations. */
  readonly aggregations: RawJson | undefined;
  /** An object; undefined without suggesters. */
  readonly suggest: RawJson | undefined;
}

type FoundValue = Omit<Found, "hits" | "aggregations" | "suggest"> & {
  /** Indices of the parts. */
  readonly aggregations: number;
  readonly suggest: number;
};

/** Makes the message that carries an answer, in steps. */
export function* packSteps(
  { hits, aggregations, suggest, cursor: _cursor, ...facts }: SearchResponse,
  { objectTotals }: Pick<AnswerForm, "objectTotals">,
): Generator<void, Message> {
  const parts: Uint8Array[] = [];
  const add = function* (json: unknown): Generator<void, number> {
    if (json === undefined) return -1;
    return parts.push(Buffer.from(yield* jsonSteps(json))) - 1;
  };
  const inForm = (json: unknown): unknown => (objectTotals ? withObjectTotals(json) : json);
  yield* add(inForm(yield* printedScores(hits)));
  const value: FoundValue = {
    ...facts,
    hitCount: hits.length,
    aggregations: yield* add(inForm(aggregations)),
    suggest: yield* add(suggest),
  };
  return { value, parts };
}

/** Returns the message that carries an answer; yields the thread to others while making it. Throws cancelled, memory_limit. */
export function packFound(
  found: SearchResponse,
  form: Pick<AnswerForm, "objectTotals">,
  clock: Clock,
  signal: AbortSignal,
): Promise<Message> {
  return withPauses(packSteps(found, form), new SearchControl(clock, signal, undefined));
}

/** Returns the answer that `packSteps` packed. */
export function unpackFound({ value, parts = [] }: Message): Found {
  const { aggregations, suggest, ...facts } = value as FoundValue;
  const part = (index: number): RawJson | undefined => (index < 0 ? undefined : new RawJson(parts[index]!));
  return {
    ...facts,
    hits: new RawJson(parts[0]!),
    aggregations: part(aggregations),
    suggest: part(suggest),
  };
}

/** Returns a total as an object; undefined for none. `limit`: hits up to which they were counted. */
export function objectTotal(
  total: number | undefined,
  limit = Number.POSITIVE_INFINITY,
): JsonObject | undefined {
  if (total === undefined) return undefined;
  return total <= limit ? { value: total, relation: "eq" } : { value: limit, relation: "gte" };
}

/** Hits between two moments at which others may get the thread. */
const HITS_A_STEP = 500;

/** Returns hits with their scores as texts, and those of their inner hits: clients tell 1.0 from 1. */
function* printedScores(hits: readonly JsonObject[]): Generator<void, JsonObject[]> {
  const printed: JsonObject[] = [];
  for (const hit of hits) {
    printed.push(inScores(hit));
    if (printed.length % HITS_A_STEP === 0) yield;
  }
  return printed;
}

function inScores(hit: JsonObject): JsonObject {
  const { _score: score, inner_hits: inner } = hit;
  if (typeof score !== "number" && !isObject(inner)) return hit;
  return {
    ...hit,
    ...(typeof score === "number" && { _score: singleFraction(score) }),
    ...(isObject(inner) && {
      inner_hits: Object.fromEntries(
        Object.entries(inner).map(([name, each]): [string, unknown] => [name, innerInScores(each)]),
      ),
    }),
  };
}

function innerInScores(value: unknown): unknown {
  if (!isObject(value) || !isObject(value["hits"])) return value;
  const { hits, max_score: best } = value["hits"];
  const scores = {
    ...(typeof best === "number" && { max_score: singleFraction(best) }),
    hits: Array.isArray(hits) ? (hits as JsonObject[]).map(inScores) : hits,
  };
  return { ...value, hits: { ...value["hits"], ...scores } };
}

/** Returns `value` with its totals of hits changed, at any depth except in documents. */
function withObjectTotals(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withObjectTotals);
  if (!isObject(value) || value instanceof RawJson || value instanceof NumberText) return value;
  const { hits, total } = value;
  if (typeof total === "number" && Array.isArray(hits))
    return { ...value, total: objectTotal(total), hits: withObjectTotals(hits) };
  return Object.fromEntries(
    // Documents stay unchanged.
    Object.entries(value).map(([key, inner]) => [key, key === "_source" ? inner : withObjectTotals(inner)]),
  );
}
