/** Appearance: theme, density, language, time zone and keys of this browser. */

import { msg } from "@lit/localize";
import { css, html, LitElement, type TemplateResult } from "lit";
import { pageStyles } from "#ui/components/style/page-styles.ts";
import { controls } from "#ui/components/style/styles.ts";
import { chooseLanguage, LANGUAGES, type Language } from "#ui/services/browser/language.ts";
import {
  hasLetterKeys,
  isUtcPreferred,
  readPreference,
  writePreference,
} from "#ui/services/browser/preferences.ts";
import {
  chooseDensity,
  chooseTheme,
  currentDensity,
  currentTheme,
  DENSITIES,
  THEMES,
} from "#ui/services/browser/theme.ts";
import { LOOK_TEXTS } from "#ui/services/browser/theme-labels.ts";

type Choice = readonly [value: string, text: string];

export class AppearancePage extends LitElement {
  static override styles = [
    controls,
    pageStyles,
    css`
      fieldset {
        max-width: 46rem;
        margin: 0 0 14px;
        padding: 12px 16px 14px;
        border: 1px solid var(--line);
        border-radius: 8px;
        background: var(--surface);
      }
      legend {
        padding: 0 6px;
        font-weight: 600;
      }
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: 8px 20px;
      }
      label {
        display: inline-flex;
        align-items: center;
        gap: 8px;
        min-height: 26px;
      }
      input {
        width: 18px;
        height: 18px;
        margin: 0;
        accent-color: var(--accent);
      }
      fieldset p {
        margin: 8px 0 0;
        color: var(--ink-muted);
      }
    `,
  ];

  override render(): TemplateResult {
    const texts = (names: readonly string[]): Choice[] => names.map((name) => [name, LOOK_TEXTS[name]!]);
    return html`<div class="page">
      <div class="title"><h1>${msg("Appearance")}</h1></div>
      <p class="muted">${msg("These choices apply to this browser only.")}</p>
      ${this.#field(msg("Theme"), "theme", texts(THEMES), currentTheme(), (value) => chooseTheme(value as (typeof THEMES)[number]))}
      ${this.#field(msg("Density"), "density", texts(DENSITIES), currentDensity(), (value) => chooseDensity(value as (typeof DENSITIES)[number]))}
      ${this.#field(
        msg("Language"),
        "language",
        [["", msg("Browser default")], ...Object.entries(LANGUAGES)],
        readPreference("language") ?? "",
        (value) => chooseLanguage(value === "" ? undefined : (value as Language)),
      )}
      ${this.#field(
        msg("Time zone"),
        "zone",
        [
          ["local", `${msg("Browser time zone")}: ${Intl.DateTimeFormat().resolvedOptions().timeZone}`],
          ["utc", "UTC"],
        ],
        isUtcPreferred() ? "utc" : "local",
        (value) => writePreference("zone", value === "utc" ? "utc" : undefined),
        msg("Each page can show the other one for a while; its address says which."),
      )}
      ${this.#field(
        msg("Single-letter shortcuts"),
        "keys",
        [
          ["on", msg("On")],
          ["off", msg("Off")],
        ],
        hasLetterKeys() ? "on" : "off",
        (value) => writePreference("keys", value === "off" ? "off" : undefined),
        msg("Turn them off where speech input or a screen reader sends letters by accident."),
      )}
    </div>`;
  }

  #field(
    title: string,
    name: string,
    choices: readonly Choice[],
    chosen: string,
    choose: (value: string) => void,
    note = "",
  ): TemplateResult {
    return html`<fieldset>
      <legend>${title}</legend>
      <div class="choices">
        ${choices.map(
          ([value, text]) =>
            html`<label><input type="radio" name=${name} value=${value} ?checked=${value === chosen} @change=${() => choose(value)} />${text}</label>`,
        )}
      </div>
      ${note === "" ? "" : html`<p>${note}</p>`}
    </fieldset>`;
  }
}

customElements.define("tr-page-appearance", AppearancePage);

declare global {
  interface HTMLElementTagNameMap {
    "tr-page-appearance": AppearancePage;
  }
}
