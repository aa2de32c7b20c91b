/**
 * Writes the live documents of several segments as one: dictionaries merged term by term, postings renumbered, columns
 * and stored documents copied. A generator, so that its owner decides when it goes on.
 */

import { compareBytes } from "../bytes.ts";
import { NO_MORE_DOCS, type TermIterator } from "../searcher.ts";
import type { Bitset } from "../segment/bitset.ts";
import { type ColumnEntry, type ColumnValues, writeColumn } from "../segment/column-writer.ts";
import { type DictionaryEntry, DictionaryWriter } from "../segment/dictionary-writer.ts";
import type { FieldEntry, SegmentDirectory } from "../segment/directory.ts";
import { numbersOf } from "../segment/field-column.ts";
import { FloatList, IntList } from "../segment/growing.ts";
import { hashId, newIdSeed, writeIdIndex } from "../segment/id-index.ts";
import { PostingsList } from "../segment/postings-writer.ts";
import { writePresence } from "../segment/presence.ts";
import type { Segment } from "../segment/segment.ts";
import { type ByteSink, SegmentFileWriter } from "../segment/segment-file.ts";
import { StoredWriter } from "../segment/stored.ts";

export interface MergeInput {
  readonly segment: Segment;
  /** Documents to take over. */
  readonly live: Bitset;
  /** Filled: new number of each document, -1 for those left out. */
  readonly newDocs: Int32Array;
}

/** Larger blocks and a higher level than in fresh segments: merged ones stay. */
const SOURCE_BLOCK_BYTES = 256 * 1024;
const ID_BLOCK_BYTES = 32 * 1024;
const ZSTD_LEVEL = 3;

/** Documents or terms between two pauses. */
const PAUSE_EVERY = 256;

/** Writes the merged segment to `sink`; yields often. The bytes are complete when it returns. */
export function* mergeSegments(inputs: readonly MergeInput[], sink: ByteSink): Generator<void, void> {
  const docCount = numberDocuments(inputs);
  const file = new SegmentFileWriter(sink);
  const source = yield* copySources(inputs, file);
  const ids = new StoredWriter(ID_BLOCK_BYTES, ZSTD_LEVEL);
  const idSeed = newIdSeed();
  const idHashes = new Uint32Array(docCount);
  const versions = new FloatList();
  const seqNos = new FloatList();
  for (const { segment, doc } of liveDocuments(inputs)) {
    const id = segment.idBytes(doc);
    ids.add(id);
    idHashes[versions.length] = hashId(id, 0, id.length, idSeed);
    versions.push(segment.version(doc));
    seqNos.push(segment.seqNo(doc));
    if (versions.length % PAUSE_EVERY === 0) yield;
  }
  const fields: Record<string, FieldEntry> = {};
  const names = new Set(inputs.flatMap(({ segment }) => segment.fieldNames()));
  for (const name of names) {
    const entry = yield* mergeField(name, inputs, docCount, file);
    if (entry !== null) fields[name] = entry;
  }
  const docs = Int32Array.from({ length: docCount }, (_, doc) => doc);
  const column = (values: FloatList): ColumnEntry =>
    writeColumn(file, { docs, values: values.view(), count: docCount, isSingle: true }, docCount, "signed");
  const directory: SegmentDirectory = {
    docs: docCount,
    version: column(versions),
    seqNo: column(seqNos),
    source,
    ids: ids.finish(file),
    idIndex: writeIdIndex(file, idSeed, idHashes),
    fields,
  };
  file.finish(directory);
}

function numberDocuments(inputs: readonly MergeInput[]): number {
  let next = 0;
  for (const { live, newDocs } of inputs) {
    for (let doc = live.nextSet(0); doc >= 0; doc = live.nextSet(doc + 1)) newDocs[doc] = next++;
  }
  return next;
}

function* liveDocuments(inputs: readonly MergeInput[]): Generator<{ segment: Segment; doc: number }> {
  for (const { segment, live } of inputs) {
    for (let doc = live.nextSet(0); doc >= 0; doc = live.nextSet(doc + 1)) yield { segment, doc };
  }
}

function* copySources(
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
): Generator<void, SegmentDirectory["source"]> {
  const source = new StoredWriter(SOURCE_BLOCK_BYTES, ZSTD_LEVEL, file);
  let count = 0;
  for (const { segment, doc } of liveDocuments(inputs)) {
    source.add(segment.source(doc));
    if (++count % PAUSE_EVERY === 0) yield;
  }
  return source.finish(file);
}

/** Null where no live document has the field. */
function* mergeField(
  name: string,
  inputs: readonly MergeInput[],
  docCount: number,
  file: SegmentFileWriter,
): Generator<void, FieldEntry | null> {
  const docs = new IntList();
  for (const { segment, live, newDocs } of inputs) {
    const presence = segment.presence(name);
    if (presence === undefined) continue;
    for (let doc = live.nextSet(0); doc >= 0; doc = live.nextSet(doc + 1)) {
      if (presence === null || presence.has(doc)) docs.push(newDocs[doc]!);
    }
    yield;
  }
  if (docs.length === 0) return null;
  const entry: { -readonly [K in keyof FieldEntry]: FieldEntry[K] } = {
    presence: writePresence(file, docs.view(), docCount),
  };
  const norms = mergeNorms(name, inputs, docCount);
  const ordinals = inputs.map(({ segment }) => new Int32Array(segment.dictionary(name)?.size ?? 0).fill(-1));
  const terms = yield* mergeTerms(name, inputs, norms, file, ordinals);
  if (terms !== null) entry.terms = terms;
  if (norms !== null) entry.norms = file.write(norms);
  yield;
  const column = mergeColumn(name, inputs, docCount, file, ordinals);
  if (column !== undefined) entry.column = column;
  yield;
  return entry;
}

function mergeNorms(name: string, inputs: readonly MergeInput[], docCount: number): Uint8Array | null {
  let merged: Uint8Array | null = null;
  for (const { segment, newDocs } of inputs) {
    const norms = segment.norms(name);
    if (norms === null) continue;
    merged ??= new Uint8Array(docCount);
    for (let doc = 0; doc < newDocs.length; doc++)
      if (newDocs[doc]! >= 0) merged[newDocs[doc]!] = norms[doc]!;
  }
  return merged;
}

interface Walk {
  readonly input: number;
  readonly iterator: TermIterator;
  term: Uint8Array;
}

/** Merges the dictionaries; `ordinals` gets the new ordinal of each input's terms, -1 for those that are gone. */
function* mergeTerms(
  name: string,
  inputs: readonly MergeInput[],
  norms: Uint8Array | null,
  file: SegmentFileWriter,
  ordinals: readonly Int32Array[],
): Generator<void, DictionaryEntry | null> {
  const withPositions = inputs.some(({ segment }) => segment.fieldEntry(name)?.terms?.positions === true);
  const used = inputs.map((input) => usedOrdinals(name, input));
  const writer = new DictionaryWriter(file, norms, withPositions);
  const list = new PostingsList();
  let walks = startWalks(name, inputs);
  let ordinal = 0;
  for (let count = 1; walks.length > 0; count++) {
    let least = walks[0]!;
    for (const walk of walks) if (compareBytes(walk.term, least.term) < 0) least = walk;
    const { term } = least;
    const same = walks.filter((walk) => walk === least || compareBytes(walk.term, term) === 0);
    list.clear();
    let isKept = false;
    for (const walk of same) {
      copyPostings(walk.iterator, inputs[walk.input]!, withPositions, list);
      isKept ||= used[walk.input]?.has(walk.iterator.ordinal) ?? false;
    }
    if (list.count > 0 || isKept) {
      writer.add(term, list);
      for (const walk of same) ordinals[walk.input]![walk.iterator.ordinal] = ordinal;
      ordinal++;
    }
    let isOver = false;
    for (const walk of same) {
      if (walk.iterator.next()) walk.term = walk.iterator.term();
      else {
        walks = walks.filter((other) => other !== walk);
        isOver = true;
      }
    }
    if (isOver || count % PAUSE_EVERY === 0) yield;
  }
  return ordinal > 0 ? writer.finish() : null;
}

function startWalks(name: string, inputs: readonly MergeInput[]): Walk[] {
  const walks: Walk[] = [];
  for (const [input, { segment }] of inputs.entries()) {
    const iterator = segment.dictionary(name)?.range();
    if (iterator?.next()) walks.push({ input, iterator, term: iterator.term() });
  }
  return walks;
}

/** Ordinals that live documents have, for columns of fields that aren't indexed; null for the others. */
function usedOrdinals(name: string, { segment, live }: MergeInput): Set<number> | null {
  const terms = segment.fieldEntry(name)?.terms;
  const kind = segment.fieldEntry(name)?.column?.kind;
  if (terms === undefined || terms.sumDocFreq > 0 || (kind !== "keyword" && kind !== "ip")) return null;
  const column = segment.rawColumn(name)!;
  const used = new Set<number>();
  const values: number[] = [];
  for (let doc = live.nextSet(0); doc >= 0; doc = live.nextSet(doc + 1)) {
    for (let index = column.read(doc, values) - 1; index >= 0; index--) used.add(values[index]!);
  }
  return used;
}

function copyPostings(
  iterator: TermIterator,
  input: MergeInput,
  withPositions: boolean,
  list: PostingsList,
): void {
  if (iterator.docFreq === 0) return;
  const cursor = iterator.postings({ positions: withPositions });
  for (let doc = cursor.next(); doc !== NO_MORE_DOCS; doc = cursor.next()) {
    const newDoc = input.newDocs[doc]!;
    if (newDoc < 0) continue;
    const { freq } = cursor;
    list.add(newDoc, freq);
    if (!withPositions) continue;
    const positions = cursor.positions();
    for (let index = 0; index < freq; index++) list.addPosition(positions[index]!);
  }
}

function mergeColumn(
  name: string,
  inputs: readonly MergeInput[],
  docCount: number,
  file: SegmentFileWriter,
  ordinals: readonly Int32Array[],
): FieldEntry["column"] {
  const kind = inputs
    .map(({ segment }) => segment.fieldEntry(name)?.column?.kind)
    .find((found) => found !== undefined);
  if (kind === undefined) return undefined;
  const isTerms = kind === "keyword" || kind === "ip";
  const values = collectColumn(name, "values", inputs, isTerms ? ordinals : null);
  if (values.count === 0) return undefined;
  const written = writeColumn(file, values, docCount, numbersOf(kind));
  if (kind !== "geo") return { kind, values: written };
  const longitudes = collectColumn(name, "longitudes", inputs, null);
  return { kind, values: written, longitudes: writeColumn(file, longitudes, docCount, "signed") };
}

function collectColumn(
  name: string,
  part: "values" | "longitudes",
  inputs: readonly MergeInput[],
  ordinals: readonly Int32Array[] | null,
): ColumnValues {
  const docs = new IntList();
  const numbers = new FloatList();
  const isExact = inputs.some(({ segment }) => segment.fieldEntry(name)?.column?.[part]?.safe === false);
  const exact: bigint[] = [];
  const room: number[] = [];
  const exactRoom: bigint[] = [];
  for (const [input, { segment, live, newDocs }] of inputs.entries()) {
    const column = segment.rawColumn(name, part);
    if (column === null) continue;
    for (let doc = live.nextSet(0); doc >= 0; doc = live.nextSet(doc + 1)) {
      const count = isExact ? column.readExact(doc, exactRoom) : column.read(doc, room);
      for (let index = 0; index < count; index++) {
        docs.push(newDocs[doc]!);
        if (isExact) exact.push(exactRoom[index]!);
        else numbers.push(ordinals === null ? room[index]! : ordinals[input]![room[index]!]!);
      }
    }
  }
  return { docs: docs.view(), values: isExact ? exact : numbers.view(), count: docs.length };
}
