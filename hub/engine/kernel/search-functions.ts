/** The kernel's functions for searches (assembly/column.ts, tally.ts, search.ts and phrase.ts say what each does); `…` numbers are addresses. */

export interface SearchFunctions {
  postingsSet(
    postings: number,
    length: number,
    docFreq: number,
    docCount: number,
    bits: number,
    room: number,
  ): number;
  unpackNumbers(data: number, count: number, bits: number, out: number): void;
  toFloats(numbers: number, count: number, base: number, step: number, out: number): void;
  toDecimals(numbers: number, count: number, base: number, step: number, out: number): void;
  matchBlocks(run: number, first: number, from: number, to: number, narrow: number, words: number): number;
  countBlocks(
    run: number,
    first: number,
    words: number,
    values: number,
    table: number,
    stride: number,
  ): number;
  sumBlocks(by: number, run: number, first: number, words: number, ordinals: number, sums: number): number;
  nearSet(first: number, second: number, distance: number, docCount: number, bits: number): number;
  scanTerms(
    blocks: number,
    length: number,
    terms: number,
    hasPositions: number,
    needle: number,
    needleLength: number,
    text: number,
    textRoom: number,
    out: number,
  ): number;
}
