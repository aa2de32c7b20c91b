/**
 * A panel that a button opens beside itself, over the page: a popover, closed by Escape or a click elsewhere. It stays
 * within the window and never covers its button.
 */

import { css, type ReactiveControllerHost } from "lit";

/** Space left between the panel and the window's edges. */
const EDGE_PX = 8;
/** Space left between the panel and its button. */
const GAP_PX = 4;
/** A panel that is higher scrolls. */
const MAX_SHARE_OF_WINDOW = 0.7;

export const dropPanel = css`
  .panel {
    position: fixed;
    inset: auto;
    width: min(26rem, calc(100vw - 16px));
    margin: 0;
    padding: 14px 16px;
    overflow: hidden auto;
    overflow-wrap: anywhere;
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    color: var(--ink);
    box-shadow: 0 14px 34px var(--shadow);
    font-size: var(--text);
  }
  .panel h2 {
    margin: 0 0 8px;
    font-size: var(--text);
    font-weight: 600;
  }
`;

/** Calls `close` when the pointer is pressed outside of an element, while that is in the page. */
export function closeOutside(host: ReactiveControllerHost & HTMLElement, close: () => void): void {
  const onPress = (event: Event): void => {
    if (!event.composedPath().includes(host)) close();
  };
  host.addController({
    hostConnected: () => document.addEventListener("pointerdown", onPress),
    hostDisconnected: () => document.removeEventListener("pointerdown", onPress),
  });
}

/** Opens or closes the panel behind the button, within the window; an open one has the focus. */
export function toggleDropPanel(button: HTMLElement): void {
  const panel = button.nextElementSibling;
  if (!(panel instanceof HTMLElement) || !panel.togglePopover()) return;
  panel.tabIndex = -1;
  panel.focus();
  panel.addEventListener("beforetoggle", () => giveBack(panel, button), { once: true });
  placePanel(panel, button);
}

/** Puts an open popover with `inset: auto` below its button, or above where more of it fits there; moves it into the window. */
export function placePanel(panel: HTMLElement, button: HTMLElement): void {
  const { left, top, bottom } = button.getBoundingClientRect();
  const belowPx = innerHeight - bottom - GAP_PX - EDGE_PX;
  const abovePx = top - GAP_PX - EDGE_PX;
  const highestPx = innerHeight * MAX_SHARE_OF_WINDOW;
  // As wide and high as its content.
  panel.style.left = "0";
  panel.style.maxHeight = `${highestPx}px`;
  const isAbove = panel.offsetHeight > belowPx && abovePx > belowPx;
  panel.style.maxHeight = `${Math.min(highestPx, isAbove ? abovePx : belowPx)}px`;
  panel.style.top = isAbove ? "auto" : `${bottom + GAP_PX}px`;
  // From below: content that is loaded later makes the panel higher.
  panel.style.bottom = isAbove ? `${innerHeight - top + GAP_PX}px` : "auto";
  // Without the page's scroll bar, which would cover the panel's edge.
  const farthestPx = document.documentElement.clientWidth - panel.offsetWidth - EDGE_PX;
  panel.style.left = `${Math.max(EDGE_PX, Math.min(left, farthestPx))}px`;
}

/** Closing the panel from within moves the focus back to the button; a focus elsewhere stays there. */
function giveBack(panel: HTMLElement, button: HTMLElement): void {
  if (panel.matches(":focus-within")) button.focus();
}
