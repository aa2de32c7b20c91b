/** Sorts by the number that a script makes of a document. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Script } from "#hub/scripts/script.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { numberOn } from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type KeySource, NUMBER_ORDER, type Rank, type SegmentKey, type SortValue } from "./key.ts";

/** Steps of one run: those of a batch of some thousand documents have the thread without a pause, for less than a second. */
const MAX_STEPS = 1_000;

export class ScriptKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #sign: 1 | -1;
  readonly #bind: ReturnType<typeof numberOn>;

  constructor(script: Script, descending: boolean, shard: ShardContext) {
    this.#sign = descending ? -1 : 1;
    this.#bind = numberOn(script, shard, MAX_STEPS);
  }

  segment(segment: SegmentReader): SegmentKey {
    const sign = this.#sign;
    const numberOf = this.#bind(segment);
    return {
      load(docs, scores, length, out) {
        for (let at = 0; at < length; at++) {
          const value = numberOf(docs[at]!, scores?.[at] ?? 0);
          if (Number.isNaN(value)) throw new AppError("request_invalid", "the script of [sort] returned NaN");
          out[at] = sign * value;
        }
      },
      rank: (_doc, key) => key,
      value: (_doc, key) => shown(sign * key),
      keyOf: (rank) => rank as number,
    };
  }

  rankOf(value: unknown): Rank {
    const number = Number(value);
    if (!Number.isNaN(number)) return this.#sign * number;
    throw new AppError(
      "request_invalid",
      `Failed to parse search_after value for [_script]: "${String(value)}"`,
    );
  }
}

function shown(value: number): SortValue {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  return value > 0 ? "Infinity" : "-Infinity";
}
