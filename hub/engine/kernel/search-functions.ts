/** The kernel's functions for searches (assembly/search.ts says what each does); `…` numbers are addresses. */

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
  rangeMask(numbers: number, count: number, low: number, high: number, mask: number): void;
  spreadMask(values: number, presence: number, out: number): void;
  countNumbers(
    numbers: number,
    count: number,
    mask: number,
    base: number,
    step: number,
    values: number,
    out: number,
  ): void;
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
