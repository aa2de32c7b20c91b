/** Scripts of a search that run on documents: as a condition, a score, a field of a hit. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { toDouble, truth } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { DocValues } from "./doc-values.ts";

const NAMES = ["params", "doc"];
const SCORE_NAMES = ["params", "doc", "_score"];

/** Reads a script that decides on documents or gives a field of them. Throws script_failed, parsing, request_invalid. */
export function readDocumentScript(given: unknown): Script {
  return readScript(given, NAMES);
}

/** Reads a script that scores documents; it sees `_score`. Throws script_failed, parsing, request_invalid. */
export function readScoreScript(given: unknown): Script {
  return readScript(given, SCORE_NAMES);
}

/** Returns a test of documents. It throws script_failed where the script fails or isn't boolean. */
export function conditionOn(
  script: Script,
  shard: ShardContext,
): (segment: SegmentReader, doc: number) => boolean {
  const doc = new DocValues(shard);
  const values = [script.params, doc];
  return (segment, number) => {
    doc.move(segment, number);
    return truth(script.compiled.run(values));
  };
}

/** Returns what scores a document that has a score already. It throws script_failed. */
export function scoreOn(
  script: Script,
  shard: ShardContext,
): (segment: SegmentReader) => (doc: number, score: number) => number {
  const doc = new DocValues(shard);
  return (segment) => (number, score) => {
    doc.move(segment, number);
    const value = toDouble(script.compiled.run([script.params, doc, new Decimal(score)]));
    if (Number.isNaN(value)) throw new AppError("request_invalid", "script_score returned NaN");
    return value;
  };
}

/** Returns what makes a field of a hit: its values as JSON. `source`: the document, where the script looks at it. */
export function fieldOn(
  script: Script,
  shard: ShardContext,
): (segment: SegmentReader, doc: number, source: () => JsonObject) => unknown[] {
  const doc = new DocValues(shard);
  const readsSource = script.compiled.source.includes("_source");
  return (segment, number, source) => {
    doc.move(segment, number);
    const params = readsSource ? { ...script.params, _source: source() } : script.params;
    const value = toJson(script.compiled.run([params, doc]));
    return Array.isArray(value) ? value : [value];
  };
}
