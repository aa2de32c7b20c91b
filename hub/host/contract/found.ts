/** The answer to a search on its way: hits, aggregations and suggestions are JSON text, which the front passes on. */

import type { Message } from "#hub/host/wire/peer.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import type { AnswerForm } from "./calls.ts";
import { withObjectTotals } from "./object-totals.ts";

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
  /** Places of the parts. */
  readonly aggregations: number;
  readonly suggest: number;
};

/** Returns the message that carries an answer. */
export function packFound(
  { hits, aggregations, suggest, cursor: _cursor, ...facts }: SearchResponse,
  { objectTotals }: Pick<AnswerForm, "objectTotals">,
): Message {
  const parts: Uint8Array[] = [];
  const add = (json: unknown): number =>
    json === undefined
      ? -1
      : parts.push(Buffer.from(writeJson(objectTotals ? withObjectTotals(json) : json))) - 1;
  add(hits);
  const value: FoundValue = {
    ...facts,
    hitCount: hits.length,
    aggregations: add(aggregations),
    suggest: suggest === undefined ? -1 : parts.push(Buffer.from(writeJson(suggest))) - 1,
  };
  return { value, parts };
}

/** Returns the answer of `packFound`. */
export function unpackFound({ value, parts = [] }: Message): Found {
  const { aggregations, suggest, ...facts } = value as FoundValue;
  const part = (place: number): RawJson | undefined => (place < 0 ? undefined : new RawJson(parts[place]!));
  return {
    ...facts,
    hits: new RawJson(parts[0]!),
    aggregations: part(aggregations),
    suggest: part(suggest),
  };
}
