/**
 * Single-letter shortcuts of a page; off while the user types, with a modifier, behind a dialog, or within `data-idle`.
 */

import type { LitElement, ReactiveController, ReactiveControllerHost } from "lit";
import { hasLetterKeys } from "#ui/services/browser/preferences.ts";

export type Hotkeys = Readonly<Record<string, () => void>>;

const TYPING = "input, textarea, select, [contenteditable]";
/** Elements that Enter and the space bar activate: those keys belong to them. */
const PRESSED = "button, a, summary, [role=option]";
const PRESSING: ReadonlySet<string> = new Set(["Enter", " "]);

export class HotkeyController implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #keys: Hotkeys;
  readonly #listen = (event: KeyboardEvent): void => this.#press(event);

  /** `keys` by KeyboardEvent.key. */
  constructor(host: ReactiveControllerHost, keys: Hotkeys) {
    this.#host = host;
    this.#keys = keys;
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener("keydown", this.#listen);
  }

  hostDisconnected(): void {
    document.removeEventListener("keydown", this.#listen);
  }

  #press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = Object.hasOwn(this.#keys, event.key) ? this.#keys[event.key] : undefined;
    if (action === undefined || (event.key.length === 1 && !hasLetterKeys())) return;
    const path = event.composedPath().filter((target) => target instanceof Element);
    const isOver = path.some((element) => element.matches("dialog, [popover]"));
    if (PRESSING.has(event.key) && path[0]?.matches(PRESSED)) return;
    if (isOver || (event.key !== "Escape" && path[0]?.matches(TYPING))) return;
    if (this.#host instanceof Element && isIdle(this.#host)) return;
    event.preventDefault();
    action();
  }
}

/** Adds the keys of a page with a list: `/` moves the focus to its search field, `r` refreshes it. */
export function addListKeys(page: LitElement, refresh: () => void): void {
  new HotkeyController(page, {
    "/": () => page.renderRoot.querySelector<HTMLElement>("input[type=search]")?.focus(),
    r: refresh,
  });
}

/** Returns true within a part of the page that was not used last. */
function isIdle(host: Element): boolean {
  for (let at: Element | null = host; at !== null; ) {
    if (at.closest("[data-idle]") !== null) return true;
    const root = at.getRootNode();
    at = root instanceof ShadowRoot ? root.host : null;
  }
  return false;
}
