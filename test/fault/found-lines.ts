/** What searches have found of lines that are never removed, to tell an answer which lacks some and doesn't say so. */

import type { Node } from "./cluster-world.ts";

/** An answer to a search of all lines, without hits that are left out. */
export interface LinesAnswer {
  readonly _shards: { readonly failed: number; readonly failures?: unknown };
  readonly timed_out: boolean;
  readonly hits: { readonly total: number };
  readonly aggregations: {
    readonly hosts: {
      readonly sum_other_doc_count: number;
      readonly buckets: readonly { readonly doc_count: number }[];
    };
  };
}

/** A search on another hub finds what one had found so long before, or says that it lacks shards. */
const SETTLED_MS = 15_000;

interface Found {
  readonly atMs: number;
  readonly lines: number;
  readonly node: string;
}

/** What whole answers have found. */
export class FoundLines {
  /** Each with more lines than the one before, later. */
  readonly #found: Found[] = [];
  partial = 0;

  /** Returns what is wrong with the answer to a search that began at `begunMs`, monotonic; undefined: nothing. */
  fault(node: Node, answer: LinesAnswer, begunMs: number, endMs: number): string | undefined {
    if (answer._shards.failed > 0 || answer.timed_out) {
      this.partial++;
      return undefined;
    }
    const { total } = answer.hits;
    const { buckets, sum_other_doc_count: others } = answer.aggregations.hosts;
    const counted = buckets.reduce((sum, { doc_count: count }) => sum + count, others);
    if (counted !== total) return `${node.name} aggregates ${counted} of the ${total} lines that it finds`;
    const before = this.#found.findLast(({ atMs }) => begunMs - atMs >= SETTLED_MS);
    if (before !== undefined && total < before.lines) {
      const agoMs = Math.round(begunMs - before.atMs);
      return `${node.name} finds ${total} lines, and says nothing of the ${before.lines} that ${before.node} found ${agoMs} ms before`;
    }
    if (total > (this.#found.at(-1)?.lines ?? -1))
      this.#found.push({ atMs: endMs, lines: total, node: node.name });
    return undefined;
  }
}
