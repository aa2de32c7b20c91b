/** A panel of a dashboard: its title, its tools, and its visualisation, its lines or its text. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import { icon } from "#ui/components/style/icons.ts";
import { formatRoute } from "#ui/services/browser/router.ts";
import type { Panel } from "#ui/services/dashboards/dashboard.ts";
import { parametersOf, type SavedObject } from "#ui/services/hub/saved-client.ts";
import type { TimeRange } from "#ui/services/search/time-range.ts";
import type { Visualisation } from "#ui/services/visualise/visualisation.ts";
import "#ui/pages/visualise/visualisation-panel.ts";
import "./lines-panel.ts";
import "./text-panel.ts";

export interface PanelState {
  readonly panel: Panel;
  /** Undefined if the visualisation or the search no longer exists, and for a text. */
  readonly saved: SavedObject | undefined;
  readonly shown: Visualisation | undefined;
  readonly range: TimeRange;
  readonly filter: string;
  readonly round: number;
  readonly isUtc: boolean;
  /** Shows the numbers instead of the chart. */
  readonly isTable: boolean;
  /** True while a pointer drags it. */
  readonly isHeld: boolean;
  readonly onTable: () => void;
  /** Returns the buttons that arrange it; undefined if nothing is arranged. */
  readonly tools: ((title: string) => readonly TemplateResult[]) | undefined;
  readonly onText: (text: string) => void;
  readonly onTake: (kind: "move" | "resize", event: PointerEvent) => void;
}

/** Returns a panel. */
export function panelView(state: PanelState): TemplateResult {
  const { panel, saved, shown, tools, isHeld, onTake } = state;
  const title = panel.kind === "text" ? msg("Text") : (saved?.title ?? msg("A deleted visualisation"));
  const isArranged = tools !== undefined;
  const held = isHeld ? "held" : "";
  return html`<section class="panel w${panel.width} ${panel.height} ${held}" data-panel aria-label=${title}>
    <header class=${isArranged ? "movable" : panel.kind === "text" ? "bare" : ""} @pointerdown=${(event: PointerEvent) => isArranged && onTake("move", event)}>
      <h2 class=${panel.kind === "text" && !isArranged ? "hidden-text" : ""}>${saved === undefined || isArranged ? title : titleLink(saved, state)}</h2>
      ${isArranged ? tools(title) : shown === undefined ? nothing : readingTools(title, shown, state)}</header>
    ${contentView(state)}
    ${isArranged ? html`<span class="corner" aria-hidden="true" @pointerdown=${(event: PointerEvent) => onTake("resize", event)}></span>` : nothing}
  </section>`;
}

function contentView(state: PanelState): TemplateResult {
  const { panel, saved, shown, range, filter, round, isUtc, isTable, tools, onText } = state;
  if (panel.kind === "text")
    return html`<tr-text-panel .text=${panel.text ?? ""} .isEditing=${tools !== undefined} @tr-text=${({ detail }: CustomEvent<string>) => onText(detail)}></tr-text-panel>`;
  if (saved === undefined) return html`<p class="muted">${msg("It no longer exists.")}</p>`;
  if (shown === undefined)
    return html`<tr-lines-panel tabindex="0" role="region" aria-label=${msg(str`Lines of ${saved.title}`)} .parameters=${parametersOf(saved)} .range=${range} .filter=${filter} .round=${round} .isUtc=${isUtc}></tr-lines-panel>`;
  return html`<tr-visualisation-panel .shown=${shown} .range=${range} .filter=${filter} .round=${round} .isUtc=${isUtc} .isTable=${isTable}></tr-visualisation-panel>`;
}

function titleLink(saved: SavedObject, { panel, range }: PanelState): TemplateResult {
  const { id, title } = saved;
  if (panel.kind === "search") {
    const parameters = new URLSearchParams(parametersOf(saved));
    for (const [name, value] of Object.entries(range)) parameters.set(name, value);
    return html`<a href=${formatRoute({ page: "discover", parameters })} title=${msg("Open in Discover")}>${title}</a>`;
  }
  const link = new URLSearchParams({ id, from: range.from, to: range.to });
  return html`<a href="#/visualise?${link}" title=${msg("Open in Visualise")}>${title}</a>`;
}

function readingTools(
  title: string,
  shown: Visualisation,
  { filter, range, isTable, onTable }: PanelState,
): TemplateResult {
  const query = [shown.query.trim(), filter].filter((one) => one !== "" && one !== "*");
  const parameters = new URLSearchParams({ ...range, index: shown.index });
  parameters.set("q", query.length > 1 ? query.map((one) => `(${one})`).join(" AND ") : (query[0] ?? ""));
  const lines = msg(str`Lines of ${title} in Discover`);
  const numbers = msg(str`Table of ${title}`);
  return html`<span class="reading">
    <button class="plain small icon" aria-pressed=${isTable} aria-label=${numbers} title=${msg("Table")} @click=${onTable}>${icon("list")}</button>
    <a class="button plain small icon" href=${formatRoute({ page: "discover", parameters })} aria-label=${lines} title=${msg("Open in Discover")}>${icon("search")}</a></span>`;
}

/** Returns a key for each panel: a visualisation may be on a dashboard twice. */
export function panelKeys(panels: readonly Panel[]): string[] {
  const seen = new Map<string, number>();
  return panels.map(({ id }) => {
    const times = (seen.get(id) ?? 0) + 1;
    seen.set(id, times);
    return `${id}/${times}`;
  });
}

/** Returns the text of a dashboard without panels. */
export function emptyView(isEditing: boolean): TemplateResult {
  return html`<div class="empty"><h2>${msg("Nothing on this dashboard yet")}</h2>
    <p>${isEditing ? msg("Add a visualisation, a saved search or a text above.") : msg("Press Edit and add a visualisation, a saved search or a text.")}</p></div>`;
}
