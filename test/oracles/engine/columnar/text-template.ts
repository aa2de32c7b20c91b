/** A template of texts: literals, references to other columns, variables. */

import type { ByteBuffer, IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { LITERAL, REFERENCE, VARIABLE } from "#hub/engine/stored/columnar/value-kinds.ts";
import type { ReferredColumn } from "./column-values.ts";
import { endOfVariable } from "./words.ts";

/** A literal's bytes, the column that is referred to, or a variable. */
export type Part =
  | { readonly kind: "literal"; readonly start: number; readonly stop: number }
  | { readonly kind: "reference"; readonly column: ReferredColumn }
  | { readonly kind: "variable" };

/** Made of the first text that has it, part by part; its literals stay where they are in the text. */
export class TextTemplate {
  /** Its number among those of the column. */
  number = 0;
  variableCount = 0;
  /** Texts that are of it. */
  rows = 0;
  readonly bytes: Uint8Array;
  readonly parts: Part[] = [];

  /** Begins a template of a text in `bytes`. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  refersTo(column: number): boolean {
    return this.parts.some((part) => part.kind === "reference" && part.column.number === column);
  }

  addVariable(): void {
    this.parts.push({ kind: "variable" });
    this.variableCount++;
  }

  /** Adds a reference; returns the length of the value in a row. */
  addReference(column: ReferredColumn, row: number): number {
    this.parts.push({ kind: "reference", column });
    return column.values.stops.values[row]! - column.values.starts.values[row]!;
  }

  /** Adds a literal, after the one before where that is the last part. */
  addLiteral(start: number, stop: number): void {
    const last = this.parts.at(-1);
    if (last?.kind !== "literal" || last.stop !== start) this.parts.push({ kind: "literal", start, stop });
    else this.parts[this.parts.length - 1] = { kind: "literal", start: last.start, stop };
  }

  /** Whether bytes[from..to) is the template with the values of a row; adds the variables to `starts` and `stops`. */
  match(from: number, to: number, row: number, starts: IntList, stops: IntList): boolean {
    const before = starts.length;
    let at = from;
    for (const part of this.parts) {
      const end = endOfPart(part, this.bytes, at, to, row);
      if (part.kind === "variable") {
        starts.push(at);
        stops.push(end);
      }
      at = end;
      if (at < 0) break;
    }
    if (at === to) return true;
    starts.length = before;
    stops.length = before;
    return false;
  }

  /** Appends the operations of the grammar. */
  write(out: ByteBuffer): void {
    for (const part of this.parts) {
      if (part.kind === "variable") TextTemplate.writeVariable(out);
      else if (part.kind === "reference") {
        out.varint(REFERENCE);
        out.varint(part.column.number);
      } else {
        out.varint(LITERAL + part.stop - part.start);
        out.append(this.bytes, part.start, part.stop);
      }
    }
  }

  /** Appends the operation of a variable. */
  static writeVariable(out: ByteBuffer): void {
    out.varint(VARIABLE);
  }
}

/** End of a part that begins at `at`, with the values of a row; -1 where the bytes differ or go beyond `to`. */
export function endOfPart(part: Part, bytes: Uint8Array, at: number, to: number, row: number): number {
  if (part.kind === "variable") return endOfVariable(bytes, at, to);
  if (part.kind === "literal") return endOfSame(bytes, at, to, part.start, part.stop);
  const { starts, stops } = part.column.values;
  return endOfSame(bytes, at, to, starts.values[row]!, stops.values[row]!);
}

/** Whether two parts of texts in `bytes` are the same. */
export function isSamePart(one: Part, other: Part, bytes: Uint8Array): boolean {
  if (one.kind === "literal" && other.kind === "literal")
    return (
      one.stop - one.start === other.stop - other.start &&
      endOfSame(bytes, one.start, one.stop, other.start, other.stop) >= 0
    );
  if (one.kind === "reference" && other.kind === "reference")
    return one.column.number === other.column.number;
  return one.kind === other.kind;
}

/** End of what is at `at` and equals bytes[start..stop); -1 where it differs or goes beyond `to`. */
function endOfSame(bytes: Uint8Array, at: number, to: number, start: number, stop: number): number {
  const end = at + stop - start;
  if (end > to) return -1;
  let other = start;
  for (let place = at; place < end; place++, other++) if (bytes[place] !== bytes[other]) return -1;
  return end;
}
