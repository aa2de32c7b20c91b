/** BM25 as Lucene 7 counts it: k1 1.2, b 0.75, field lengths in one byte. */

import { normToLength } from "#hub/engine/similarity.ts";

/** How soon further occurrences of a term stop mattering. */
export const K1 = 1.2;

/** How much a field's length matters. */
export const B = 0.75;

/** Scores occurrences of one term, or of a phrase. */
export class Bm25 {
  readonly #weight: number;
  /** k1 · (1 - b + b · length / average) by norm byte. */
  readonly #lengthFactor = new Float32Array(256);

  /**
   * `idf`: sum over the terms; `averageLength`: tokens of the field per document, 0 where the field has no norms.
   */
  constructor(idf: number, averageLength: number, boost: number) {
    this.#weight = Math.fround(Math.fround(idf) * boost * (K1 + 1));
    for (let norm = 0; norm < 256; norm++) {
      this.#lengthFactor[norm] =
        averageLength > 0 ? K1 * (1 - B + (B * normToLength(norm)) / averageLength) : K1;
    }
  }

  /** Score of `freq` occurrences in a field with this norm byte. */
  score(freq: number, norm: number): number {
    return Math.fround((this.#weight * freq) / (freq + this.#lengthFactor[norm]!));
  }
}

/** Returns ln(1 + (N - n + 0.5) / (n + 0.5)): N documents with the field, n of them with the term. */
export function inverseDocumentFrequency(docFreq: number, docCount: number): number {
  const documents = Math.max(docCount, docFreq);
  return Math.log(1 + (documents - docFreq + 0.5) / (docFreq + 0.5));
}
