/** Which documents have a field: all, few (a list) or some (a bitmap). */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteBuffer, ByteReader } from "#hub/engine/bytes/byte-buffer.ts";
import type { Extent, SegmentFile, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";

export interface PresenceEntry {
  readonly form: "all" | "list" | "bits";
  /** Documents with the field. */
  readonly count: number;
  readonly extent: Extent;
}

/** Fields of fewer than one in this many documents are lists of deltas. */
const LIST_BELOW = 16;

/** The entry of a field that all documents have. */
function fullPresence(docCount: number): PresenceEntry {
  return { form: "all", count: docCount, extent: [0, 0] };
}

/** Writes the ascending documents `docs`, each once. */
export function writePresence(file: SegmentFileWriter, docs: Int32Array, docCount: number): PresenceEntry {
  const count = docs.length;
  if (count === docCount) return fullPresence(docCount);
  if (count * LIST_BELOW < docCount) {
    const out = new ByteBuffer(count * 2);
    let before = -1;
    for (let index = 0; index < count; index++) {
      const doc = docs[index]!;
      out.varint(doc - before);
      before = doc;
    }
    return { form: "list", count, extent: file.write(out.view()) };
  }
  const set = new Bitset(docCount);
  for (let index = 0; index < count; index++) set.add(docs[index]!);
  return writePresenceSet(file, set);
}

/** Writes the documents of a set that has a bit for each document of the segment. */
export function writePresenceSet(file: SegmentFileWriter, set: Bitset): PresenceEntry {
  const count = set.count();
  if (count === set.size) return fullPresence(count);
  if (count * LIST_BELOW >= set.size)
    return { form: "bits", count, extent: file.write(new Uint8Array(set.words.buffer)) };
  const docs = new Int32Array(count);
  for (let doc = set.nextSet(0), at = 0; doc >= 0; doc = set.nextSet(doc + 1)) docs[at++] = doc;
  return writePresence(file, docs, set.size);
}

/** Reads what writePresence wrote; null for all documents. */
export function readPresence(file: SegmentFile, entry: PresenceEntry, docCount: number): Bitset | null {
  if (entry.form === "all") return null;
  const bytes = file.read(entry.extent);
  const bits = new Bitset(docCount);
  if (entry.form === "bits") {
    new Uint8Array(bits.words.buffer).set(bytes.subarray(0, bits.words.byteLength));
    return bits;
  }
  const reader = new ByteReader(bytes);
  let doc = -1;
  for (let left = entry.count; left > 0; left--) {
    doc += reader.varint();
    if (doc < docCount) bits.add(doc);
  }
  return bits;
}
