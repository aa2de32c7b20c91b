/** Explains the BM25 score of a term or a phrase. */

import { normToLength } from "#hub/engine/searcher/similarity.ts";
import type { DocumentPlace, Explanation } from "#hub/search/query/query.ts";
import { B, inverseDocumentFrequency, K1 } from "#hub/search/scoring/bm25.ts";
import { match, printFloat } from "./explanation.ts";

/** What was found in the document. */
export interface Occurrences {
  readonly field: string;
  readonly terms: readonly (string | Uint8Array)[];
  /** The query as text: "message:post". */
  readonly text: string;
  readonly freq: number;
  /** What `freq` counts: "termFreq", "phraseFreq". */
  readonly counted: string;
}

/** Returns the explanation of a score, with all that it is made of. */
export function explainBm25(found: Occurrences, place: DocumentPlace): Explanation {
  const { doc, boost } = place;
  const frequency = match(found.freq, `${found.counted}=${printFloat(found.freq)}`);
  const factors = [
    ...(boost === 1 ? [] : [match(boost, "boost")]),
    explainIdf(found, place),
    explainFrequency(found, frequency, place),
  ];
  const value = factors.reduce((product, factor) => product * factor.value, 1);
  const score = match(
    value,
    `score(doc=${doc},freq=${printFloat(found.freq)} = ${frequency.description}\n), product of:`,
    factors,
  );
  return match(value, `weight(${found.text} in ${doc}) [PerFieldSimilarity], result of:`, [score]);
}

function explainIdf({ field, terms }: Occurrences, { shard }: DocumentPlace): Explanation {
  const { docCount } = shard.fieldStats(field);
  const each = terms.map((term) => {
    const docFreq = shard.docFreq(field, term);
    return match(
      inverseDocumentFrequency(docFreq, docCount),
      "idf, computed as log(1 + (docCount - docFreq + 0.5) / (docFreq + 0.5)) from:",
      [match(docFreq, "docFreq"), match(docCount, "docCount")],
    );
  });
  if (each.length === 1) return each[0]!;
  return match(
    each.reduce((sum, { value }) => sum + value, 0),
    "idf(), sum of:",
    each,
  );
}

function explainFrequency(
  { field, freq }: Occurrences,
  frequency: Explanation,
  { shard, segment, doc }: DocumentPlace,
): Explanation {
  const norms = segment.norms(field);
  const k1 = match(K1, "parameter k1");
  if (norms === null || shard.mapping.field(field)?.norms !== true) {
    return match(
      (freq * (K1 + 1)) / (freq + K1),
      "tfNorm, computed as (freq * (k1 + 1)) / (freq + k1) from:",
      [frequency, k1, match(0, "parameter b (norms omitted for field)")],
    );
  }
  const stats = shard.fieldStats(field);
  const average = stats.sumTotalTermFreq / stats.docCount;
  const length = normToLength(norms[doc]!);
  return match(
    (freq * (K1 + 1)) / (freq + K1 * (1 - B + (B * length) / average)),
    "tfNorm, computed as (freq * (k1 + 1)) / (freq + k1 * (1 - b + b * fieldLength / avgFieldLength)) from:",
    [frequency, k1, match(B, "parameter b"), match(average, "avgFieldLength"), match(length, "fieldLength")],
  );
}
