/** Alerts: rules, their results, and a form with a preview. The address selects the one shown. */

import { msg, str } from "@lit/localize";
import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { errorView } from "#ui/components/controls/error-view.ts";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { Refreshing } from "#ui/components/controls/polling-controller.ts";
import { roveLists } from "#ui/components/controls/roving-focus.ts";
import { icon } from "#ui/components/style/icons.ts";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls, notices } from "#ui/components/style/styles.ts";
import {
  type Alert,
  type AlertRule,
  type Channel,
  deleteAlert,
  listAlerts,
  type PreviewPoint,
  previewAlert,
  saveAlert,
  switchAlert,
  testChannel,
} from "#ui/services/administration/alert-client.ts";
import { OwnRights } from "#ui/services/administration/own-rights.ts";
import { navigate, rememberAddress } from "#ui/services/browser/router.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import {
  conditionText,
  emptyAlertsView,
  eventsView,
  noteView,
  noticesView,
  stateBadges,
  writerText,
} from "./alert-views.ts";
import "./alert-form.ts";
import "#ui/components/controls/confirm-dialog.ts";

const REFRESH_MS = 5_000;
const PREVIEW_SPAN = "24h";
const MUTE_MS = 60 * 60_000;

export class AlertsPage extends LitElement {
  /** Of the address: `id` of a rule, `new` with the `q` and `index` of a search. */
  @property({ attribute: false }) accessor parameters = new URLSearchParams();
  /** Why the rule in the form can't be previewed. */
  @state() accessor _previewFault: HubError | undefined;
  @state() accessor _said = "";
  @state() accessor _points: readonly PreviewPoint[] = [];
  /** The initial rule of the form. */
  @state() accessor _draft: AlertRule | undefined;

  static override styles = [
    controls,
    notices,
    pageStyles,
    css`
      .note {
        max-width: 26rem;
        min-width: 12rem;
        white-space: normal;
      }
    `,
  ];

  readonly #rights = new OwnRights(this);
  readonly #alerts = new Refreshing(this, listAlerts, REFRESH_MS, ["/api/alerts"]);
  #preview = new AbortController();

  constructor() {
    super();
    roveLists(this);
    new HotkeyController(this, {
      n: () => navigate({ page: "alerts", parameters: new URLSearchParams("new=1") }),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#preview.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("parameters")) {
      this._draft = undefined;
      this._previewFault = undefined;
      this.#alerts.forget();
    }
    this.#begin();
  }

  override render(): TemplateResult {
    const alert = this.#chosen;
    const fault = this.#alerts.fault ?? this._previewFault;
    const isList = !this.parameters.has("new") && !this.parameters.has("id");
    return html`<div class="page">
      <div class="title">
        ${isList ? nothing : html`<a class="button icon" href="#/alerts" aria-label=${msg("All alerts")} title=${msg("All alerts")}>${icon("arrowLeft")}</a>`}
        <h1>${isList ? msg("Alerts") : (alert?.rule.title ?? msg("New alert"))}</h1>
        ${alert === undefined ? nothing : stateBadges(alert)}<span class="space"></span>
        ${isList && this.#rights.may("alert") ? html`<a class="button" href="#/alerts?new=1">${icon("plus")}${msg("New alert")}</a>` : nothing}
      </div>
      ${fault === undefined ? nothing : errorView(fault)}
      <p role="status" class="muted">${this._said}</p>
      ${isList ? this.#list() : this.#rule(alert)}
      <tr-confirm-dialog></tr-confirm-dialog>
    </div>`;
  }

  #list(): TemplateResult | typeof nothing {
    const alerts = this.#alerts.value;
    if (alerts === undefined) return nothing;
    if (alerts.length === 0) return emptyAlertsView(this.#rights.may("alert"));
    const hasWriters = alerts.some(({ writer }) => writer !== undefined);
    return html`<div class="table" tabindex="0" role="region" aria-label=${msg("Alerts")}><table>
      <thead><tr><th scope="col">${msg("Alert")}</th><th scope="col">${msg("State")}</th><th scope="col" class="number">${msg("Lines")}</th>
        <th scope="col">${msg("Condition")}</th><th scope="col">${msg("Notifies")}</th>
        ${hasWriters ? html`<th scope="col">${msg("Runs with the rights of")}</th>` : nothing}<th scope="col"><span class="hidden-text">${msg("Actions")}</span></th></tr></thead>
      <tbody>${alerts.map((alert) => this.#row(alert, hasWriters))}</tbody></table></div>`;
  }

  #row(alert: Alert, hasWriters: boolean): TemplateResult {
    const { id, rule, state, writer } = alert;
    const isMuted = rule.muted_until !== null && Date.parse(rule.muted_until) > Date.now();
    const mute = isMuted ? msg(str`Unmute ${rule.title}`) : msg(str`Mute ${rule.title} for an hour`);
    const turn = rule.enabled ? msg(str`Turn off ${rule.title}`) : msg(str`Turn on ${rule.title}`);
    const change = (part: Parameters<typeof switchAlert>[0]): void => void this.#change(alert, part);
    return html`<tr>
      <td><a class="name" href="#/alerts?id=${id}">${rule.title}</a></td>
      <td>${stateBadges(alert)}${noteView(alert)}</td>
      <td class="number">${state.evaluated === "" ? "–" : state.count}</td>
      <td>${conditionText(rule)}</td>
      <td>${rule.channels.map(({ type }) => (type === "webhook" ? msg("Webhook") : msg("E-mail"))).join(", ") || "–"}</td>
      ${hasWriters ? html`<td>${writer === undefined ? "–" : writerText(writer)}</td>` : nothing}
      <td class="number">${
        this.#rights.may("alert")
          ? html`
        <button class="plain small icon" aria-label=${mute} title=${mute} aria-pressed=${isMuted}
          @click=${() => change({ muted_until: isMuted ? null : new Date(Date.now() + MUTE_MS).toISOString() })}>${icon(isMuted ? "bellOff" : "bell")}</button>
        <button class="plain small icon" aria-label=${turn} title=${turn} @click=${() => change({ enabled: !rule.enabled })}>${icon(rule.enabled ? "pause" : "play")}</button>
        <button class="plain small icon" aria-label=${msg(str`Delete ${rule.title}`)} title=${msg("Delete")} @click=${() => void this.#delete(alert)}>${icon("trash")}</button>`
          : nothing
      }
      </td>
    </tr>`;
  }

  #rule(alert: Alert | undefined): TemplateResult | typeof nothing {
    const draft = this._draft;
    if (draft === undefined) return nothing;
    return html`${alert === undefined ? nothing : noticesView(alert)}
      <div class="card">
        <tr-alert-form .rule=${draft} .isNew=${alert === undefined} @tr-save=${this.#onSave} @tr-edit=${this.#onEdit} @tr-test=${this.#onTest}></tr-alert-form>
      </div>
      <h2>${msg("The last 24 hours with this rule")}</h2>
      <div class="card"><tr-preview-bars .points=${this._points} .threshold=${draft.threshold}></tr-preview-bars></div>
      ${alert === undefined ? nothing : eventsView(alert.state.events)}`;
  }

  get #chosen(): Alert | undefined {
    const id = this.parameters.get("id");
    return this.#alerts.value?.find((alert) => alert.id === id);
  }

  /** Fills the form once the rule is loaded. */
  #begin(): void {
    if (this._draft !== undefined) return;
    const chosen = this.#chosen;
    if (this.parameters.has("new"))
      this._draft = {
        title: "",
        enabled: true,
        index: this.parameters.get("index") ?? "logs-*",
        query: this.parameters.get("q") ?? "",
        condition: "above",
        threshold: 10,
        window: "5m",
        every: "1m",
        channels: [],
        muted_until: null,
      };
    else if (chosen !== undefined) this._draft = chosen.rule;
    if (this._draft !== undefined) void this.#show(this._draft);
  }

  async #show(rule: AlertRule): Promise<void> {
    this.#preview.abort();
    this.#preview = new AbortController();
    const { signal } = this.#preview;
    try {
      const titled = { ...rule, title: rule.title || "preview", channels: [] };
      const points = await previewAlert(titled, PREVIEW_SPAN, signal);
      if (signal.aborted) return;
      this._points = points;
      this._previewFault = undefined;
    } catch (error) {
      if (!signal.aborted) this._previewFault = toHubError(error);
    }
  }

  #onEdit({ detail }: CustomEvent<AlertRule>): void {
    this._draft = detail;
    void this.#show(detail);
  }

  async #onSave({ detail }: CustomEvent<AlertRule>): Promise<void> {
    const isHere = rememberAddress();
    if (!(await this.#alerts.attempt(() => saveAlert(detail, this.#chosen)))) return;
    this._said = msg(str`“${detail.title}” is saved.`);
    if (isHere()) navigate({ page: "alerts", parameters: new URLSearchParams() });
  }

  async #onTest({ detail }: CustomEvent<Channel>): Promise<void> {
    this._said = msg("Sending …");
    this._said = (await this.#alerts.attempt(() => testChannel(detail))) ? msg("The test was sent.") : "";
  }

  /** Changes the current revision of the rule: another change of it may be in progress. */
  #change({ id }: Alert, part: Parameters<typeof switchAlert>[0]): Promise<boolean> {
    return this.#alerts.attempt(async () => {
      const alert = this.#alerts.value?.find((one) => one.id === id);
      if (alert !== undefined) await switchAlert(part, alert);
    });
  }

  async #delete(alert: Alert): Promise<void> {
    const isSure = await this.renderRoot.querySelector("tr-confirm-dialog")!.ask({
      title: msg(str`Delete “${alert.rule.title}”?`),
      text: msg("Its history is deleted as well."),
      action: msg("Delete alert"),
    });
    if (isSure) await this.#alerts.attempt(() => deleteAlert(alert));
  }
}

customElements.define("tr-page-alerts", AlertsPage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-alerts": AlertsPage;
  }
}
