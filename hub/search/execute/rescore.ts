/** Runs the second passes of `rescore` over the best hits of a shard and orders them again. */

import { compareHits, type RankedHit } from "#hub/search/execute/hits/ranked-hit.ts";
import type { Weight } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { Rescore } from "#hub/search/request/rescore.ts";
import type { ShardResult } from "./collect-shard.ts";

/** Returns what a shard found with the scores and the order of the passes. Its hits are by score. */
export async function rescored(
  result: ShardResult,
  passes: readonly Rescore[],
  control: SearchControl,
): Promise<ShardResult> {
  if (passes.length === 0 || result.hits.length === 0) return result;
  let { hits } = result;
  for (const pass of passes) {
    if (control.isDue) await control.pause();
    const weight = pass.query.weight(result.shard, { scores: true, boost: 1 });
    const second = await secondScores(hits.slice(0, pass.windowSize), weight, control);
    // A pass that wasn't finished in time changes nothing.
    if (control.timedOut) break;
    hits = combined(hits, second, pass).sort((a, b) => compareHits(result.orders, a, b));
  }
  return { ...result, hits, maxScore: scoreOf(hits[0]!) };
}

function combined(
  hits: readonly RankedHit[],
  second: ReadonlyMap<RankedHit, number>,
  pass: Rescore,
): RankedHit[] {
  return hits.map((hit) => {
    const first = scoreOf(hit) * pass.queryWeight;
    const found = second.get(hit);
    const score = Math.fround(
      found === undefined ? first : pass.combine(first, found * pass.rescoreQueryWeight),
    );
    const done = {
      weight: pass.queryWeight,
      second: found === undefined ? undefined : { score: found, weight: pass.rescoreQueryWeight },
      combine: pass.combineName,
      score,
    };
    return {
      ...hit,
      score,
      // By score, the best first.
      ranks: [-score],
      sort: [score],
      passes: [...(hit.passes ?? []), done],
    };
  });
}

/** Scores of the hits that the query matches; of some of them if the time is over before. Throws cancelled. */
async function secondScores(
  hits: readonly RankedHit[],
  weight: Weight,
  control: SearchControl,
): Promise<ReadonlyMap<RankedHit, number>> {
  const scores = new Map<RankedHit, number>();
  const ordered = [...hits].sort((a, b) => a.segmentOrder - b.segmentOrder || a.doc - b.doc);
  let segment: RankedHit["segment"] | undefined;
  let scorer: ReturnType<Weight["scorer"]> = null;
  for (const hit of ordered) {
    if (hit.segment !== segment) {
      segment = hit.segment;
      await weight.prepare?.(segment, control);
      if (control.timedOut) return scores;
      scorer = weight.scorer(segment);
    }
    if (control.isDue) {
      await control.pause();
      if (control.timedOut) return scores;
    }
    if (scorer === null) continue;
    const at = scorer.doc < hit.doc ? scorer.advance(hit.doc) : scorer.doc;
    if (at === hit.doc) scores.set(hit, scorer.score());
  }
  return scores;
}

/** Hits by score carry it as their only sort value. */
function scoreOf(hit: RankedHit): number {
  return hit.sort[0] as number;
}
