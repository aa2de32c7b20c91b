/** `geohash_grid` and `geotile_grid`: documents by the grid cells of their points. */

import { geohashOf } from "#hub/engine/documents/values.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  cutTerms,
  mergeTerms,
  NO_TERMS,
  renderTerms,
  type TermsShape,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { readOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { PointValues } from "#hub/search/columns/point-values.ts";
import { type GeoBox, isInBox, parseDistance, readBox } from "#hub/search/geo/point.ts";
import { MAX_TILE_ZOOM, tileName, tileOf } from "#hub/search/geo/tile.ts";
import { hint, integer, object, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Buckets of the answer by default. */
const DEFAULT_SIZE = 10_000;

/** Options of every grid but its precision. */
export const GRID_OPTIONS = {
  field: text("field of points", undefined),
  size: integer("buckets of the answer", DEFAULT_SIZE, 1),
  shard_size: hint(integer("each shard returns as many as an exact answer needs", undefined)),
  bounds: object("box that limits the points: {top_left, bottom_right}"),
} as const;

export interface Grid {
  /** Name of the aggregation's type. */
  readonly type: string;
  readonly field: string;
  readonly size: number | undefined;
  readonly bounds: GeoBox | undefined;
  readonly below: AggregationTree;
  /** Key of the cell that a point lies in. */
  readonly cellOf: (lat: number, lon: number) => string;
}

export class GeoGrid implements Aggregation<TermsState> {
  readonly #grid: Grid;
  readonly #shape: TermsShape;

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#shape = {
      below: grid.below,
      size: grid.size ?? DEFAULT_SIZE,
      minDocCount: 1,
      order: readOrder([{ _count: "desc" }, { _key: "desc" }], grid.type),
      showError: false,
    };
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TermsState> {
    const { field, type, bounds, cellOf } = this.#grid;
    const points = new PointValues(shard, field, type);
    const keys = new KeyTable<string>(budget);
    const shape = this.#shape;
    const buckets = new BucketCollector(shape.below, shard, budget);
    return {
      segment(segment) {
        points.open(segment);
        buckets.segment(segment);
      },
      collect(docs, owners, length) {
        for (let at = 0; at < length; at++) {
          const count = points.read(docs[at]!);
          const cells = new Set<string>();
          for (let each = 0; each < count; each++) {
            const [lat, lon] = [points.latitudes[each]!, points.longitudes[each]!];
            if (bounds === undefined || isInBox(bounds, lat, lon)) cells.add(cellOf(lat, lon));
          }
          for (const cell of cells) buckets.add(docs[at]!, keys.bucket(owners[at]!, cell));
        }
        buckets.flush();
      },
      state(owner) {
        return textState(cutTerms(collectedTerms(keys.of(owner), buckets), shape, shape.size));
      },
    };
  }

  merge(states: readonly TermsState[]): Steps<TermsState> {
    return mergeTerms(states, this.#shape.below);
  }

  *render(state: TermsState, budget: BucketBudget): Steps<JsonObject> {
    const { buckets } = yield* renderTerms(state, this.#shape, budget);
    return { buckets };
  }

  empty(): TermsState {
    return { ...NO_TERMS, kind: "text" };
  }

  typedName(): string {
    return this.#grid.type;
  }
}

/** Most characters of a hash. */
const MAX_PRECISION = 12;

/** Half the earth's way around the poles, and the way around the equator, in metres (WGS 84, as ES has them). */
const POLAR_METRES = Math.PI * 6_356_752.314245;
const EQUATOR_METRES = 2 * Math.PI * 6_378_137;

const HASH_OPTIONS = {
  ...GRID_OPTIONS,
  precision: text('characters of the hashes, 1..12, or the size of a cell: "10km"', "5"),
} as const;

export const geohashGrid: AggregationType = {
  name: "geohash_grid",
  summary: "Documents by the geohash cells of their points.",
  options: HASH_OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const { field, size, bounds, precision: given } = readAggregation("geohash_grid", body, HASH_OPTIONS);
    const precision = readPrecision(given ?? "5");
    return new GeoGrid({
      type: "geohash_grid",
      field: requireField(field, name),
      size,
      bounds: bounds === undefined ? undefined : readBox(bounds, "bounds"),
      below,
      cellOf: (lat, lon) => geohashOf(lat, lon, precision),
    });
  },
};

/** Reads a number of characters, or the distance that cells should span at most. Throws request_invalid. */
function readPrecision(given: string): number {
  const precision = Number(given) || 0;
  const isDistance = given.trim() !== "" && Number.isNaN(Number(given));
  const characters = isDistance
    ? charactersFor(parseDistance(given, "m", "precision"))
    : Math.trunc(precision);
  if (characters >= 1 && characters <= MAX_PRECISION) return characters;
  throw new AppError(
    "request_invalid",
    isDistance
      ? `precision too high [${given}]`
      : `Invalid geohash aggregation precision of ${given}. Must be between 1 and 12.`,
  );
}

/** Returns how many characters hashes need for cells whose diagonals are about `metres` long at the equator. */
function charactersFor(metres: number): number {
  if (metres <= 0) return MAX_PRECISION;
  const ratio = 1 + POLAR_METRES / EQUATOR_METRES;
  const bits = Math.round(Math.log2(Math.ceil(EQUATOR_METRES / (metres / ratio))));
  const full = Math.floor(bits / 5);
  const left = bits - full * 5;
  return 2 * full + (left > 0 ? 1 : 0) + (left > 3 ? 1 : 0);
}

/** Zoom of the tiles by default. */
export const DEFAULT_ZOOM = 7;

const TILE_OPTIONS = {
  ...GRID_OPTIONS,
  precision: integer("zoom of the tiles, 0..29", DEFAULT_ZOOM, Number.MIN_SAFE_INTEGER),
} as const;

export const geotileGrid: AggregationType = {
  name: "geotile_grid",
  summary: "Documents by the web map tiles (zoom/x/y) of their points.",
  options: TILE_OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("geotile_grid", body, TILE_OPTIONS);
    const zoom = checkZoom(options.precision ?? DEFAULT_ZOOM);
    return new GeoGrid({
      type: "geotile_grid",
      field: requireField(options.field, name),
      size: options.size,
      bounds: options.bounds === undefined ? undefined : readBox(options.bounds, "bounds"),
      below,
      cellOf: (lat, lon) => tileName(tileOf(lat, lon, zoom)),
    });
  },
};

/** Returns `zoom`. Throws request_invalid for one that no map has. */
export function checkZoom(zoom: number): number {
  if (zoom >= 0 && zoom <= MAX_TILE_ZOOM) return zoom;
  throw new AppError(
    "request_invalid",
    `Invalid geotile_grid precision of ${zoom}. Must be between 0 and ${MAX_TILE_ZOOM}.`,
  );
}
