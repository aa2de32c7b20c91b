/** Merges the dictionaries of a field term by term: in the kernel, or here where its memory is too small for them. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { compareBytes } from "#hub/engine/bytes/bytes.ts";
import { type DictionaryEntry, DictionaryWriter } from "#hub/engine/dictionary/dictionary-writer.ts";
import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { Spool } from "#hub/engine/files/spool.ts";
import { PostingsList } from "#hub/engine/postings/postings-writer.ts";
import { NO_MORE_DOCS, type TermIterator } from "#hub/engine/searcher/searcher.ts";
import { KernelMerge, type MergedDictionary, mergeKernel } from "./kernel-merge.ts";
import type { MergeInput } from "./merge-input.ts";

/** Terms between two pauses. */
const PAUSE_EVERY = 256;

/** Postings of all inputs that the kernel takes: it counts their bytes by 32 bits. */
const MAX_KERNEL_BYTES = 2 ** 32 - 2 ** 20;

/** Postings that are in memory at a time, of all inputs together, unless 16 neighbouring terms have more. */
const WINDOWS_BYTES = 4 * 1024 * 1024;

/** What is merged, and where to. */
export interface TermsMerge {
  readonly name: string;
  readonly inputs: readonly MergeInput[];
  /** Of the merged segment; null without. */
  readonly norms: Uint8Array | null;
  readonly file: SegmentFileWriter;
  /** False: the kernel's memory was too small for this merge. */
  readonly usesKernel: boolean;
  /** Where what memory needn't hold is put aside; null: nowhere. */
  readonly spoolPath: string | null;
  /** Whether the field has a column of its terms' numbers. */
  readonly hasOrdinals: boolean;
}

/** The merged dictionary. */
export interface MergedTerms {
  /** Null without terms. */
  readonly entry: DictionaryEntry | null;
  /** By input: the new number of each of its terms, -1 for those that are gone. Null where they aren't needed. */
  readonly ordinals: readonly (Int32Array | null)[];
}

/** Merges; yields often. Throws data_corrupt. */
export function* mergeTerms(merge: TermsMerge): Generator<void, MergedTerms> {
  const { name, inputs } = merge;
  const ordinals = inputs.map(({ segment }) =>
    merge.hasOrdinals ? new Int32Array(segment.dictionary(name)?.size ?? 0).fill(-1) : null,
  );
  const used = inputs.map((input) => usedOrdinals(name, input));
  if (!merge.usesKernel || !suitsKernel(merge))
    return { entry: yield* mergeHere(merge, used, ordinals), ordinals };
  const dictionaries: MergedDictionary[] = [];
  for (const [index, { segment, live, newDocs, firstDoc }] of inputs.entries()) {
    const windows = segment.dictionary(name)?.windows(WINDOWS_BYTES / inputs.length);
    if (windows === undefined) continue;
    const docs = live === null ? null : newDocs;
    const { docCount } = segment;
    dictionaries.push({
      windows,
      docCount,
      firstDoc,
      newDocs: docs,
      used: used[index]!,
      ordinals: ordinals[index]!,
    });
  }
  const { file, norms, spoolPath } = merge;
  const spool = spoolPath === null ? undefined : new Spool(spoolPath);
  const work = new KernelMerge(mergeKernel(), dictionaries, norms, hasPositions(merge), spool);
  try {
    while (!work.step(file)) yield;
    return { entry: yield* work.finish(file), ordinals };
  } finally {
    work.release();
    spool?.close();
  }
}

function hasPositions({ name, inputs }: TermsMerge): boolean {
  return inputs.some(({ segment }) => segment.fieldEntry(name)?.terms?.positions === true);
}

/** Whether all inputs are of one form, and not too large. */
function suitsKernel({ name, inputs }: TermsMerge): boolean {
  const entries = inputs.flatMap(({ segment }) => segment.fieldEntry(name)?.terms ?? []);
  const bytes = entries.reduce((total, { postings }) => total + postings[1], 0);
  return (
    entries.length > 0 &&
    bytes < MAX_KERNEL_BYTES &&
    entries.every(({ positions }) => positions === entries[0]!.positions)
  );
}

/** Ordinals that live documents have, for columns of fields that aren't indexed; null for the others. */
function usedOrdinals(name: string, { segment, newDocs }: MergeInput): Bitset | null {
  const entry = segment.fieldEntry(name);
  const kind = entry?.column?.kind;
  if (entry?.terms === undefined || entry.terms.sumDocFreq > 0 || (kind !== "keyword" && kind !== "ip"))
    return null;
  const column = segment.rawColumn(name)!;
  const used = new Bitset(entry.terms.size);
  const values: number[] = [];
  for (let doc = 0; doc < newDocs.length; doc++) {
    if (newDocs[doc]! < 0) continue;
    for (let index = column.read(doc, values) - 1; index >= 0; index--) used.add(values[index]!);
  }
  return used;
}

interface Walk {
  readonly input: number;
  readonly iterator: TermIterator;
  term: Uint8Array;
}

/** Slower than the kernel, and bound by no memory of its own. */
function* mergeHere(
  merge: TermsMerge,
  used: readonly (Bitset | null)[],
  ordinals: readonly (Int32Array | null)[],
): Generator<void, DictionaryEntry | null> {
  const { inputs } = merge;
  const withPositions = hasPositions(merge);
  const writer = new DictionaryWriter(merge.file, merge.norms, withPositions);
  const list = new PostingsList();
  let walks = startWalks(merge.name, inputs);
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
      for (const { input, iterator } of same) {
        const numbers = ordinals[input];
        if (numbers) numbers[iterator.ordinal] = ordinal;
      }
      ordinal++;
    }
    const ended = same.filter((walk) => !walk.iterator.next());
    for (const walk of same) if (!ended.includes(walk)) walk.term = walk.iterator.term();
    walks = walks.filter((walk) => !ended.includes(walk));
    if (ended.length > 0 || count % PAUSE_EVERY === 0) yield;
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

function copyPostings(
  iterator: TermIterator,
  { newDocs }: MergeInput,
  withPositions: boolean,
  list: PostingsList,
): void {
  if (iterator.docFreq === 0) return;
  const cursor = iterator.postings({ positions: withPositions });
  for (let doc = cursor.next(); doc !== NO_MORE_DOCS; doc = cursor.next()) {
    const newDoc = newDocs[doc]!;
    if (newDoc < 0) continue;
    const { freq } = cursor;
    list.add(newDoc, freq);
    if (!withPositions) continue;
    const positions = cursor.positions();
    for (let index = 0; index < freq; index++) list.addPosition(positions[index]!);
  }
}
