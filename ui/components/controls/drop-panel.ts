/** A panel that a button unfolds below itself, over the page: a popover, which Escape and a press elsewhere close. */

import { css } from "lit";

/** Room left between the panel and the window's edges. */
const EDGE_PX = 8;

export const dropPanel = css`
  .panel {
    position: fixed;
    inset: auto;
    width: min(26rem, calc(100vw - 16px));
    max-height: 70vh;
    margin: 0;
    padding: 14px 16px;
    overflow: auto;
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

/** Opens or closes the panel behind the button, within the window; an open one has the focus. */
export function toggleDropPanel(button: HTMLElement): void {
  const panel = button.nextElementSibling;
  if (!(panel instanceof HTMLElement) || !panel.togglePopover()) return;
  panel.tabIndex = -1;
  panel.focus();
  panel.addEventListener("beforetoggle", () => giveBack(panel, button), { once: true });
  const { left, bottom } = button.getBoundingClientRect();
  const farthestPx = innerWidth - panel.offsetWidth - EDGE_PX;
  panel.style.top = `${bottom + 4}px`;
  panel.style.left = `${Math.max(EDGE_PX, Math.min(left, farthestPx))}px`;
}

/** Whoever closes the panel from within is back at the button; whoever has gone elsewhere stays there. */
function giveBack(panel: HTMLElement, button: HTMLElement): void {
  if (panel.matches(":focus-within")) button.focus();
}
