/** The columns for searches, made of blocks of numbers: numbers themselves, ordinals of terms, pairs of degrees. */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { formatIp } from "#hub/engine/bytes/ip.ts";
import type { BlockColumn } from "#hub/engine/columns/block-column.ts";
import { addSums } from "#hub/engine/columns/column-sums.ts";
import type { Dictionary } from "#hub/engine/dictionary/dictionary.ts";
import type { ChosenDocuments } from "#hub/engine/kernel/column-kernel.ts";
import type {
  DocRun,
  GeoColumn,
  KeywordColumn,
  NumericColumn,
  NumericKind,
  TermReader,
  ValueBlock,
} from "#hub/engine/searcher/searcher.ts";
import { decodeUtf8 } from "../json/text.ts";

/** Latitudes and longitudes are kept in 2^32 steps of 180 and 360 degrees, as Lucene does. */
export const LATITUDE_STEP = 180 / 2 ** 32;
export const LONGITUDE_STEP = 360 / 2 ** 32;

abstract class ColumnView {
  readonly docCount: number;
  protected readonly blocks: BlockColumn;

  constructor(blocks: BlockColumn, docCount: number) {
    this.blocks = blocks;
    this.docCount = docCount;
  }

  get valueCount(): number {
    return this.blocks.entry.valueCount;
  }

  get multiValued(): boolean {
    return this.blocks.entry.multiValued;
  }

  get presence(): Bitset | null {
    return this.blocks.presence;
  }

  get blockCount(): number {
    return this.blocks.blockCount;
  }
}

/** A number, date or boolean field. */
export class NumericColumnView extends ColumnView implements NumericColumn {
  readonly kind: NumericKind;

  constructor(kind: NumericKind, blocks: BlockColumn, docCount: number) {
    super(blocks, docCount);
    this.kind = kind;
  }

  get min(): number {
    return this.blocks.entry.min;
  }

  get max(): number {
    return this.blocks.entry.max;
  }

  get safe(): boolean {
    return this.blocks.entry.safe;
  }

  blockMin(block: number): number {
    return this.blocks.blockMin(block);
  }

  blockMax(block: number): number {
    return this.blocks.blockMax(block);
  }

  first(doc: number): number {
    return this.blocks.first(doc);
  }

  read(doc: number, out: number[]): number {
    return this.blocks.read(doc, out);
  }

  readExact(doc: number, out: bigint[]): number {
    return this.blocks.readExact(doc, out);
  }

  decodeBlock(block: number, out: Float64Array): number {
    return this.blocks.decodeFirst(block, out, Number.NaN);
  }

  decodeValues(block: number, out: ValueBlock): number {
    return this.blocks.decodeValues(block, out);
  }

  match(block: number, from: number, to: number, mask: Uint32Array): void {
    this.blocks.match(block, from, to, mask);
  }

  count(run: DocRun, counts: Int32Array, offset: number): boolean {
    return this.blocks.count(run, counts, offset);
  }

  sumBy(run: DocRun, by: KeywordColumn, sums: Float64Array, slots?: Int32Array): boolean {
    if (!(by instanceof KeywordColumnView) || by.multiValued || this.multiValued) return false;
    const largest = Math.max(-this.min, this.max);
    if (this.kind === "double" || !this.safe || largest * this.docCount > Number.MAX_SAFE_INTEGER)
      return false;
    addSums(this.blocks, by.ordinals, run, sums, slots);
    return true;
  }

  matchAll(from: number, to: number, set: Bitset): void {
    this.blocks.matchAll(0, this.blockCount, [from, to], set.words, false);
  }
}

/** A keyword or ip field: ordinals into the field's dictionary. */
export class KeywordColumnView extends ColumnView implements KeywordColumn {
  readonly kind: "keyword" | "ip";
  readonly #dictionary: Dictionary;

  constructor(kind: "keyword" | "ip", blocks: BlockColumn, docCount: number, dictionary: Dictionary) {
    super(blocks, docCount);
    this.kind = kind;
    this.#dictionary = dictionary;
  }

  /** Numbers of the documents' values. */
  get ordinals(): BlockColumn {
    return this.blocks;
  }

  get cardinality(): number {
    return this.#dictionary.size;
  }

  lookup(ordinal: number): Uint8Array {
    return this.#dictionary.lookup(ordinal);
  }

  text(ordinal: number): string {
    return this.#print(this.lookup(ordinal));
  }

  reader(): TermReader {
    const bytes = this.#dictionary.reader();
    return { bytes, text: (ordinal) => this.#print(bytes(ordinal)) };
  }

  #print(bytes: Uint8Array): string {
    return this.kind === "ip" ? formatIp(bytes) : decodeUtf8(bytes, 0, bytes.length);
  }

  ordOf(term: string | Uint8Array): number {
    return this.#dictionary.ordOf(term);
  }

  blockMin(block: number): number {
    return this.blocks.blockMin(block);
  }

  blockMax(block: number): number {
    return this.blocks.blockMax(block);
  }

  first(doc: number): number {
    const ordinal = this.blocks.first(doc);
    return Number.isNaN(ordinal) ? -1 : ordinal;
  }

  read(doc: number, out: number[]): number {
    return this.blocks.read(doc, out);
  }

  decodeBlock(block: number, out: Int32Array): number {
    return this.blocks.decodeFirst(block, out, -1);
  }

  decodeValues(block: number, out: ValueBlock): number {
    return this.blocks.decodeValues(block, out);
  }

  count(run: DocRun, counts: Int32Array, offset: number): boolean {
    return this.blocks.count(run, counts, offset);
  }

  choose(run: DocRun, slots: Int32Array, out: ChosenDocuments): number {
    return this.blocks.choose(run, slots, out);
  }
}

/** A geo_point field: two columns of steps. */
export class GeoColumnView extends ColumnView implements GeoColumn {
  readonly #longitudes: BlockColumn;

  constructor(latitudes: BlockColumn, longitudes: BlockColumn, docCount: number) {
    super(latitudes, docCount);
    this.#longitudes = longitudes;
  }

  read(doc: number, latitudes: number[], longitudes: number[]): number {
    const count = this.blocks.read(doc, latitudes);
    this.#longitudes.read(doc, longitudes);
    for (let index = 0; index < count; index++) {
      latitudes[index]! *= LATITUDE_STEP;
      longitudes[index]! *= LONGITUDE_STEP;
    }
    return count;
  }

  matchBox(
    from: number,
    to: number,
    [south, north, west, east]: readonly [number, number, number, number],
    words: Uint32Array,
  ): void {
    const latitudes = [Math.floor(south / LATITUDE_STEP), Math.ceil(north / LATITUDE_STEP)] as const;
    this.blocks.matchAll(from, to, latitudes, words, true);
    if (west <= -180 && east >= 180) return;
    const longitudes = [Math.floor(west / LONGITUDE_STEP), Math.ceil(east / LONGITUDE_STEP)] as const;
    this.#longitudes.matchAll(from, to, longitudes, words, true);
  }

  blockBounds(block: number): readonly [number, number, number, number] | null {
    const south = this.blocks.blockMin(block) * LATITUDE_STEP;
    if (south === Number.POSITIVE_INFINITY) return null;
    return [
      south,
      this.blocks.blockMax(block) * LATITUDE_STEP,
      this.#longitudes.blockMin(block) * LONGITUDE_STEP,
      this.#longitudes.blockMax(block) * LONGITUDE_STEP,
    ];
  }
}
