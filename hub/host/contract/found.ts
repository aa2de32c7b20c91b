/** The answer to a search on its way: hits, aggregations and suggestions are JSON text, which the front passes on. */

import type { Message } from "#hub/host/wire/peer.ts";
import { errorOf, plainError } from "#hub/host/wire/values.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import type { SearchResponse, ShardFailure } from "#hub/search/phases/contract.ts";
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

/** A shard that failed, with its error as plain data. */
type PlainFailure = Omit<ShardFailure, "error"> & { readonly error: unknown };

type FoundValue = Omit<Found, "hits" | "aggregations" | "suggest" | "shards"> & {
  readonly shards: Omit<Found["shards"], "failures"> & { readonly failures: readonly PlainFailure[] };
  /** Places of the parts. */
  readonly aggregations: number;
  readonly suggest: number;
};

/** Returns the message that carries an answer. */
export function packFound(
  { hits, aggregations, suggest, cursor: _cursor, shards, ...facts }: SearchResponse,
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
    shards: { ...shards, failures: plainFailures(shards.failures) },
  };
  return { value, parts };
}

/** Returns the answer of `packFound`. */
export function unpackFound({ value, parts = [] }: Message): Found {
  const { aggregations, suggest, shards, ...facts } = value as FoundValue;
  const part = (place: number): RawJson | undefined => (place < 0 ? undefined : new RawJson(parts[place]!));
  return {
    ...facts,
    hits: new RawJson(parts[0]!),
    aggregations: part(aggregations),
    suggest: part(suggest),
    shards: { ...shards, failures: failuresOf(shards.failures) },
  };
}

/** Returns failures of shards as plain data. */
export function plainFailures(failures: readonly ShardFailure[]): PlainFailure[] {
  return failures.map((failure) => ({ ...failure, error: plainError(failure.error) }));
}

/** Returns the failures of `plainFailures`. */
export function failuresOf(failures: readonly PlainFailure[]): ShardFailure[] {
  return failures.map((failure) => ({ ...failure, error: errorOf(failure.error) }));
}
