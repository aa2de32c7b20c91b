/** From the values that a buffer has of a field to its column. */

import { type ColumnNumbers, type ColumnValues, writeColumn } from "#hub/engine/columns/column-writer.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { columnKind, type Field } from "../mapping/field.ts";
import type { FieldEntry } from "./directory.ts";

/** Values in the order of their documents. */
interface FieldColumn {
  readonly docs: Int32Array;
  /** Numbers, ordinals of terms, or the latitudes of points. */
  readonly values: Float64Array;
  readonly longitudes: Float64Array;
  /** All values, where one of them is beyond 2^53; else null. */
  readonly exact: readonly bigint[] | null;
  /** No document has more than one value. */
  readonly isSingle: boolean;
}

/** Writes the column of a field, if it has one. The values of each document are put in order, in place. */
export function writeFieldColumn(
  file: SegmentFileWriter,
  field: Field,
  column: FieldColumn,
  docCount: number,
): FieldEntry["column"] {
  const kind = columnKind(field);
  const { docs, values, longitudes, isSingle } = column;
  if (kind === null || docs.length === 0) return undefined;
  if (kind === "geo") {
    const count = docs.length;
    return {
      kind,
      values: writeColumn(file, { docs, values, count, isSingle }, docCount, "signed"),
      longitudes: writeColumn(file, { docs, values: longitudes, count, isSingle }, docCount, "signed"),
    };
  }
  if (isSingle) {
    const all = { docs, values: column.exact ?? values, count: docs.length, isSingle };
    return { kind, values: writeColumn(file, all, docCount, numbersOf(kind)) };
  }
  const sorted =
    kind === "keyword" || kind === "ip"
      ? withoutRepeats(docs, sortRuns(docs, values))
      : { docs, values: sortedValues(column), count: docs.length };
  return { kind, values: writeColumn(file, sorted, docCount, numbersOf(kind)) };
}

/** How the numbers of a kind are kept. */
export function numbersOf(kind: string): ColumnNumbers {
  return kind === "double" ? "float" : kind === "unsigned_long" ? "unsigned" : "signed";
}

function sortedValues({ docs, values, exact }: FieldColumn): Float64Array | bigint[] {
  if (exact === null) return sortRuns(docs, values);
  const result: bigint[] = [];
  for (let from = 0; from < docs.length; ) {
    const to = endOfRun(docs, from);
    const run = exact.slice(from, to).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    for (const value of run) result.push(value);
    from = to;
  }
  return result;
}

function endOfRun(docs: Int32Array, from: number): number {
  let to = from + 1;
  while (to < docs.length && docs[to] === docs[from]) to++;
  return to;
}

/** Sorts the values of each document, in place. */
function sortRuns(docs: Int32Array, values: Float64Array): Float64Array {
  for (let from = 0; from < docs.length; ) {
    const to = endOfRun(docs, from);
    if (to - from > 1) values.subarray(from, to).sort();
    from = to;
  }
  return values;
}

/** Each ordinal once per document, in place. */
function withoutRepeats(docs: Int32Array, values: Float64Array): ColumnValues {
  let count = 0;
  for (let index = 0; index < docs.length; index++) {
    if (count > 0 && docs[index] === docs[count - 1] && values[index] === values[count - 1]) continue;
    docs[count] = docs[index]!;
    values[count++] = values[index]!;
  }
  return { docs: docs.subarray(0, count), values: values.subarray(0, count), count };
}
