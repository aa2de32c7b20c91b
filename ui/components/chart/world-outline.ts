/** The outlines of the world's countries, 1 : 110 million (Natural Earth), and a projection of a part of them. */

import { type GeoPath, type GeoProjection, geoCircle, geoGraticule10, geoMercator, geoPath } from "d3-geo";
import { feature, mesh } from "topojson-client";
import world from "world-atlas/countries-110m.json" with { type: "json" };
import type { MapView, Ring } from "#ui/services/visualise/map-view.ts";

type Topology = Parameters<typeof feature>[0];
type Countries = Parameters<typeof feature>[1];

const TOPOLOGY = world as unknown as Topology;
const COUNTRIES = TOPOLOGY.objects["countries"] as Countries;
const LAND = feature(TOPOLOGY, TOPOLOGY.objects["land"]!);
const BORDERS = mesh(TOPOLOGY, COUNTRIES as Parameters<typeof mesh>[1], (a, b) => a !== b);
const GRATICULE = geoGraticule10();
/** Mean radius. */
const EARTH_KM = 6_371;

/** What is drawn behind the places, as SVG paths. */
export interface Outline {
  readonly land: string;
  readonly borders: string;
  readonly graticule: string;
}

/** A part of the world on a plot. */
export class WorldPlot {
  readonly projection: GeoProjection;
  readonly #path: GeoPath;

  constructor({ lat, lon, zoom }: MapView, width: number, height: number) {
    this.projection = geoMercator()
      .scale((width * zoom) / (2 * Math.PI))
      .center([lon, lat])
      .translate([width / 2, height / 2])
      .clipExtent([
        [-8, -8],
        [width + 8, height + 8],
      ]);
    this.#path = geoPath(this.projection).digits(1);
  }

  outline(): Outline {
    const draw = (shape: Parameters<GeoPath>[0]): string => this.#path(shape) ?? "";
    return { land: draw(LAND), borders: draw(BORDERS), graticule: draw(GRATICULE) };
  }

  /** Returns the line of all points at a distance: a circle on the globe, whatever the projection makes of it. */
  ring({ lat, lon, km }: Ring): string {
    const degrees = ((km / EARTH_KM) * 180) / Math.PI;
    return this.#path(geoCircle().center([lon, lat]).radius(degrees).precision(2)()) ?? "";
  }
}
