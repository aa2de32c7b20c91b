/**
 * Scripts of a search that run on documents: as a condition, a score, a field of a hit, or the values of an
 * aggregation.
 */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { DateTime } from "#hub/scripts/library/dates.ts";
import { readScript, type Script } from "#hub/scripts/script.ts";
import { toJson, toTexts } from "#hub/scripts/values/json.ts";
import { toDouble, truth } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { scoresOn } from "#hub/search/query/document-scores.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { ColumnScript } from "./column-script.ts";
import { DocValues } from "./doc-values.ts";
import { SCORE_FUNCTION_NAMES, type ScoredDocument, scoreFunctionsOn } from "./score-script-functions.ts";

/** Steps of one run: those of a batch of some thousand documents have the thread without a pause, for less than a second. */
const MAX_STEPS = 1000;
/** Members of the value that a script of an aggregation returns for a document, those of lists within it included. */
const MAX_MEMBERS = 10_000;

/** A value of an aggregation. */
export type ScriptedValue = string | number | boolean;

/** A script of an aggregation. */
export interface ValueScript {
  readonly script: Script;
  /** The field whose values the script sees as `_value`, one by one. */
  readonly field: string | undefined;
}

const NAMES = ["params", "doc"];
const SCORE_NAMES = ["params", "doc", "_score"];

/** Parses a script that is a condition. Throws script_failed, parsing, request_invalid. */
export function readConditionScript(given: unknown): Script {
  return readScript(given, NAMES, { expressions: "condition" });
}

/** Parses a script that returns a field of documents. Throws script_failed, parsing, request_invalid. */
export function readFieldScript(given: unknown): Script {
  return readScript(given, NAMES, { expressions: "number" });
}

/** Parses a script that scores documents; it sees `_score` and has functions for scores. Throws as readScoreScript. */
export function readScoringScript(given: unknown): Script {
  return readScript(given, [...SCORE_NAMES, ...SCORE_FUNCTION_NAMES], { expressions: "number" });
}

/** Parses a script that computes a number; it sees `_score`. Throws script_failed, parsing, request_invalid. */
export function readScoreScript(given: unknown): Script {
  return readScript(given, SCORE_NAMES, { expressions: "number" });
}

/**
 * Finds the documents of a segment for which a script is true; other work runs between two steps. It throws
 * script_failed if the script fails or isn't boolean.
 */
export function* documentsWhere(
  script: Script,
  shard: ShardContext,
  segment: SegmentReader,
): Generator<void, Bitset> {
  const found = new Bitset(segment.docCount);
  const doc = new DocValues(shard);
  const values = [script.params, doc];
  const columns = ColumnScript.bind(script, shard, segment);
  const steps = columns?.isBoolean === true ? columns : undefined;
  const docs = new Int32Array(COLUMN_BLOCK);
  for (let from = 0; from < segment.docCount; from += COLUMN_BLOCK) {
    const length = Math.min(COLUMN_BLOCK, segment.docCount - from);
    yield;
    if (steps !== undefined) {
      for (let at = 0; at < length; at++) docs[at] = from + at;
      steps.run(docs, null, length);
    }
    for (let at = 0; at < length; at++) {
      if (steps !== undefined && steps.unsure[at] === 0) {
        if (steps.values[at] === 1) found.add(from + at);
        continue;
      }
      // One run may take long.
      yield;
      doc.move(segment, from + at);
      if (truth(script.compiled.run(values))) found.add(from + at);
    }
  }
  return found;
}

/**
 * Returns the function that scores a document that already has a score, by a script of `readScoringScript`. It throws
 * script_failed.
 */
export function scoreOn(
  script: Script,
  shard: ShardContext,
): (segment: SegmentReader) => (doc: number, score: number) => number {
  const run = numberOn(script, shard, undefined, scoreFunctionsOn);
  return (segment) => {
    const numberOf = run(segment);
    return (doc, score) => {
      const value = numberOf(doc, score);
      if (Number.isNaN(value)) throw new AppError("request_invalid", "script_score returned NaN");
      return value;
    };
  };
}

/**
 * Returns the function that computes a number from a document and its score. It throws script_failed if the script
 * returns no number or takes more than `maxSteps`. `functions`: makes those that it may call.
 */
export function numberOn(
  script: Script,
  shard: ShardContext,
  maxSteps?: number,
  functions: (document: ScoredDocument) => readonly unknown[] = () => [],
): (segment: SegmentReader) => (doc: number, score: number) => number {
  const values = new DocValues(shard);
  return (segment) => {
    const document: ScoredDocument = {
      nowMs: shard.nowMs,
      id: () => segment.id(values.doc),
      value: (field) => values.lookup(field).values()[0],
    };
    const callables = functions(document);
    const columns = ColumnScript.bind(script, shard, segment);
    const steps = columns?.isBoolean === false ? new StepsAhead(columns, segment.docCount) : undefined;
    return (doc, score) => {
      const at = steps?.place(doc, score) ?? -1;
      if (at >= 0) return steps!.values[at]!;
      values.move(segment, doc);
      return toDouble(
        script.compiled.run([script.params, values, new Decimal(score), ...callables], maxSteps),
      );
    };
  };
}

/** Maximum gap between two requested documents up to which the following ones are computed together. */
const MOST_GAP = 2;

/**
 * Runs a script over columns for documents that are requested one by one, in ascending order. If they are close together,
 * a growing number of the following ones is computed at once.
 */
class StepsAhead {
  readonly values: Float64Array;
  readonly #columns: ColumnScript;
  readonly #end: number;
  readonly #docs: Int32Array;
  readonly #scores = new Float64Array(1);
  /** The documents that are computed. */
  #from = 0;
  #to = 0;
  #size = 1;

  /** `end`: the documents of the segment. */
  constructor(columns: ColumnScript, end: number) {
    this.values = columns.values;
    this.#columns = columns;
    this.#end = end;
    this.#docs = new Int32Array(Math.min(COLUMN_BLOCK, end));
  }

  /** Returns the index in `values` of a document's number; -1 if the script itself must run on it. */
  place(doc: number, score: number): number {
    if (doc < this.#from || doc >= this.#to) this.#run(doc, score);
    const at = doc - this.#from;
    return this.#columns.unsure[at] === 0 ? at : -1;
  }

  #run(doc: number, score: number): void {
    const gap = doc - this.#to;
    const isClose = gap >= 0 && gap <= MOST_GAP && !this.#columns.readsScore;
    this.#size = isClose ? Math.min(2 * this.#size, this.#docs.length) : 1;
    const length = Math.min(this.#size, this.#end - doc);
    for (let at = 0; at < length; at++) this.#docs[at] = doc + at;
    this.#scores[0] = score;
    this.#columns.run(this.#docs, this.#scores, length);
    this.#from = doc;
    // A score belongs to one asking.
    this.#to = this.#columns.readsScore ? doc : doc + length;
  }
}

/**
 * Returns the function that makes a field of a hit: its values as JSON. `doc`: shared by the scripts of a hit, so that a column
 * is read once. `source`: the document, if the script reads it.
 */
export function fieldOn(
  script: Script,
  doc: DocValues,
): (segment: SegmentReader, doc: number, source: () => JsonObject) => unknown[] {
  const readsSource = script.compiled.source.includes("_source");
  return (segment, number, source) => {
    doc.move(segment, number);
    const params = readsSource ? { ...script.params, _source: source() } : script.params;
    const value = toJson(script.compiled.run([params, doc]), "exact");
    return Array.isArray(value) ? value : [value];
  };
}

/** Parses a script of an aggregation; it sees `_score`. Throws script_failed, parsing, request_invalid. */
export function readValueScript(given: unknown, field: string | undefined): ValueScript {
  const names = field === undefined ? SCORE_NAMES : [...SCORE_NAMES, "_value"];
  return { script: readScript(given, names, { expressions: "number" }), field };
}

/** Returns the function that computes the values of a document. It throws script_failed, request_invalid. */
export function valuesOn(
  { script, field }: ValueScript,
  shard: ShardContext,
): (segment: SegmentReader) => (doc: number) => ScriptedValue[] {
  return resultsOn({ script, field }, shard, flatten);
}

/** Returns the function that computes the values of a document as 6.5 prints them: 5.0 for a fraction. See valuesOn. */
export function textsOn(
  value: ValueScript,
  shard: ShardContext,
): (segment: SegmentReader) => (doc: number) => ScriptedValue[] {
  return resultsOn(value, shard, (result) => toTexts(result, MAX_MEMBERS));
}

function resultsOn(
  { script, field }: ValueScript,
  shard: ShardContext,
  valuesOf: (result: unknown) => ScriptedValue[],
): (segment: SegmentReader) => (doc: number) => ScriptedValue[] {
  const values = new DocValues(shard);
  const isMapped = field !== undefined && shard.mapping.resolve(field) !== undefined;
  const run = (inputs: readonly unknown[]): ScriptedValue[] =>
    valuesOf(script.compiled.run([script.params, values, ...inputs], MAX_STEPS));
  const readsScore = script.compiled.source.includes("_score");
  const scores = readsScore ? scoresOn(shard) : undefined;
  return (segment) => {
    scores?.segment(segment);
    return (doc) => {
      values.move(segment, doc);
      const score = new Decimal(scores?.of(doc) ?? 0);
      if (field === undefined) return run([score]);
      return isMapped ? [...values.lookup(field)].flatMap((value) => run([score, rawValue(value)])) : [];
    };
  };
}

/** `_value` of a date is its time, as in 6.5. */
function rawValue(value: unknown): unknown {
  return value instanceof DateTime ? value.timeMs : value;
}

function flatten(result: unknown): ScriptedValue[] {
  if (result instanceof DateTime) return [result.timeMs];
  // 6.5 prints a fraction with its decimal point, which JSON drops.
  if (result instanceof Decimal) return [Number.isFinite(result.value) ? result.shortest : 0];
  const value = toJson(result, "nearest", MAX_MEMBERS);
  return (Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [value]).filter(
    (each): each is ScriptedValue => ["string", "number", "boolean"].includes(typeof each),
  );
}

/** Returns a value as a number; booleans are 0 and 1. Throws request_invalid. */
export function scriptedNumber(value: ScriptedValue, owner: string): number {
  const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isNaN(number)) return number;
  throw new AppError(
    "request_invalid",
    `the script of [${owner}] must return numbers, but returned ${JSON.stringify(value)}`,
  );
}
