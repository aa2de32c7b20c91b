/** Places on a map: the search that finds them, its answer, and which of them are drawn as one circle. */

import { type Box, boxOf, type MapView, type Point, pointName, precisionOf, type Ring } from "./map-view.ts";
import { type BucketAnswer, type ChartData, measure, totalOf, type VisualisationAnswer } from "./series.ts";
import { isAdditive, type Metric } from "./visualisation.ts";

type Body = Readonly<Record<string, unknown>>;

/** Lines at about one place. */
export interface Place extends Point {
  readonly count: number;
  /** What is measured; undefined if there is nothing to measure. */
  readonly value: number | undefined;
}

/** The numbers of a map; its groups are the places, most lines first. */
export interface PlaceData extends ChartData {
  readonly places: readonly Place[];
  /** The smallest box around all places, in sight or not. */
  readonly bounds: Box | undefined;
  /** Lines within the ring. */
  readonly within: number | undefined;
}

/** Maximum number of cells, those with most lines first: more circles can't be distinguished. */
const MAX_CELLS = 2_000;

/** Returns the aggregations of a map. */
export function placesRequest(
  field: string,
  view: MapView,
  ring: Ring | undefined,
  measured: Body | undefined,
): Body {
  const box = boxOf(view);
  const filter =
    box === undefined
      ? { exists: { field } }
      : {
          geo_bounding_box: {
            ignore_unmapped: true,
            [field]: {
              top_left: { lat: box.top, lon: box.left },
              bottom_right: { lat: box.bottom, lon: box.right },
            },
          },
        };
  const cells = {
    geohash_grid: { field, precision: precisionOf(view), size: MAX_CELLS },
    aggs: { middle: { geo_centroid: { field } }, ...measured },
  };
  return {
    ...measured,
    bounds: { geo_bounds: { field } },
    ...(ring !== undefined && {
      within: {
        filter: {
          geo_distance: {
            ignore_unmapped: true,
            distance: `${ring.km}km`,
            [field]: { lat: ring.lat, lon: ring.lon },
          },
        },
      },
    }),
    seen: { filter, aggs: { cells } },
  };
}

interface PlacesAnswer extends BucketAnswer {
  readonly bounds?: { readonly bounds?: { readonly top_left: Point; readonly bottom_right: Point } };
  readonly within?: { readonly doc_count: number };
  readonly seen?: {
    readonly cells?: {
      readonly buckets: readonly (BucketAnswer & { readonly middle?: { readonly location?: Point } })[];
    };
  };
}

/** Returns the places of an answer to `placesRequest`. */
export function readPlaces(answer: VisualisationAnswer, metric: Metric, name: string): PlaceData {
  const found = (answer.aggregations ?? {}) as Partial<PlacesAnswer>;
  const isCount = metric.kind === "count";
  const places = (found.seen?.cells?.buckets ?? []).flatMap((cell): Place[] => {
    const middle = cell.middle?.location;
    if (middle === undefined) return [];
    return [{ lat: middle.lat, lon: middle.lon, count: cell.doc_count, value: measure(cell, isCount) }];
  });
  const box = found.bounds?.bounds;
  return {
    isTime: false,
    isUtc: false,
    isAdditive: isAdditive(metric),
    groups: places.map((place, at) => ({ key: at, label: pointName(place), part: "value" })),
    series: [{ name, value: "", part: "value", values: places.map(({ value }) => value) }],
    total: measure({ ...found, key: name, doc_count: totalOf(answer) }, isCount),
    places,
    bounds: box && {
      top: box.top_left.lat,
      left: box.top_left.lon,
      bottom: box.bottom_right.lat,
      right: box.bottom_right.lon,
    },
    within: found.within?.doc_count,
  };
}

/** Places drawn as one circle. */
export interface Cluster extends Place {
  /** px */
  readonly x: number;
  readonly y: number;
  /** Places it is made of. */
  readonly size: number;
}

/** How two measures become one; without a way (an average, a median) places aren't joined. */
const JOINS: Readonly<Record<string, (a: number, b: number) => number>> = {
  count: (a, b) => a + b,
  sum: (a, b) => a + b,
  min: Math.min,
  max: Math.max,
};

/**
 * Returns the circles of places: one takes in those that lie within `reachPx` of it, the one with most lines first.
 * `project` gives a place's px, or undefined if it isn't in sight.
 */
export function joinPlaces(
  places: readonly Place[],
  metric: Metric,
  reachPx: number,
  project: (point: Point) => readonly [x: number, y: number] | undefined,
): Cluster[] {
  const join = JOINS[metric.kind];
  const found: Cluster[] = [];
  for (const place of places.toSorted((a, b) => b.count - a.count)) {
    const at = project(place);
    if (at === undefined) continue;
    const [x, y] = at;
    const near =
      join === undefined ? -1 : found.findIndex((one) => Math.hypot(one.x - x, one.y - y) < reachPx);
    if (near < 0) found.push({ ...place, x, y, size: 1 });
    else found[near] = joined(found[near]!, place, join!);
  }
  return found;
}

/** The circle stays where most lines are. */
function joined(into: Cluster, { count, value }: Place, join: (a: number, b: number) => number): Cluster {
  const both =
    into.value === undefined || value === undefined ? (into.value ?? value) : join(into.value, value);
  return { ...into, count: into.count + count, value: both, size: into.size + 1 };
}
