/** The shell: navigation, theme, help, and the page of the current address, loaded on demand. */

import { msg, str } from "@lit/localize";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { HotkeyController } from "#ui/components/controls/hotkeys.ts";
import { LateDrawing, nextFrame } from "#ui/components/controls/next-frame.ts";
import { type IconName, icon, logo } from "#ui/components/style/icons.ts";
import { controls } from "#ui/components/style/styles.ts";
import { forgetOwn, isOpen } from "#ui/services/browser/own-texts.ts";
import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";
import { type Route, Router } from "#ui/services/browser/router.ts";
import { reloadUnlessEdited } from "#ui/services/browser/sign-in.ts";
import { chooseTheme, currentTheme, THEME_EVENT, THEMES, type Theme } from "#ui/services/browser/theme.ts";
import { LOOK_TEXTS } from "#ui/services/browser/theme-labels.ts";
import type { ExportRequest } from "#ui/services/discover/export-job.ts";
import { HUB_BACK_EVENT, knownViewer, signOut, type Viewer } from "#ui/services/hub/session-client.ts";
import { appStyles } from "./app-styles.ts";
import { NOT_FOUND, PAGES, type Page, pagesFor } from "./page-list.ts";
import "#ui/components/shell/connection-badge.ts";

const THEME_ICONS: Readonly<Record<Theme, IconName>> = {
  system: "system",
  light: "sun",
  dark: "moon",
  contrast: "contrast",
};

type Menu = "pages" | "manage" | "user";

export class App extends LitElement {
  @state() accessor _route: Route | undefined;
  @state() accessor _theme: Theme = currentTheme();
  @state() accessor _failed = false;
  /** The open menu; "pages" only on narrow screens. */
  @state() accessor _menu: Menu | undefined;
  @state() accessor _viewer: Viewer | undefined;
  /** The last sign-out failed. */
  @state() accessor _isStillSignedIn = false;
  /** True if help was never opened in this browser: a dot on its button then points to the first steps. */
  @state() accessor _isNew: boolean = readPreference("helped") === undefined;

  static override styles = [controls, appStyles];

  readonly #router = new Router((route) => void this.#show(route));
  /** The hints were requested on a page that has none. */
  #wantsTour = false;
  /** The newest route, whose page may still be loading. */
  #asked: Route | undefined;
  readonly #late = new LateDrawing();
  readonly #onTheme = (): void => {
    this._theme = currentTheme();
  };
  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void this.#palette();
  };
  readonly #onPointer = (event: Event): void => {
    const isInside = event.composedPath().some((one) => one instanceof Element && one.matches("header"));
    if (!isInside) this._menu = undefined;
  };
  readonly #onHubBack = (): void => {
    if (this._viewer === undefined) void this.#learnViewer();
  };
  /** Somebody signed out or in on another tab: both share the session. */
  readonly #onStorage = (): void => {
    if (this._viewer !== undefined && !isOpen(this._viewer.name)) reloadUnlessEdited();
  };

  constructor() {
    super();
    new HotkeyController(this, { "?": () => void this.#help() });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#router.start();
    addEventListener(THEME_EVENT, this.#onTheme);
    addEventListener("keydown", this.#onKey);
    addEventListener("pointerdown", this.#onPointer);
    addEventListener(HUB_BACK_EVENT, this.#onHubBack);
    addEventListener("storage", this.#onStorage);
    void this.#learnViewer();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#router.stop();
    removeEventListener(THEME_EVENT, this.#onTheme);
    removeEventListener("keydown", this.#onKey);
    removeEventListener("pointerdown", this.#onPointer);
    removeEventListener(HUB_BACK_EVENT, this.#onHubBack);
    removeEventListener("storage", this.#onStorage);
  }

  override render(): TemplateResult {
    const route = this._route;
    const theme = msg(str`Theme: ${LOOK_TEXTS[this._theme]!}`);
    const find = msg("Go to … (Ctrl+K)");
    return html`
      <header @keydown=${this.#onHeaderKey}>
        <a class="skip" href="#main" @click=${this.#skip}>${msg("Skip to the content")}</a>
        <a class="brand" href="#/discover" aria-label="Tailrace">${logo()}<span>Tailrace</span></a>
        <button class="plain menu" aria-expanded=${this._menu === "pages"} aria-controls="pages" @click=${() => this.#toggle("pages")}>
          ${icon("menu")}${(PAGES[route?.page ?? ""] ?? NOT_FOUND).title}</button>
        ${this.#pages(route)}
        <span class="space"></span>
        <tr-connection-badge></tr-connection-badge>
        <button class="plain icon" aria-label=${find} title=${find} @click=${this.#palette}>${icon("search")}</button>
        <button class="plain icon" aria-label=${theme} title=${theme} @click=${this.#nextTheme}>${icon(THEME_ICONS[this._theme])}</button>
        <button class="plain icon help ${this._isNew ? "new" : ""}" aria-label=${msg("Help")} title=${this._isNew ? msg("First steps and help (?)") : msg("Help (?)")} @click=${this.#help}>${icon("help")}</button>
        ${this.#user()}
      </header>
      <main id="main" tabindex="-1" @tr-export=${this.#onExport} @tr-first-lines=${this.#onFirstLines}>${this.#content(route)}</main>
      <tr-help-dialog @tr-tour=${() => void this.#tour()}></tr-help-dialog>
      <tr-tour></tr-tour>
      <tr-command-palette></tr-command-palette>
      <tr-export-tray></tr-export-tray>
    `;
  }

  #pages(route: Route | undefined): TemplateResult {
    const link = ([name, { title }]: [string, Page]): TemplateResult =>
      html`<a href="#/${name}" aria-current=${route?.page === name ? "page" : nothing}>${title}</a>`;
    const pages = pagesFor(this._viewer?.role);
    const of = (place: Page["place"]): [string, Page][] => pages.filter(([, page]) => page.place === place);
    const isManaging = PAGES[route?.page ?? ""]?.place === "manage";
    const isOpen = this._menu === "manage";
    return html`<nav id="pages" aria-label=${msg("Pages")} class=${this._menu === "pages" ? "open" : ""} @click=${this.#onNavigate}>
      ${of("work").map(link)}
      <div class="group ${isOpen ? "open" : ""}">
        <button class="plain" aria-expanded=${isOpen} aria-controls="manage" data-current=${isManaging ? "" : nothing}
          @click=${() => this.#toggle("manage")}>${msg("Administration")}${icon("chevronDown")}</button>
        <div id="manage" class="list">${of("manage").map(link)}</div>
      </div>
    </nav>`;
  }

  #user(): TemplateResult | typeof nothing {
    const viewer = this._viewer;
    if (viewer?.canSignOut !== true) return nothing;
    const isOpen = this._menu === "user";
    return html`<div class="group user ${isOpen ? "open" : ""}">
      <button class="plain" aria-expanded=${isOpen} aria-controls="user" @click=${() => this.#toggle("user")}>${icon("user")}<span>${viewer.name}</span></button>
      <div id="user" class="list" @click=${this.#onNavigate}><p>${viewer.name}<br />${viewer.role}</p>
        <a href="#/account" aria-current=${this._route?.page === "account" ? "page" : nothing}>${PAGES["account"]!.title}</a>
        <button class="plain" @click=${() => void this.#signOut()}>${msg("Sign out")}</button>
        ${this._isStillSignedIn ? html`<p role="alert">${msg("You are still signed in: the hub didn't answer. Try again.")}</p>` : nothing}</div>
    </div>`;
  }

  #content(route: Route | undefined): TemplateResult {
    if (this._failed)
      return html`<div class="failed" role="alert">
        <p>${msg("This page can't be loaded. The hub may have been updated or be away.")}</p>
        <button @click=${() => location.reload()}>${msg("Reload")}</button>
      </div>`;
    if (route === undefined) return html``;
    return (PAGES[route.page] ?? NOT_FOUND).view(route.parameters);
  }

  async #show(route: Route): Promise<void> {
    const page = PAGES[route.page] ?? NOT_FOUND;
    this.#asked = route;
    document.title = `${page.title} · Tailrace`;
    if (route.page === this._route?.page && !this._failed) {
      this._route = route;
      return;
    }
    const isLoaded = await page.load().then(
      () => true,
      () => false,
    );
    const arrive = (): void => {
      // A user who has gone elsewhere meanwhile isn't taken back.
      if (this.#asked !== route) return;
      this._failed = !isLoaded;
      this._route = route;
    };
    if (this._route === undefined) arrive();
    else if (this.#asked === route) this.#late.defer(arrive);
  }

  /** Loaded after the page, which doesn't wait for it. */
  async #learnViewer(): Promise<void> {
    await nextFrame();
    this._viewer = await knownViewer();
  }

  #skip(event: Event): void {
    event.preventDefault();
    this.renderRoot.querySelector("main")?.focus();
  }

  async #help(): Promise<void> {
    this._isNew = false;
    writePreference("helped", "yes");
    await this.#overlays();
    await this.renderRoot.querySelector("tr-help-dialog")?.show();
  }

  async #palette(): Promise<void> {
    const overlays = await this.#overlays();
    if (overlays === undefined) return;
    const { firstCommands, moreCommands } = overlays;
    const first = firstCommands(pagesFor(this._viewer?.role), () => void this.#help());
    await this.renderRoot.querySelector("tr-command-palette")?.show(first, moreCommands());
  }

  async #overlays(): Promise<typeof import("./commands.ts") | undefined> {
    try {
      return await import("./commands.ts");
    } catch {
      this._failed = true;
      return undefined;
    }
  }

  async #onExport({ detail }: CustomEvent<ExportRequest>): Promise<void> {
    try {
      await import("./components/shell/export-tray.ts");
      this.renderRoot.querySelector("tr-export-tray")?.start(detail);
    } catch {
      this._failed = true;
    }
  }

  /** A new user gets hints beside the first lines; a program that drives the browser needs none. */
  #onFirstLines(): void {
    if (!this.#wantsTour && (readPreference("tour") !== undefined || navigator.webdriver)) return;
    void this.#startTour();
  }

  /** Shows the hints, on the page that has them. */
  async #tour(): Promise<void> {
    if (await this.#startTour()) return;
    this.#wantsTour = true;
    location.hash = "#/discover";
  }

  async #startTour(): Promise<boolean> {
    try {
      await import("./components/shell/tour.ts");
    } catch {
      return false;
    }
    if (this.renderRoot.querySelector("tr-tour")?.start() !== true) return false;
    this.#wantsTour = false;
    writePreference("tour", "shown");
    return true;
  }

  async #signOut(): Promise<void> {
    this._isStillSignedIn = false;
    const isOut = await signOut();
    if (isOut) forgetOwn();
    this._isStillSignedIn = !isOut;
  }

  #toggle(menu: Menu): void {
    this._menu = this._menu === menu ? undefined : menu;
  }

  #onHeaderKey(event: KeyboardEvent): void {
    if (event.key !== "Escape" || this._menu === undefined) return;
    event.preventDefault();
    this.renderRoot.querySelector<HTMLElement>("header [aria-expanded=true]")?.focus();
    this._menu = undefined;
  }

  #onNavigate(event: Event): void {
    if ((event.target as Element).closest("a") !== null) this._menu = undefined;
  }

  #nextTheme(): void {
    chooseTheme(THEMES[(THEMES.indexOf(this._theme) + 1) % THEMES.length]!);
  }
}

customElements.define("tr-app", App);

declare global {
  interface HTMLElementTagNameMap {
    "tr-app": App;
  }
}
