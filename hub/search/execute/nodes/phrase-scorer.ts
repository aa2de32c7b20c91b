/** Walks the documents of a phrase: all parts present, at positions that fit the slop. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { PostingsCursor } from "#hub/engine/searcher/searcher.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import type { Bm25 } from "#hub/search/scoring/bm25.ts";
import { SkippingScorer } from "./skipping-scorer.ts";

/** Documents without the phrase between two pauses. */
const MAX_LOOKED = 8192;
/** The same of a phrase whose words may be moved, which takes longer to look for. */
const MAX_LOOKED_SLOPPY = 1024;

/** The cursors of one part as one. */
export class Place implements PhrasePosition {
  readonly offset: number;
  readonly cost: number;
  doc = -1;
  positions: Int32Array = new Int32Array(16);
  length = 0;
  impactEnd = -1;
  impactMaxFreq = NO_MORE_DOCS;
  impactMinNorm = 0;
  readonly #cursors: readonly PostingsCursor[];

  constructor(cursors: readonly PostingsCursor[], offset: number) {
    this.#cursors = cursors;
    this.offset = offset;
    this.cost = cursors.reduce((total, cursor) => total + cursor.docFreq, 0);
  }

  advance(target: number): number {
    let doc = NO_MORE_DOCS;
    for (const cursor of this.#cursors) {
      const found = cursor.doc < target ? cursor.advance(target) : cursor.doc;
      if (found < doc) doc = found;
    }
    return (this.doc = doc);
  }

  /** Occurrences in the current document at most. */
  get maxFreq(): number {
    return this.#cursors.length === 1 ? this.#cursors[0]!.freq : NO_MORE_DOCS;
  }

  /** Bounds of the documents from `target` to `impactEnd`; several terms have no bounds. */
  seekImpact(target: number): void {
    const [cursor] = this.#cursors;
    if (this.#cursors.length !== 1 || cursor === undefined || target >= NO_MORE_DOCS) {
      this.impactEnd = NO_MORE_DOCS;
      this.impactMaxFreq = NO_MORE_DOCS;
      this.impactMinNorm = 0;
      return;
    }
    cursor.seekImpact(target);
    this.impactEnd = cursor.impactEnd;
    this.impactMaxFreq = cursor.impactMaxFreq;
    this.impactMinNorm = cursor.impactMinNorm;
  }

  /** Reads the positions in the current document. */
  load(): void {
    if (this.#cursors.length === 1) {
      const cursor = this.#cursors[0]!;
      this.positions = cursor.positions();
      this.length = cursor.freq;
      return;
    }
    const all: number[] = [];
    for (const cursor of this.#cursors) {
      if (cursor.doc !== this.doc) continue;
      const positions = cursor.positions();
      for (let at = 0; at < cursor.freq; at++) all.push(positions[at]!);
    }
    this.positions = Int32Array.from(all).sort();
    this.length = all.length;
  }
}

/** How a phrase is looked for. */
export interface PhraseOptions {
  /** By how many positions terms may be moved. */
  readonly slop: number;
  /** Null if scores aren't needed. */
  readonly similarity: Bm25 | null;
  readonly norms: Uint8Array | null;
  /** Finds all documents with the phrase at once; undefined if that isn't possible. */
  readonly members?: () => Bitset | null | undefined;
}

/** Finds documents that have all positions, and the number of occurrences of the phrase in each. */
export class PhraseScorer extends SkippingScorer {
  readonly cost: number;
  readonly #places: readonly Place[];
  /** By rarity. */
  readonly #order: readonly Place[];
  readonly #slop: number;
  readonly #similarity: Bm25 | null;
  readonly #norms: Uint8Array | null;
  #frequency = 0;
  /** Documents without the phrase that were examined. */
  #looked = 0;
  readonly #findMembers: () => Bitset | null | undefined;
  /** All documents with the phrase, if they are cached. */
  #members: Bitset | null = null;

  /** `members` is called when documents are taken in batches: nearly all of them are examined in that case. */
  constructor(places: readonly Place[], { slop, similarity, norms, members }: PhraseOptions) {
    super();
    this.#findMembers = members ?? (() => undefined);
    this.#places = places;
    this.#order = [...places].sort((a, b) => a.cost - b.cost);
    this.#slop = slop;
    this.#similarity = similarity;
    this.#norms = norms;
    this.cost = this.#order[0]!.cost;
  }

  /** Occurrences in the current document, moved ones as a part of 1. */
  get freq(): number {
    return this.#frequency;
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    return this.#search(target, Number.POSITIVE_INFINITY);
  }

  /** Moves to the next document with the phrase, or to one without it if `last` documents have been examined by then. */
  #search(target: number, last: number): number {
    let doc = target;
    this.#frequency = 0;
    while ((doc = this.#align(this.minScore > 0 ? this.firstUseful(doc) : doc)) !== NO_MORE_DOCS) {
      if (this.minScore > 0 && doc > this.usefulUntil) continue;
      this.#frequency = this.#frequencyIn(doc);
      if (this.#frequency > 0 || ++this.#looked >= last) return (this.doc = doc);
      doc++;
    }
    return (this.doc = NO_MORE_DOCS);
  }

  /** Occurrences in a document that has all terms; 0 also if it can't score above `minScore`. */
  #frequencyIn(doc: number): number {
    let most = NO_MORE_DOCS;
    for (const place of this.#places) most = Math.min(most, place.maxFreq);
    if (this.minScore > 0 && this.#scoreOf(most, doc) <= this.minScore) return 0;
    if (most === 1 && this.#members !== null) return 1;
    for (const place of this.#places) place.load();
    return this.#slop === 0 ? exactFrequency(this.#places) : sloppyFrequency(this.#places, this.#slop);
  }

  #scoreOf(frequency: number, doc: number): number {
    return this.#similarity?.score(frequency, this.#norms?.[doc] ?? 0) ?? 0;
  }

  score(): number {
    return this.#scoreOf(this.#frequency, this.doc);
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    if (this.doc < 0 && this.#slop === 0) this.#members = this.#findMembers() ?? null;
    const last = this.#looked + (this.#slop > 0 ? MAX_LOOKED_SLOPPY : MAX_LOOKED);
    let length = 0;
    while (length < docs.length && this.#looked < last && this.doc !== NO_MORE_DOCS) {
      const doc = this.#search(this.doc + 1, last);
      if (doc === NO_MORE_DOCS) break;
      if (this.#frequency === 0) continue;
      if (scores !== null) scores[length] = this.score();
      docs[length++] = doc;
    }
    return length;
  }

  /** A phrase isn't more frequent than the rarest of its terms. */
  override maxScoreFrom(target: number): number {
    let end = NO_MORE_DOCS;
    let freq = NO_MORE_DOCS;
    let norm = 0;
    for (const place of this.#places) {
      place.seekImpact(target);
      end = Math.min(end, place.impactEnd);
      freq = Math.min(freq, place.impactMaxFreq);
      norm = Math.max(norm, place.impactMinNorm);
    }
    this.impactEnd = end;
    return this.#similarity?.score(freq, norm) ?? 0;
  }

  /** Returns the first document at or after `target` with all terms, or with the phrase if its documents are cached. */
  #align(target: number): number {
    let doc = target;
    if (this.#members !== null && doc < NO_MORE_DOCS) {
      doc = this.#members.nextSet(doc);
      if (doc < 0) return NO_MORE_DOCS;
    }
    search: while (doc !== NO_MORE_DOCS) {
      for (const place of this.#order) {
        const found = place.doc < doc ? place.advance(doc) : place.doc;
        if (found !== doc) {
          doc = found;
          continue search;
        }
      }
      return doc;
    }
    return NO_MORE_DOCS;
  }
}

/** The positions of one part of the phrase. */
export interface PhrasePosition {
  /** Distance from the phrase's first part. */
  readonly offset: number;
  /** Ascending, in the first `length` elements. */
  readonly positions: Int32Array;
  readonly length: number;
}

/** Returns the number of positions at which all parts are exactly as in the phrase. */
export function exactFrequency(places: readonly PhrasePosition[]): number {
  const [lead, ...others] = places;
  if (lead === undefined) return 0;
  const at = new Int32Array(others.length);
  let frequency = 0;
  search: for (let index = 0; index < lead.length; index++) {
    const start = lead.positions[index]! - lead.offset;
    for (let each = 0; each < others.length; each++) {
      const other = others[each]!;
      const wanted = start + other.offset;
      let next = at[each]!;
      while (next < other.length && other.positions[next]! < wanted) next++;
      at[each] = next;
      if (next === other.length) return frequency;
      if (other.positions[next] !== wanted) continue search;
    }
    frequency++;
  }
  return frequency;
}

/**
 * Returns the sum of 1 / (1 + distance) over the positions at which the parts are within `slop` moves: the distance is
 * the spread of the parts' positions less their offsets.
 */
export function sloppyFrequency(places: readonly PhrasePosition[], slop: number): number {
  const at = new Int32Array(places.length);
  let frequency = 0;
  while (true) {
    let lowest = 0;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let each = 0; each < places.length; each++) {
      const place = places[each]!;
      if (at[each] === place.length) return frequency;
      const start = place.positions[at[each]!]! - place.offset;
      if (start < low) {
        low = start;
        lowest = each;
      }
      if (start > high) high = start;
    }
    if (high - low <= slop && isBest(places, at, lowest, high)) frequency += 1 / (1 + high - low);
    at[lowest]!++;
  }
}

/** True if the lowest part has no later position that is nearer to the others and two parts don't share a token. */
function isBest(places: readonly PhrasePosition[], at: Int32Array, lowest: number, high: number): boolean {
  const place = places[lowest]!;
  const next = at[lowest]! + 1;
  if (next < place.length && place.positions[next]! - place.offset <= high) return false;
  const seen = new Set<number>();
  for (let each = 0; each < places.length; each++) seen.add(places[each]!.positions[at[each]!]!);
  return seen.size === places.length;
}
