/** Parts of the page of alerts: a rule's state, its history, and what is said where there is none. */

import { msg } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import type { Alert, AlertEvent } from "#ui/services/administration/alert-client.ts";
import { formatAgo, formatCount, formatMoment } from "#ui/services/text/format.ts";

const EVENTS: Readonly<Record<AlertEvent["event"], readonly [text: string, look: string]>> = {
  firing: [msg("Fired"), "failed"],
  resolved: [msg("Over"), "ok"],
  failed: [msg("Couldn't be evaluated"), "warning"],
  undelivered: [msg("A message was given up"), "warning"],
};

/** Returns the state in a word, with what is wrong. */
export function stateBadge({ rule, state }: Alert): TemplateResult {
  const isMuted = rule.muted_until !== null && Date.parse(rule.muted_until) > Date.now();
  const note = state.fault || state.deliveries.find(({ fault }) => fault !== "")?.fault || "";
  const since = state.since === "" ? "" : formatAgo(Date.parse(state.since), Date.now());
  const [text, look] = !rule.enabled
    ? [msg("Off"), ""]
    : state.condition === "firing"
      ? [msg("Firing"), "failed"]
      : state.condition === "ok"
        ? [msg("Quiet"), "ok"]
        : [msg("Not looked at yet"), ""];
  return html`<span class="badge ${look}">${text}</span>
    <span class="muted">${state.condition === "firing" ? since : nothing} ${isMuted ? msg("muted") : nothing}</span>
    ${note === "" ? nothing : html`<span class="muted" title=${note}>⚠ ${note.slice(0, 80)}</span>`}`;
}

/** Returns a rule's history, newest first. */
export function eventsView(events: readonly AlertEvent[]): TemplateResult {
  return html`<h2>${msg("History")}</h2>${
    events.length === 0
      ? html`<p class="muted">${msg("Nothing has happened yet.")}</p>`
      : html`<div class="table" tabindex="0" role="region" aria-label=${msg("History")}><table>
        <thead><tr><th scope="col">${msg("Time")}</th><th scope="col">${msg("What")}</th><th scope="col" class="number">${msg("Lines")}</th><th scope="col">${msg("Note")}</th></tr></thead>
        <tbody>${events.map(({ at, event, count, note }) => {
          const [text, look] = EVENTS[event];
          return html`<tr><td>${formatMoment(Date.parse(at))}</td><td><span class="badge ${look}">${text}</span></td><td class="number">${formatCount(count)}</td><td>${note}</td></tr>`;
        })}</tbody></table></div>`
  }`;
}

/** Returns what to do where there is no rule. */
export function emptyAlertsView(): TemplateResult {
  return html`<div class="card empty"><h2>${msg("No alert is set up")}</h2>
    <p>${msg("An alert counts the lines that match a search and tells you when there are too many or too few.")}</p>
    <p><a class="button" href="#/alerts?new=1&q=log.level:error">${msg("Alert me of errors")}</a></p></div>`;
}
