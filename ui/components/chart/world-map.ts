/**
 * A map of locations: circles on a world map, each for nearby locations, sized by their number. It can be dragged, and
 * zoomed with its buttons, with the wheel once it has the focus, and with keys. Fires `tr-view` when the user has moved
 * it.
 */

import { msg, str } from "@lit/localize";
import { type GeoPath, type GeoProjection, geoCircle, geoGraticule10, geoMercator, geoPath } from "d3-geo";
import {
  html,
  LitElement,
  nothing,
  type PropertyValues,
  type SVGTemplateResult,
  svg,
  type TemplateResult,
} from "lit";
import { property, state } from "lit/decorators.js";
import { feature, mesh } from "topojson-client";
import world from "world-atlas/countries-110m.json" with { type: "json" };
import { icon } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { formatCount, formatMeasure, formatShort } from "#ui/services/text/format.ts";
import { type MapView, moveView, pointName, type Ring, WORLD } from "#ui/services/visualise/map-view.ts";
import { type Cluster, joinPlaces, type PlaceData } from "#ui/services/visualise/places.ts";
import type { Metric } from "#ui/services/visualise/visualisation.ts";
import { worldMapStyles } from "./world-map-styles.ts";

type Topology = Parameters<typeof feature>[0];
type Countries = Parameters<typeof feature>[1];

const TOPOLOGY = world as unknown as Topology;
const COUNTRIES = TOPOLOGY.objects["countries"] as Countries;
const LAND = feature(TOPOLOGY, TOPOLOGY.objects["land"]!);
const BORDERS = mesh(TOPOLOGY, COUNTRIES as Parameters<typeof mesh>[1], (a, b) => a !== b);
const GRATICULE = geoGraticule10();
/** Mean radius. */
const EARTH_KM = 6_371;

/** The background behind the places, as SVG paths. */
interface Outline {
  readonly land: string;
  readonly borders: string;
  readonly graticule: string;
}

/** A part of the world on a plot. */
class WorldPlot {
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

/** Circles nearer than this are one. */
const REACH_PX = 26;
const MIN_RADIUS_PX = 5;
const MAX_RADIUS_PX = 24;
/** Smaller circles have no number. */
const TEXT_RADIUS_PX = 13;
/** The data are requested once the map hasn't moved for this long. */
const SETTLE_MS = 250;
/** Part of the width that a key moves. */
const KEY_STEP = 0.15;
const ZOOM_STEP = 2;
const WHEEL_STEP = 1.2;

export class WorldMap extends LitElement {
  @property({ attribute: false }) accessor data: PlaceData | undefined;
  @property({ attribute: false }) accessor view: MapView | undefined;
  @property({ attribute: false }) accessor ring: Ring | undefined;
  @property({ attribute: false }) accessor metric: Metric = { kind: "count", field: "" };
  /** The measure. */
  @property() accessor label = "";
  /** The view, also during a movement. */
  @state() accessor _view: MapView = WORLD;
  @state() accessor _size: { readonly width: number; readonly height: number } = { width: 0, height: 0 };
  /** Index of the circle under the cursor. */
  @state() accessor _cursor: number | undefined;

  static override styles = [controls, worldMapStyles];

  #clusters: readonly Cluster[] = [];
  #plot: WorldPlot | undefined;
  #held: { readonly x: number; readonly y: number; readonly view: MapView } | undefined;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #resize: ResizeObserver | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    clearTimeout(this.#settling);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("view") && this.view !== undefined) this._view = this.view;
    if (changed.has("data")) this._cursor = undefined;
    const { width, height } = this._size;
    if (width === 0) return;
    this.#plot = new WorldPlot(this._view, width, height);
    const { projection } = this.#plot;
    this.#clusters = joinPlaces(this.data?.places ?? [], this.metric, REACH_PX, ({ lat, lon }) => {
      const at = projection([lon, lat]);
      const isInSight = at !== null && at[0] >= 0 && at[0] <= width && at[1] >= 0 && at[1] <= height;
      return isInSight ? at : undefined;
    });
  }

  protected override updated(): void {
    this.#measure();
  }

  override render(): TemplateResult {
    const isEmpty = this.data?.places.length === 0;
    return html`<div class="plot" tabindex="0" role="img" aria-label=${this.#summary()}
        @pointerdown=${this.#onDown} @pointermove=${this.#onMove} @pointerup=${this.#onUp} @pointercancel=${this.#onUp}
        @pointerleave=${this.#leave} @wheel=${this.#onWheel} @keydown=${this.#onKey} @blur=${this.#leave}>${this.#drawing()}</div>
      ${isEmpty ? html`<p class="empty">${msg("No line with a place was found.")}</p>` : nothing}
      <div class="tools">
        ${this.#tool("plus", msg("Zoom in (+)"), () => this.#move({ zoom: ZOOM_STEP }))}
        ${this.#tool("minus", msg("Zoom out (−)"), () => this.#move({ zoom: 1 / ZOOM_STEP }))}
        ${this.#tool("expand", msg("The whole world (0)"), () => this.#go(WORLD))}
      </div>
      ${this.#readout()}${this.#caption()}`;
  }

  #tool(sign: "plus" | "minus" | "expand", name: string, act: () => void): TemplateResult {
    return html`<button class="small icon" aria-label=${name} title=${name} @click=${act}>${icon(sign)}</button>`;
  }

  #drawing(): TemplateResult | typeof nothing {
    const plot = this.#plot;
    const { width, height } = this._size;
    if (plot === undefined) return nothing;
    const { land, borders, graticule } = plot.outline();
    const largest = Math.max(Number.EPSILON, ...this.#clusters.map(({ value }) => value ?? 0));
    return html`<svg width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true">
      <path class="graticule" d=${graticule} /><path class="land" d=${land} /><path class="border" d=${borders} />
      ${this.ring === undefined ? nothing : svg`<path class="ring" d=${plot.ring(this.ring)} />`}
      ${this.#clusters.toReversed().map((cluster, at) => this.#circle(cluster, this.#clusters.length - 1 - at, largest))}</svg>`;
  }

  #circle({ x, y, value }: Cluster, at: number, largest: number): SVGTemplateResult {
    const part = Math.sqrt(Math.max(0, value ?? 0) / largest);
    const radius = MIN_RADIUS_PX + (MAX_RADIUS_PX - MIN_RADIUS_PX) * part;
    const text = radius < TEXT_RADIUS_PX || value === undefined ? "" : formatShort(value);
    return svg`<circle class=${at === this._cursor ? "place chosen" : "place"} cx=${x.toFixed(1)} cy=${y.toFixed(1)} r=${radius.toFixed(1)} />
      ${text === "" ? nothing : svg`<text x=${x.toFixed(1)} y=${(y + 3.5).toFixed(1)} text-anchor="middle">${text}</text>`}`;
  }

  #readout(): TemplateResult | typeof nothing {
    const chosen = this._cursor === undefined ? undefined : this.#clusters[this._cursor];
    if (chosen === undefined) return nothing;
    return html`<output class="readout"><strong>${chosen.size > 1 ? msg(str`${chosen.size} places around ${pointName(chosen)}`) : pointName(chosen)}</strong>
      <div>${this.label}: <b>${chosen.value === undefined ? "–" : formatMeasure(chosen.value)}</b></div>
      ${this.metric.kind === "count" ? nothing : html`<div>${msg(str`${formatCount(chosen.count)} lines`)}</div>`}</output>`;
  }

  #caption(): TemplateResult | typeof nothing {
    const { ring, data } = this;
    if (ring === undefined || data?.within === undefined) return nothing;
    return html`<p class="caption" role="status">${msg(str`${formatCount(data.within)} lines within ${formatMeasure(ring.km)} km of ${pointName(ring)}`)}</p>`;
  }

  #summary(): string {
    const first = this.#clusters[0];
    if (first === undefined) return msg(str`${this.label}, a map without places`);
    const most = `${pointName(first)}: ${first.value === undefined ? "–" : formatMeasure(first.value)}`;
    return msg(
      str`${this.label}, a map with ${this.#clusters.length} circles, most lines at ${most}. Arrow keys choose a circle, Enter goes nearer, Shift and arrow keys move the map.`,
    );
  }

  #move(change: Parameters<typeof moveView>[1]): void {
    this.#go(moveView(this._view, change));
  }

  #go(view: MapView): void {
    this._view = view;
    this._cursor = undefined;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => {
      this.dispatchEvent(new CustomEvent<MapView>("tr-view", { detail: this._view }));
    }, SETTLE_MS);
  }

  #onDown(event: PointerEvent): void {
    const plot = event.currentTarget as HTMLElement;
    const hadFocus = this.shadowRoot?.activeElement === plot;
    this._cursor = this.#circleAt(event);
    if (event.button !== 0 || (event.pointerType === "touch" && !hadFocus)) return;
    plot.setPointerCapture(event.pointerId);
    this.#held = { x: event.clientX, y: event.clientY, view: this._view };
  }

  #onMove(event: PointerEvent): void {
    const held = this.#held;
    if (held === undefined) {
      this._cursor = this.#circleAt(event);
      return;
    }
    const { width } = this._size;
    const dx = (held.x - event.clientX) / width;
    const dy = ((event.clientY - held.y) / width) * Math.cos((held.view.lat * Math.PI) / 180);
    if (dx !== 0 || dy !== 0) this.#go(moveView(held.view, { dx, dy }));
  }

  #onUp(): void {
    this.#held = undefined;
  }

  /** Without the focus the wheel scrolls the page. */
  #onWheel(event: WheelEvent): void {
    const isMeant = event.ctrlKey || this.shadowRoot?.activeElement === event.currentTarget;
    if (!isMeant || event.deltaY === 0) return;
    event.preventDefault();
    this.#move({ zoom: event.deltaY < 0 ? WHEEL_STEP : 1 / WHEEL_STEP });
  }

  #onKey(event: KeyboardEvent): void {
    const arrow = ARROWS[event.key];
    const chosen = this._cursor === undefined ? undefined : this.#clusters[this._cursor];
    if (arrow !== undefined && event.shiftKey)
      this.#move({ dx: arrow.dx * KEY_STEP, dy: arrow.dy * KEY_STEP });
    else if (arrow !== undefined) this.#choose(arrow.step);
    else if (event.key === "+" || event.key === "=") this.#move({ zoom: ZOOM_STEP });
    else if (event.key === "-") this.#move({ zoom: 1 / ZOOM_STEP });
    else if (event.key === "0") this.#go(WORLD);
    else if (event.key === "Enter" && chosen !== undefined)
      this.#go({ ...moveView(this._view, { zoom: ZOOM_STEP }), lat: chosen.lat, lon: chosen.lon });
    else if (event.key === "Escape" && this._cursor !== undefined) this.#leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next circle by the number of its lines. */
  #choose(step: 1 | -1): void {
    const last = this.#clusters.length - 1;
    this._cursor =
      last < 0 ? undefined : Math.max(0, Math.min(last, (this._cursor ?? (step > 0 ? -1 : last + 1)) + step));
  }

  #circleAt({ clientX, clientY }: PointerEvent): number | undefined {
    const box = this.renderRoot.querySelector(".plot")!.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const near = this.#clusters
      .map((cluster, at) => ({ at, away: Math.hypot(cluster.x - x, cluster.y - y) }))
      .filter(({ away }) => away < MAX_RADIUS_PX);
    return near.toSorted((a, b) => a.away - b.away)[0]?.at;
  }

  #leave(): void {
    if (this.#held === undefined) this._cursor = undefined;
  }

  #measure(): void {
    const plot = this.renderRoot.querySelector<HTMLElement>(".plot");
    if (plot === null) return;
    const [width, height] = [Math.floor(plot.clientWidth), Math.floor(plot.clientHeight)];
    if (width !== this._size.width || height !== this._size.height) this._size = { width, height };
  }
}

const ARROWS: Readonly<Record<string, { readonly dx: number; readonly dy: number; readonly step: 1 | -1 }>> =
  {
    ArrowRight: { dx: 1, dy: 0, step: 1 },
    ArrowDown: { dx: 0, dy: -1, step: 1 },
    ArrowLeft: { dx: -1, dy: 0, step: -1 },
    ArrowUp: { dx: 0, dy: 1, step: -1 },
  };

customElements.define("tr-world-map", WorldMap);

declare global {
  interface HTMLElementTagNameMap {
    "tr-world-map": WorldMap;
  }
}
