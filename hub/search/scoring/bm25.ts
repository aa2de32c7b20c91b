/** BM25 as in Lucene 7: k1 1.2, b 0.75, field lengths in one byte. */

import type { ImpactBound } from "#hub/engine/searcher/searcher.ts";
import { normToLength } from "#hub/engine/searcher/similarity.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";

/** How soon further occurrences of a term stop mattering. */
export const K1 = 1.2;

/** How much a field's length matters. */
export const B = 0.75;

/** Frequencies that impacts distinguish; the last one means all from it on. */
const IMPACT_FREQS = 255;

/** Frequency assumed if an impact has the last of IMPACT_FREQS. */
const ANY_FREQ = 0x7fff_ffff;

/** Scores occurrences of one term, or of a phrase. */
export class Bm25 {
  readonly #weight: number;
  /** k1 · (1 - b + b · length / average) by norm byte. */
  readonly #lengthFactor: Float32Array;
  /** Last result of `above`: it is the same for many blocks and for consecutive segments. */
  #above: ScoreBound | undefined;

  /** `idf`: sum over the terms; `averageLength`: tokens of the field per document, 0 if the field has no norms. */
  constructor(idf: number, averageLength: number, boost: number) {
    this.#weight = Math.fround(Math.fround(idf) * boost * (K1 + 1));
    this.#lengthFactor = lengthFactors(averageLength);
  }

  /** Score of `freq` occurrences in a field with this norm byte. */
  score(freq: number, norm: number): number {
    return Math.fround((this.#weight * freq) / (freq + this.#lengthFactor[norm]!));
  }

  /** Returns the impacts that may give a score above `minScore`. */
  above(minScore: number): ImpactBound {
    if (this.#above?.minScore !== minScore) this.#above = new ScoreBound(this, minScore);
    return this.#above;
  }
}

/** Maximum number of cached tables: those of the fields of some searches. */
const KNOWN_TABLES = 16;

const tables = new Map<number, Float32Array>();

/** k1 · (1 - b + b · length / average) by norm byte, not to be changed: all terms of a field have the same. */
function lengthFactors(averageLength: number): Float32Array {
  const known = tables.get(averageLength);
  if (known !== undefined) return known;
  const table = new Float32Array(256);
  for (let norm = 0; norm < 256; norm++)
    table[norm] = averageLength > 0 ? K1 * (1 - B + (B * normToLength(norm)) / averageLength) : K1;
  setNewest(tables, averageLength, table, KNOWN_TABLES);
  return table;
}

/** See Bm25.above. Scores grow with freq. */
class ScoreBound implements ImpactBound {
  readonly leastFreqs = new Uint16Array(256);
  readonly minScore: number;
  readonly #similarity: Bm25;

  constructor(similarity: Bm25, minScore: number) {
    this.#similarity = similarity;
    this.minScore = minScore;
  }

  find(norm: number): number {
    if (this.leastFreqs[norm] === 0) this.leastFreqs[norm] = this.#search(norm);
    return this.leastFreqs[norm]!;
  }

  #search(norm: number): number {
    const reaches = (freq: number): boolean =>
      this.#similarity.score(freq < IMPACT_FREQS ? freq : ANY_FREQ, norm) > this.minScore;
    let [low, high] = [1, IMPACT_FREQS + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reaches(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Returns ln(1 + (N - n + 0.5) / (n + 0.5)): N documents with the field, n of them with the term. */
export function inverseDocumentFrequency(docFreq: number, docCount: number): number {
  const documents = Math.max(docCount, docFreq);
  return Math.log(1 + (documents - docFreq + 0.5) / (docFreq + 0.5));
}
