/** Parts of the page of alerts that only show an alert: its state, what is wrong with it, its history. */

import { msg, str } from "@lit/localize";
import { html, nothing, type TemplateResult } from "lit";
import type { Alert, AlertEvent, AlertRule } from "#ui/services/administration/alert-client.ts";
import { intervalName } from "#ui/services/search/interval.ts";
import { formatAgo, formatCount, formatMoment } from "#ui/services/text/format.ts";

const EVENTS: Readonly<Record<AlertEvent["event"], readonly [text: string, look: string]>> = {
  firing: [msg("Fired"), "failed"],
  resolved: [msg("Resolved"), "ok"],
  failed: [msg("Evaluation failed"), "warning"],
  undelivered: [msg("Notification failed"), "warning"],
};

/** Returns the state in a word, and whether the alert is muted. */
export function stateBadges({ rule, state }: Alert): TemplateResult {
  const isMuted = rule.muted_until !== null && Date.parse(rule.muted_until) > Date.now();
  const since = state.since === "" ? "" : formatAgo(Date.parse(state.since), Date.now());
  const [text, look] = !rule.enabled
    ? [msg("Off"), ""]
    : state.stopped
      ? [msg("Not running"), "warning"]
      : state.condition === "firing"
        ? [msg("Firing"), "failed"]
        : state.condition === "ok"
          ? [msg("OK"), "ok"]
          : [msg("Not checked yet"), ""];
  return html`<span class="badge ${look}">${text}</span>
    <span class="muted">${state.condition === "firing" ? since : nothing} ${isMuted ? msg("muted") : nothing}</span>`;
}

/** Returns when a rule fires: `more than 10 in 5 min`. */
export function conditionText({ condition, threshold, window }: AlertRule): string {
  const [count, span] = [formatCount(threshold), intervalName({ text: window })];
  return condition === "above"
    ? msg(str`more than ${count} in ${span}`)
    : msg(str`fewer than ${count} in ${span}`);
}

/** Returns the first thing that is wrong with an alert, for a list. */
export function noteView(alert: Alert): TemplateResult | typeof nothing {
  const [note] = faultsOf(alert);
  return note === undefined ? nothing : html`<div class="muted note">⚠ ${note}</div>`;
}

/** Returns whose rights an alert has, and all that is wrong with it. */
export function noticesView(alert: Alert): TemplateResult {
  const { state, writer } = alert;
  const texts = faultsOf(alert);
  if (state.stopped)
    texts.unshift(
      msg(
        "This alert doesn't run because of the rights of whoever saved it. Save it to run it with your rights.",
      ),
    );
  return html`${texts.length === 0 ? nothing : html`<div class="notice warning">${texts.map((text) => html`<p>${text}</p>`)}</div>`}
    ${writer === undefined ? nothing : html`<p class="muted">${msg("Runs with the rights of")}: ${writerText(writer)}</p>`}`;
}

/** Returns what is wrong with an alert, the most important first. */
function faultsOf({ state, notice }: Alert): string[] {
  const undelivered = state.deliveries.find(({ fault }) => fault !== "")?.fault ?? "";
  // The hub's notice says the same in English.
  const unknownWriter = msg(
    "It isn't known who saved this alert. It counts in the indices that were allowed then. Save it to run it with your rights.",
  );
  return [state.fault, undelivered, notice === "" ? "" : unknownWriter].filter((text) => text !== "");
}

/** Returns the name of the user who saved an alert, with its kind unless it is an account. */
export function writerText({ kind, name }: NonNullable<Alert["writer"]>): string {
  if (kind === "api_key") return msg(str`API key ${name}`);
  return kind === "user" ? name : msg(str`${name}, through an application`);
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

/** Returns what to do where there is no rule, for readers who may add one. */
export function emptyAlertsView(mayAdd: boolean): TemplateResult {
  return html`<div class="card empty"><h2>${msg("No alert is set up")}</h2>
    <p>${msg("An alert counts the lines that match a search and notifies you when there are too many or too few.")}</p>
    ${mayAdd ? html`<p><a class="button" href="#/alerts?new=1&q=log.level:error">${msg("Alert on errors")}</a></p>` : nothing}</div>`;
}
