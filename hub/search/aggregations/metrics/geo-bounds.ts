/** `geo_bounds`: the box around all points. */

import type { Aggregation, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { flag, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fractions } from "./numeric-metric.ts";

const OPTIONS = {
  field: text("field of points", undefined),
  wrap_longitude: flag("whether the box may cross the date line if that makes it smaller", true),
} as const;

export const geoBounds: AggregationType = {
  name: "geo_bounds",
  summary: "The box around all points.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("geo_bounds", body, OPTIONS);
    return new GeoBounds(requireField(options.field, name), options.wrap_longitude ?? true);
  },
};

/** JSON-able; each half of the earth has longitudes of its own, null without points. */
interface BoundsState {
  readonly top: number | null;
  readonly bottom: number | null;
  readonly eastMin: number | null;
  readonly eastMax: number | null;
  readonly westMin: number | null;
  readonly westMax: number | null;
}

const NOTHING: BoundsState = {
  top: null,
  bottom: null,
  eastMin: null,
  eastMax: null,
  westMin: null,
  westMax: null,
};

class GeoBounds implements Aggregation<BoundsState> {
  readonly #field: string;
  readonly #wraps: boolean;

  constructor(field: string, wraps: boolean) {
    this.#field = field;
    this.#wraps = wraps;
  }

  collector(shard: ShardContext): Collector<BoundsState> {
    const points = new PointValues(shard, this.#field, "geo_bounds");
    const states: BoundsState[] = [];
    return {
      segment: (segment) => points.open(segment),
      collect(docs, buckets, length) {
        for (let at = 0; at < length; at++) {
          const count = points.read(docs[at]!);
          for (let each = 0; each < count; each++) {
            const bucket = buckets[at]!;
            states[bucket] = widened(
              states[bucket] ?? NOTHING,
              points.latitudes[each]!,
              points.longitudes[each]!,
            );
          }
        }
      },
      state: (bucket) => states[bucket] ?? NOTHING,
    };
  }

  merge(states: readonly BoundsState[]): BoundsState {
    return states.reduce((a, b) => ({
      top: larger(a.top, b.top),
      bottom: smaller(a.bottom, b.bottom),
      eastMin: smaller(a.eastMin, b.eastMin),
      eastMax: larger(a.eastMax, b.eastMax),
      westMin: smaller(a.westMin, b.westMin),
      westMax: larger(a.westMax, b.westMax),
    }));
  }

  render(state: BoundsState): JsonObject {
    if (state.top === null) return {};
    const [left, right] = this.#sides(state);
    return {
      bounds: {
        top_left: fractions({ lat: state.top, lon: left }),
        bottom_right: fractions({ lat: state.bottom, lon: right }),
      },
    };
  }

  empty(): BoundsState {
    return NOTHING;
  }

  typedName(): string {
    return "geo_bounds";
  }

  #sides({ eastMin, eastMax, westMin, westMax }: BoundsState): [left: number | null, right: number | null] {
    if (westMin === null || westMax === null) return [eastMin, eastMax];
    if (eastMin === null || eastMax === null) return [westMin, westMax];
    const across = 360 - eastMin + westMax;
    return this.#wraps && across < eastMax - westMin ? [eastMin, westMax] : [westMin, eastMax];
  }
}

function widened(state: BoundsState, lat: number, lon: number): BoundsState {
  const box = { ...state, top: larger(state.top, lat), bottom: smaller(state.bottom, lat) };
  return lon >= 0
    ? { ...box, eastMin: smaller(state.eastMin, lon), eastMax: larger(state.eastMax, lon) }
    : { ...box, westMin: smaller(state.westMin, lon), westMax: larger(state.westMax, lon) };
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function smaller(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
