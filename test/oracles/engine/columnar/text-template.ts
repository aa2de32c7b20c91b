/** A template of texts: literals, references to other columns, variables. */

import { type ByteBuffer, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { LITERAL, REFERENCE, VARIABLE } from "#hub/engine/stored/columnar/value-kinds.ts";
import type { ReferredColumn } from "./column-values.ts";
import { endOfVariable } from "./words.ts";

const VARIABLE_PART = -1;
const REFERENCE_PART = -2;

/** Made of the first text that has it, part by part; its literals stay where they are in the text. */
export class TextTemplate {
  bytes: Uint8Array = new Uint8Array(0);
  variableCount = 0;
  /** Texts that matched. */
  rows = 0;
  /** Where a literal begins, or what else a part is; where a literal ends, or the index of a column. */
  readonly #starts = new IntList();
  readonly #stops = new IntList();
  readonly #columns: ReferredColumn[] = [];

  /** Begins again, for a text in `bytes`. */
  reset(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.variableCount = 0;
    this.#starts.length = 0;
    this.#stops.length = 0;
    this.#columns.length = 0;
  }

  get partCount(): number {
    return this.#starts.length;
  }

  refersTo(column: number): boolean {
    return this.#columns.some(({ number }) => number === column);
  }

  addVariable(): void {
    this.#add(VARIABLE_PART, 0);
    this.variableCount++;
  }

  /** Adds a reference; returns the length of the value in a row. */
  addReference(column: ReferredColumn, row: number): number {
    this.#add(REFERENCE_PART, this.#columns.push(column) - 1);
    return column.values.stops.values[row]! - column.values.starts.values[row]!;
  }

  /** Adds a literal, after the one before where that is the last part. */
  addLiteral(start: number, stop: number): void {
    const last = this.#stops.length - 1;
    if (last >= 0 && this.#starts.values[last]! >= 0 && this.#stops.values[last] === start)
      this.#stops.values[last] = stop;
    else this.#add(start, stop);
  }

  /** Whether bytes[from..to) is the template with the values of a row; adds the variables to `starts` and `stops`. */
  match(from: number, to: number, row: number, starts: IntList, stops: IntList): boolean {
    const { bytes } = this;
    const before = starts.length;
    let at = from;
    for (let part = 0; part < this.#starts.length && at >= 0; part++) {
      const start = this.#starts.values[part]!;
      const stop = this.#stops.values[part]!;
      if (start >= 0) at = endOfSame(bytes, at, to, start, stop);
      else if (start === REFERENCE_PART) {
        const { values } = this.#columns[stop]!;
        at = endOfSame(bytes, at, to, values.starts.values[row]!, values.stops.values[row]!);
      } else {
        const end = endOfVariable(bytes, at, to);
        starts.push(at);
        stops.push(end);
        at = end;
      }
    }
    if (at === to) {
      this.rows++;
      return true;
    }
    starts.length = before;
    stops.length = before;
    return false;
  }

  /** Appends the operations of the grammar. */
  write(out: ByteBuffer): void {
    for (let part = 0; part < this.#starts.length; part++) {
      const start = this.#starts.values[part]!;
      const stop = this.#stops.values[part]!;
      if (start === VARIABLE_PART) TextTemplate.writeVariable(out);
      else if (start === REFERENCE_PART) {
        out.varint(REFERENCE);
        out.varint(this.#columns[stop]!.number);
      } else {
        out.varint(LITERAL + stop - start);
        out.append(this.bytes, start, stop);
      }
    }
  }

  /** Appends the operation of a variable. */
  static writeVariable(out: ByteBuffer): void {
    out.varint(VARIABLE);
  }

  #add(start: number, stop: number): void {
    this.#starts.push(start);
    this.#stops.push(stop);
  }
}

/** End of what stands at `at` and equals bytes[start..stop); -1 where it differs or goes beyond `to`. */
function endOfSame(bytes: Uint8Array, at: number, to: number, start: number, stop: number): number {
  const end = at + stop - start;
  if (end > to) return -1;
  let other = start;
  for (let place = at; place < end; place++, other++) if (bytes[place] !== bytes[other]) return -1;
  return end;
}
