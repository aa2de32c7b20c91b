/** The form that defines a visualisation. Fires `tr-shown` with each change. */

import { msg } from "@lit/localize";
import { html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { controls } from "#ui/components/style/styles.ts";
import type { Field } from "#ui/services/search/fields.ts";
import { type ChartLook, readLimits, UNITS, type Unit } from "#ui/services/visualise/chart-look.ts";
import { MAX_RING_KM, type Ring } from "#ui/services/visualise/map-view.ts";
import { scriptedFields } from "#ui/services/visualise/scripted-fields.ts";
import {
  CHARTS,
  type Chart,
  DEFAULT_VISUALISATION,
  type Grouping,
  isCutByGroups,
  MAX_GROUPS,
  MAX_SPLITS,
  METRIC_NAMES,
  METRICS,
  type Metric,
  type MetricKind,
  readBounds,
  readQueries,
  type Visualisation,
} from "#ui/services/visualise/visualisation.ts";
import { formStyles } from "./visualise-styles.ts";

const PATHS = {
  line: svg`<path d="M3.5 17 9 10.5l4 3.5 7.5-8.5"/>`,
  area: svg`<path d="M3.5 19.5V15L9 9.5l4 3.5 7.5-7v13.5Z"/>`,
  bar: svg`<path d="M5 20v-7M12 20V5M19 20v-11" stroke-width="4" stroke-linecap="butt"/>`,
  pie: svg`<circle cx="12" cy="12" r="8.5"/><circle cx="12" cy="12" r="3.5"/><path d="M12 3.5v5M15 14l4 3"/>`,
  table: svg`<rect x="3.5" y="5" width="17" height="14" rx="1.5"/><path d="M3.5 10h17M3.5 14.5h17M10 5v14"/>`,
  number: svg`<path d="M6 8.5 9 6v12M13.5 8.5C14 7 15 6 16.5 6c4 0 3.6 4.5 1 7L13.5 18h6"/>`,
  gauge: svg`<path d="M3.5 17a8.500 8.500 0 0 1 17 0M12 17l4-5.500"/>`,
  heat: svg`<path d="M4 4h5v5H4ZM15 4h5v5h-5ZM9.5 9.5h5v5h-5ZM4 15h5v5H4ZM15 15h5v5h-5Z"/>`,
  map: svg`<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17"/>`,
} as const;

/** Returns the sign of a kind. */
function chartIcon(chart: Chart): TemplateResult {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true">${PATHS[chart]}</svg>`;
}

const FORMULA_EXAMPLES = [
  "count(log.level:error) / count() * 100",
  "count() - offset(count(), 1w)",
  "moving_average(count(), 5)",
] as const;

const SCRIPT_EXAMPLE = "kb = doc['bytes'].value / 1024.0";

const CHART_NAMES: Readonly<Record<Chart, string>> = {
  line: msg("Line chart"),
  area: msg("Area"),
  bar: msg("Bars"),
  pie: msg("Donut"),
  table: msg("Table"),
  number: msg("Number"),
  gauge: msg("Gauge"),
  heat: msg("Heat map"),
  map: msg("Map"),
};
const GROUPINGS: readonly (readonly [Grouping["kind"], string])[] = [
  ["time", msg("Time")],
  ["terms", msg("Values of a field")],
  ["steps", msg("Histogram of a number")],
  ["ranges", msg("Ranges of a number")],
  ["filters", msg("Queries")],
  ["none", msg("Nothing")],
];
const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  "": msg("Number"),
  bytes: msg("Bytes"),
  ms: msg("Milliseconds"),
  seconds: msg("Seconds"),
  percent: msg("Percent"),
  share: msg("Share of 1, in percent"),
};
const POINTS = /^geo_point$/;
const NUMBERS = /^(long|integer|short|byte|double|float|half_float|scaled_float)$/;

export class VisualisationForm extends LitElement {
  @property({ attribute: false }) accessor shown!: Visualisation;
  /** Of the index. */
  @property({ attribute: false }) accessor fields: readonly Field[] = [];

  /** The grouping before the map was chosen. */
  #groups: Grouping = DEFAULT_VISUALISATION.by;

  static override styles = [controls, formStyles];

  override render(): TemplateResult {
    const { chart } = this.shown;
    return html`
      <fieldset><legend>${msg("Chart")}</legend>
        <div class="charts" role="group" aria-label=${msg("Chart")}>${CHARTS.map(
          (kind) =>
            html`<button type="button" aria-pressed=${chart === kind} @click=${() => this.#choose(kind)}>${chartIcon(kind)}${CHART_NAMES[kind]}</button>`,
        )}</div>
      </fieldset>
      ${this.#metric()}
      ${chart === "number" || chart === "gauge" ? nothing : chart === "map" ? html`${this.#places()}${this.#ring()}` : html`${this.#grouping()}${chart === "pie" && isCutByGroups(this.shown) ? nothing : this.#split()}`}
      ${this.#scripts()}
      ${chart === "map" ? nothing : this.#look(this.shown.look)}
      <datalist id="numbers">${this.#options(NUMBERS)}</datalist><datalist id="fields">${this.#options(/./)}</datalist><datalist id="points">${this.#options(POINTS)}</datalist>`;
  }

  #metric(): TemplateResult {
    const { metric } = this.shown;
    const isAny = metric.kind === "unique";
    return html`<fieldset><legend>${msg("Measure")}</legend>
      <select aria-label=${msg("Measure")} @change=${(event: Event) => this.#fire({ metric: measuredAs(metric, textIn(event) as MetricKind) })}>
        ${METRICS.map((kind) => html`<option value=${kind} .selected=${kind === metric.kind}>${METRIC_NAMES[kind]}</option>`)}
      </select>
      ${metric.kind === "formula" ? this.#formula(metric.field) : metric.kind === "count" ? nothing : this.#fieldInput(msg("of the field"), metric.field, isAny ? "fields" : "numbers", (field) => this.#fire({ metric: { ...metric, field } }))}
    </fieldset>`;
  }

  #formula(text: string): TemplateResult {
    return html`<label>${msg("Formula")}<textarea class="mono" rows="3" spellcheck="false" maxlength="2000" .value=${text} @keydown=${applyByEnter} @change=${(event: Event) => this.#fire({ metric: { kind: "formula", field: textIn(event).trim() } })}></textarea></label>
      <details><summary>${msg("Examples and functions")}</summary>
        <ul class="mono">${FORMULA_EXAMPLES.map((example) => html`<li><button type="button" class="plain small" @click=${() => this.#fire({ metric: { kind: "formula", field: example } })}>${example}</button></li>`)}</ul>
        <p>${msg("Measures: count(query), and sum, avg, min, max, unique, p50, p95, p99 of (field) or (field, query).")}</p>
        <p>${msg("Several measures: one a line, with a name before it where you like: errors = count(log.level:error).")}</p>
        <p>${msg("Of a series: moving_average(x, steps), derivative(x), cumulative(x). offset(x, 1w) is x a week before.")}</p></details>`;
  }

  #scripts(): TemplateResult {
    const { scripts } = this.shown;
    const apply = (event: Event): void => this.#fire({ scripts: textIn(event).trim() });
    return html`<fieldset aria-label=${msg("Computed fields")}><details ?open=${scripts !== ""}><summary>${msg("Computed fields")}</summary>
      <label>${msg("A field by a script, one a line")}<textarea class="mono" rows="3" spellcheck="false" maxlength="2000" placeholder=${SCRIPT_EXAMPLE} .value=${scripts} @change=${apply}></textarea></label>
      <p>${msg("A number, or what is named before the equals sign: host: keyword = doc['host.name'].value.toLowerCase()")}</p></details></fieldset>`;
  }

  #look(look: ChartLook): TemplateResult {
    const set = (change: Partial<ChartLook>): void => this.#fire({ look: { ...look, ...change } });
    const { chart } = this.shown;
    const hasScale = chart === "line" || chart === "area" || chart === "bar";
    const limits = (event: Event): void => set({ limits: readLimits(textIn(event)) });
    return html`<fieldset><legend>${msg("Numbers")}</legend>
      <label>${msg("Unit")}<select @change=${(event: Event) => set({ unit: textIn(event) as Unit })}>${UNITS.map((unit) => html`<option value=${unit} .selected=${unit === look.unit}>${UNIT_NAMES[unit]}</option>`)}</select></label>
      ${chart === "pie" || chart === "table" || chart === "heat" ? nothing : html`<label>${msg("Limits: warning, error")}<input class="mono" autocomplete="off" placeholder="500, 1000" .value=${look.limits.join(", ")} @change=${limits} /></label>`}
      ${hasScale ? html`<label class="check"><input type="checkbox" .checked=${look.isLog} @change=${() => set({ isLog: !look.isLog })} />${msg("Logarithmic scale")}</label>` : nothing}
    </fieldset>`;
  }

  #grouping(): TemplateResult {
    const { by } = this.shown;
    return html`<fieldset><legend>${msg("Group by")}</legend>
      <select aria-label=${msg("Group by")} @change=${(event: Event) => this.#fire({ by: groupingOf(textIn(event), by) })}>
        ${GROUPINGS.map(([kind, name]) => html`<option value=${kind} .selected=${kind === by.kind}>${name}</option>`)}
      </select>
      ${
        by.kind === "terms"
          ? html`<div class="pair">${this.#fieldInput(msg("Field"), by.field, "fields", (field) => this.#fire({ by: { ...by, field } }))}
              ${this.#number(msg("At most"), by.size, MAX_GROUPS, (size) => this.#fire({ by: { ...by, size } }))}</div>`
          : nothing
      }
      ${
        by.kind === "steps"
          ? html`<div class="pair">${this.#fieldInput(msg("Field"), by.field, "numbers", (field) => this.#fire({ by: { ...by, field } }))}
              ${this.#number(msg("Step"), by.interval, undefined, (interval) => this.#fire({ by: { ...by, interval } }))}</div>`
          : nothing
      }
      ${
        by.kind === "ranges"
          ? html`${this.#fieldInput(msg("Field"), by.field, "numbers", (field) => this.#fire({ by: { ...by, field } }))}
              <label>${msg("Bounds")}<input class="mono" autocomplete="off" placeholder="100, 500" .value=${by.bounds.join(", ")} @change=${(event: Event) => this.#fire({ by: { ...by, bounds: readBounds(textIn(event)) } })} /></label>`
          : nothing
      }
      ${
        by.kind === "filters"
          ? html`<label>${msg("Queries, one a line")}<textarea class="mono" rows="3" spellcheck="false" maxlength="2000" .value=${by.queries.join("\n")} @keydown=${applyByEnter} @change=${(event: Event) => this.#fire({ by: { ...by, queries: readQueries(textIn(event)) } })}></textarea></label>`
          : nothing
      }
      ${by.kind === "time" ? html`<label>${msg("Mark lines that match")}<input class="mono" autocomplete="off" spellcheck="false" placeholder="message:deployed" .value=${this.shown.marks} @change=${(event: Event) => this.#fire({ marks: textIn(event).trim() })} /></label>` : nothing}
    </fieldset>`;
  }

  #split(): TemplateResult {
    const { split } = this.shown;
    return html`<fieldset><legend>${msg("Split by")}</legend>
      <div class="pair">
        ${this.#fieldInput(msg("Field (optional)"), split?.field ?? "", "fields", (field) =>
          this.#fire({ split: field === "" ? undefined : { field, size: split?.size ?? 5 } }),
        )}
        ${this.#number(msg("At most"), split?.size ?? 5, MAX_SPLITS, (size) => split !== undefined && this.#fire({ split: { ...split, size } }))}
      </div>
    </fieldset>`;
  }

  #places(): TemplateResult {
    const { by, view } = this.shown;
    const field = by.kind === "places" ? by.field : "";
    return html`<fieldset><legend>${msg("Places")}</legend>
      ${this.#fieldInput(msg("Field of places"), field, "points", (name) => this.#fire({ by: { kind: "places", field: name }, view: undefined }))}
      <button type="button" class="small" ?disabled=${view === undefined} @click=${() => this.#fire({ view: undefined })}>${msg("Show all places")}</button>
    </fieldset>`;
  }

  #ring(): TemplateResult {
    const { ring, view } = this.shown;
    const begin = { km: 500, lat: view?.lat ?? 0, lon: view?.lon ?? 0 };
    const part = (label: string, name: keyof Ring, min: number, max: number): TemplateResult =>
      html`<label>${label}<input type="number" min=${min} max=${max} step="any" .value=${String(ring![name])}
        @change=${(event: Event) => acceptNumber(event, ring![name], (value) => this.#fire({ ring: { ...ring!, [name]: value } }))} /></label>`;
    return html`<fieldset><legend>${msg("Distance")}</legend>
      <label class="check"><input type="checkbox" .checked=${ring !== undefined} @change=${() => this.#fire({ ring: ring === undefined ? begin : undefined })} />${msg("Distance filter")}</label>
      ${ring === undefined ? nothing : html`${part(msg("Kilometres"), "km", 0.001, MAX_RING_KM)}<div class="halves">${part(msg("Latitude"), "lat", -90, 90)}${part(msg("Longitude"), "lon", -180, 180)}</div>`}
    </fieldset>`;
  }

  #fieldInput(
    label: string,
    value: string,
    list: "numbers" | "fields" | "points",
    set: (field: string) => void,
  ): TemplateResult {
    return html`<label>${label}<input class="mono" list=${list} autocomplete="off" spellcheck="false"
      .value=${value} @change=${(event: Event) => set(textIn(event).trim())} /></label>`;
  }

  #number(
    label: string,
    value: number,
    max: number | undefined,
    set: (value: number) => void,
  ): TemplateResult {
    return html`<label>${label}<input type="number" min=${max === undefined ? "0" : "1"} max=${max ?? nothing} step=${max === undefined ? "any" : "1"}
      .value=${String(value)} @change=${(event: Event) => acceptNumber(event, value, (number) => number > 0 && set(number))} /></label>`;
  }

  #options(types: RegExp): TemplateResult[] {
    const computed = scriptedFields(this.shown.scripts).map(({ name, type }) => ({
      aggregatableName: name,
      type,
    }));
    return [...computed, ...this.fields]
      .filter(({ type, aggregatableName }) => aggregatableName !== undefined && types.test(type))
      .map(({ aggregatableName, type }) => html`<option value=${aggregatableName!}>${type}</option>`);
  }

  #fieldOfPlaces(): string {
    return this.fields.find(({ type }) => POINTS.test(type))?.name ?? "";
  }

  /** Only a map groups by places; switching to a map and back restores the previous groups. */
  #choose(chart: Chart): void {
    const { chart: before, by } = this.shown;
    if (chart === before) return;
    if (chart === "map") {
      this.#groups = by;
      this.#fire({ chart, by: { kind: "places", field: this.#fieldOfPlaces() } });
    } else if (by.kind === "places")
      this.#fire({ chart, by: this.#groups, view: undefined, ring: undefined });
    else this.#fire({ chart });
  }

  /** The next change builds on this one, drawn or not. */
  #fire(change: Partial<Visualisation>): void {
    const detail = { ...this.shown, ...change };
    this.shown = detail;
    this.dispatchEvent(new CustomEvent<Visualisation>("tr-shown", { detail }));
  }
}

/** Takes a number that its input allows; else restores the input. */
function acceptNumber(event: Event, before: number, set: (value: number) => void): void {
  const input = event.currentTarget as HTMLInputElement;
  if (input.checkValidity() && Number.isFinite(input.valueAsNumber)) set(input.valueAsNumber);
  else input.value = String(before);
}

/** Returns a metric of another kind; a field is kept where there is one. */
function measuredAs({ kind: before, field }: Metric, kind: MetricKind): Metric {
  if (kind === "count") return { kind, field: "" };
  if (kind === "formula" && before !== "formula")
    return { kind, field: before === "count" ? "" : `${before}(${field})` };
  return { kind, field: before === "formula" ? "" : field };
}

/** Enter applies a text of several lines, as it does in fields of one; with Shift it begins a line. */
function applyByEnter(event: KeyboardEvent): void {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.currentTarget?.dispatchEvent(new Event("change"));
}

function textIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement).value;
}

function groupingOf(kind: string, before: Grouping): Grouping {
  const field = "field" in before ? before.field : "";
  if (kind === "terms") return { kind, field, size: 10 };
  if (kind === "steps") return { kind, field, interval: 100 };
  if (kind === "ranges") return { kind, field, bounds: [100, 500] };
  if (kind === "filters") return { kind, queries: ["log.level:error", "log.level:warn"] };
  return kind === "none" ? { kind } : { kind: "time" };
}

customElements.define("tr-visualisation-form", VisualisationForm);

declare global {
  interface HTMLElementTagNameMap {
    "tr-visualisation-form": VisualisationForm;
  }
}
