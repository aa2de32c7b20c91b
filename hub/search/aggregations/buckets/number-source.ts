/** The source of an aggregation's numbers: the column of a field, or a script. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { missingNumber, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import { anything } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  readValueScript,
  type ScriptedValue,
  scriptedNumber,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/document-script.ts";

/** The option of a script that makes the values. */
export const VALUE_SCRIPT = anything(
  "script that makes the values; with a field, it sees each value as _value",
);

/** A field, a script, or a script over the values of a field. */
export interface ValueSource {
  readonly field: string | undefined;
  readonly script: ValueScript | undefined;
}

/** Reads the options `field` and `script`. Throws request_invalid if both are missing, script_failed. */
export function readValueSource(
  { field, script }: { readonly field: string | undefined; readonly script: unknown },
  name: string,
): ValueSource {
  if (script === undefined || script === null) return { field: requireField(field, name), script: undefined };
  return { field, script: readValueScript(script, field) };
}

/** Numbers of a shard. */
export interface OpenNumbers {
  /** undefined if there is none, or it isn't mapped. */
  readonly field: Field | undefined;
  readonly values: NumericValues;
  /** Moves to a segment. */
  readonly open: (segment: SegmentReader) => void;
}

/** How numbers are read. */
interface NumberOptions {
  /** Value of documents without one, as the request has it. */
  readonly missing: unknown;
  /** Formats of a text in `missing`; undefined: the field's. */
  readonly format?: string | undefined;
  /** Name of the aggregation's type, for messages. */
  readonly owner: string;
  /** Throws if the field can't be used. */
  readonly checkField: (field: Field) => void;
}

/** Returns the numbers of a shard. Throws request_invalid, parsing. */
export function openNumbers(
  shard: ShardContext,
  { field: name, script }: ValueSource,
  { missing: given, format, owner, checkField }: NumberOptions,
): OpenNumbers {
  const field = name === undefined ? undefined : columnField(shard, name);
  const missing = missingNumber(given, field, shard, owner, format);
  if (script !== undefined) {
    const values = new ScriptedNumbers(script, shard, missing, owner);
    return { field, values, open: (segment) => values.segment(segment) };
  }
  if (field !== undefined) checkField(field);
  const values = new NumericValues(missing);
  return { field, values, open: (segment) => values.open(numericColumn(segment, field)) };
}

/** Numbers that a script makes of documents, read like those of a column that nothing is known of. */
export class ScriptedNumbers extends NumericValues {
  readonly #bind: ReturnType<typeof valuesOn>;
  readonly #missing: number | undefined;
  readonly #owner: string;
  #valuesOf: (doc: number) => ScriptedValue[] = () => [];

  constructor(script: ValueScript, shard: ShardContext, missing: number | undefined, owner: string) {
    super(missing);
    this.#bind = valuesOn(script, shard);
    this.#missing = missing;
    this.#owner = owner;
  }

  segment(segment: SegmentReader): void {
    this.#valuesOf = this.#bind(segment);
  }

  override get areStored(): boolean {
    return false;
  }

  override get isNothing(): boolean {
    return false;
  }

  override read(docs: Int32Array, length: number): number {
    const values: number[] = [];
    const places: number[] = [];
    for (let at = 0; at < length; at++) {
      const found = this.#valuesOf(docs[at]!);
      for (const value of found) {
        values.push(scriptedNumber(value, this.#owner));
        places.push(at);
      }
      if (found.length > 0 || this.#missing === undefined) continue;
      values.push(this.#missing);
      places.push(at);
    }
    this.values = Float64Array.from(values);
    this.places = Int32Array.from(places);
    return values.length;
  }
}
