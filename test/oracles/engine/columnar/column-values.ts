/** The values of a column: ranges of the bytes of a block's documents. */

import { IntList } from "#hub/engine/bytes/byte-buffer.ts";

export class ColumnValues {
  readonly bytes: Uint8Array;
  readonly starts: IntList;
  readonly stops: IntList;

  /** `rows`: about how many values there will be. */
  constructor(bytes: Uint8Array, rows: number) {
    this.bytes = bytes;
    this.starts = new IntList(rows);
    this.stops = new IntList(rows);
  }

  get count(): number {
    return this.starts.length;
  }

  add(start: number, stop: number): void {
    this.starts.push(start);
    this.stops.push(stop);
  }

  /** Bytes of all values. */
  sizeBytes(): number {
    let size = 0;
    for (let row = 0; row < this.count; row++) size += this.stops.values[row]! - this.starts.values[row]!;
    return size;
  }
}

/** A column that texts of the same rows may refer to, by its number. */
export interface ReferredColumn {
  readonly number: number;
  readonly values: ColumnValues;
}
