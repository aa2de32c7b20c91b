/** Numbers that a script makes of documents, read like those of a column. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  type ScriptedValue,
  scriptedNumber,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/value-script.ts";

/** Reads batches of documents. */
export class ScriptedNumbers {
  /** Values of the last `read`. */
  values = new Float64Array(0);
  /** For each value the index of its document in the batch. */
  places = new Int32Array(0);
  readonly #bind: ReturnType<typeof valuesOn>;
  readonly #missing: number | undefined;
  readonly #owner: string;
  #valuesOf: (doc: number) => ScriptedValue[] = () => [];

  constructor(script: ValueScript, shard: ShardContext, missing: number | undefined, owner: string) {
    this.#bind = valuesOn(script, shard);
    this.#missing = missing;
    this.#owner = owner;
  }

  segment(segment: SegmentReader): void {
    this.#valuesOf = this.#bind(segment);
  }

  /** Reads all values of a batch and returns how many there are. */
  read(docs: Int32Array, length: number): number {
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
