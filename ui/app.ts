/** The shell: navigation, theme, help, and the page its address asks for, loaded when it is asked for. */

import { html, LitElement, nothing, type TemplateResult } from "lit";
import "./components/help-dialog.ts";
import { appStyles } from "./app-styles.ts";
import { HotkeyController } from "./components/hotkeys.ts";
import { type IconName, icon, logo } from "./components/icons.ts";
import { controls } from "./components/styles.ts";
import { type Route, Router } from "./router.ts";
import { chooseTheme, currentTheme, THEMES, type Theme } from "./theme.ts";

interface Page {
  readonly title: string;
  load(): Promise<unknown>;
  view(parameters: URLSearchParams): TemplateResult;
}

const PAGES: Readonly<Record<string, Page>> = {
  discover: {
    title: "Discover",
    load: () => import("./pages/discover.ts"),
    view: (parameters) => html`<tr-page-discover .parameters=${parameters}></tr-page-discover>`,
  },
  live: {
    title: "Live",
    load: () => import("./pages/live.ts"),
    view: (parameters) => html`<tr-page-live .parameters=${parameters}></tr-page-live>`,
  },
  visualise: {
    title: "Visualise",
    load: () => import("./pages/visualise.ts"),
    view: (parameters) => html`<tr-page-visualise .parameters=${parameters}></tr-page-visualise>`,
  },
  dashboards: {
    title: "Dashboards",
    load: () => import("./pages/dashboards.ts"),
    view: (parameters) => html`<tr-page-dashboards .parameters=${parameters}></tr-page-dashboards>`,
  },
  console: {
    title: "Console",
    load: () => import("./pages/console.ts"),
    view: (parameters) => html`<tr-page-console .parameters=${parameters}></tr-page-console>`,
  },
  indices: {
    title: "Indices",
    load: () => import("./pages/indices.ts"),
    view: (parameters) => html`<tr-page-indices .parameters=${parameters}></tr-page-indices>`,
  },
  status: {
    title: "Status",
    load: () => import("./pages/status.ts"),
    view: () => html`<tr-page-status></tr-page-status>`,
  },
};

const NOT_FOUND: Page = {
  title: "Not found",
  load: () => import("./pages/not-found.ts"),
  view: () => html`<tr-page-not-found></tr-page-not-found>`,
};

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { system: "system", light: "sun", dark: "moon" };

export class App extends LitElement {
  static override properties = {
    _route: { state: true },
    _theme: { state: true },
    _failed: { state: true },
    _isMenuOpen: { state: true },
  };

  declare _route: Route | undefined;
  declare _theme: Theme;
  declare _failed: boolean;
  /** On a narrow screen the pages are behind a button. */
  declare _isMenuOpen: boolean;

  static override styles = [controls, appStyles];

  readonly #router = new Router((route) => void this.#show(route));

  constructor() {
    super();
    this._route = undefined;
    this._theme = currentTheme();
    this._failed = false;
    this._isMenuOpen = false;
    new HotkeyController(this, { "?": () => this.#help() });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#router.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#router.stop();
  }

  override render(): TemplateResult {
    const route = this._route;
    return html`
      <header @keydown=${this.#onHeaderKey}>
        <a class="skip" href="#main" @click=${this.#skip}>Skip to the content</a>
        <a class="brand" href="#/discover" aria-label="Tailrace">${logo()}<span>Tailrace</span></a>
        <button class="plain menu" aria-expanded=${this._isMenuOpen} aria-controls="pages" @click=${this.#toggleMenu}>
          ${icon("menu")}${(PAGES[route?.page ?? ""] ?? NOT_FOUND).title}</button>
        <nav id="pages" aria-label="Pages" class=${this._isMenuOpen ? "open" : ""} @click=${this.#closeMenu}>
          ${Object.entries(PAGES).map(
            ([name, { title }]) =>
              html`<a href="#/${name}" aria-current=${route?.page === name ? "page" : nothing}>${title}</a>`,
          )}
        </nav>
        <span class="space"></span>
        <button class="plain icon" aria-label="Theme: ${this._theme}" title="Theme: ${this._theme}" @click=${this.#nextTheme}>${icon(THEME_ICONS[this._theme])}</button>
        <button class="plain icon" aria-label="Help" title="Help (?)" @click=${this.#help}>${icon("help")}</button>
      </header>
      <main id="main" tabindex="-1">${this.#content(route)}</main>
      <tr-help-dialog></tr-help-dialog>
    `;
  }

  #content(route: Route | undefined): TemplateResult {
    if (this._failed)
      return html`<div class="failed" role="alert">
        <p>This page can't be loaded. The hub may have been updated or be away.</p>
        <button @click=${() => location.reload()}>Load again</button>
      </div>`;
    if (route === undefined) return html``;
    return (PAGES[route.page] ?? NOT_FOUND).view(route.parameters);
  }

  async #show(route: Route): Promise<void> {
    const page = PAGES[route.page] ?? NOT_FOUND;
    document.title = `${page.title} · Tailrace`;
    try {
      await page.load();
      this._failed = false;
    } catch {
      this._failed = true;
    }
    this._route = route;
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.renderRoot.querySelector("main")?.focus();
  }

  #help(): void {
    this.renderRoot.querySelector("tr-help-dialog")?.show();
  }

  #toggleMenu(): void {
    this._isMenuOpen = !this._isMenuOpen;
  }

  #onHeaderKey(event: KeyboardEvent): void {
    if (event.key !== "Escape" || !this._isMenuOpen) return;
    event.preventDefault();
    this.#closeMenu();
    this.renderRoot.querySelector<HTMLElement>("button.menu")?.focus();
  }

  #closeMenu(): void {
    this._isMenuOpen = false;
  }

  #nextTheme(): void {
    this._theme = THEMES[(THEMES.indexOf(this._theme) + 1) % THEMES.length]!;
    chooseTheme(this._theme);
  }
}

customElements.define("tr-app", App);

declare global {
  interface HTMLElementTagNameMap {
    "tr-app": App;
  }
}
