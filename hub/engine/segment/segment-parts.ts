/** The sizes of a segment's file by part and field. */

import { DictionaryPages } from "#hub/engine/dictionary/dictionary-pages.ts";
import type { DictionaryEntry } from "#hub/engine/dictionary/dictionary-writer.ts";
import { TermWalk } from "#hub/engine/dictionary/term-walk.ts";
import { type Extent, SegmentFile } from "#hub/engine/files/segment-file.ts";
import type { FieldEntry, SegmentDirectory } from "./directory.ts";

/**
 * Parts of a segment. `dictionary` includes the postings of terms that one document has, `directory` checksums and trailer,
 * `documents` versions and sequence numbers.
 */
export const SEGMENT_PARTS = [
  "source",
  "ids",
  "idIndex",
  "dictionary",
  "postings",
  "positions",
  "columns",
  "norms",
  "presence",
  "documents",
  "directory",
  "liveDocs",
] as const;

export type SegmentPart = (typeof SEGMENT_PARTS)[number];

export interface PartBytes {
  readonly part: SegmentPart;
  /** Null for what belongs to no field. */
  readonly field: string | null;
  readonly bytes: number;
}

export interface SegmentBytes {
  readonly docs: number;
  readonly parts: readonly PartBytes[];
}

/** Reads the file at `path` and returns its bytes by part; their sum is the size of the file. Throws data_corrupt. */
export function segmentBytes(name: string, path: string): SegmentBytes {
  const file = SegmentFile.open(name, path);
  try {
    const directory = file.directory as SegmentDirectory;
    const { starts, fingerprints, docs } = directory.idIndex;
    const parts: PartBytes[] = [
      { part: "source", field: null, bytes: sizeOf(directory.source.index, directory.source.data) },
      { part: "ids", field: null, bytes: sizeOf(directory.ids.index, directory.ids.data) },
      { part: "idIndex", field: null, bytes: sizeOf(starts, fingerprints, docs) },
    ];
    for (const column of [directory.version, directory.seqNo])
      parts.push({ part: "documents", field: null, bytes: sizeOf(column.index, column.data) });
    for (const [field, entry] of Object.entries(directory.fields)) {
      for (const [part, bytes] of fieldBytes(file, entry, directory.docs)) parts.push({ part, field, bytes });
    }
    const sum = parts.reduce((total, { bytes }) => total + bytes, 0);
    parts.push({ part: "directory", field: null, bytes: file.sizeBytes - sum });
    return { docs: directory.docs, parts };
  } finally {
    file.close();
  }
}

function fieldBytes(file: SegmentFile, entry: FieldEntry, docCount: number): [SegmentPart, number][] {
  const { presence, terms, norms, column } = entry;
  const found: [SegmentPart, number][] = [["presence", sizeOf(presence.extent)]];
  if (terms !== undefined) {
    const positions = positionsBytes(file, terms, docCount);
    found.push(["dictionary", sizeOf(terms.index, terms.blocks)]);
    found.push(["postings", sizeOf(terms.postings) - positions], ["positions", positions]);
  }
  if (norms !== undefined) found.push(["norms", sizeOf(norms)]);
  if (column !== undefined) {
    const { values, longitudes } = column;
    found.push(["columns", sizeOf(values.index, values.data, longitudes?.index, longitudes?.data)]);
  }
  return found.filter(([, bytes]) => bytes > 0);
}

/** Bytes of the positions among a dictionary's postings. */
function positionsBytes(file: SegmentFile, entry: DictionaryEntry, docCount: number): number {
  if (!entry.positions) return 0;
  const pages = new DictionaryPages(file, entry);
  const walk = new TermWalk({ file, entry, pages, docCount, norms: () => null }, false);
  let bytes = 0;
  while (walk.next()) bytes += walk.positionsBytes;
  return bytes;
}

function sizeOf(...extents: (Extent | undefined)[]): number {
  return extents.reduce((total, extent) => total + (extent?.[1] ?? 0), 0);
}
