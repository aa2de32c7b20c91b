/** Style sheets that several components share. */

import { css } from "lit";

/** Boxes, focus rings and controls. */
export const controls = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  [hidden] {
    display: none !important;
  }
  :focus-visible,
  input:focus-within {
    outline: 2px solid var(--focus);
    outline-offset: 1px;
  }
  button,
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    height: var(--control);
    min-width: var(--control);
    padding: 0 10px;
    border: 1px solid var(--line-strong);
    border-radius: var(--radius);
    background: var(--surface);
    color: var(--ink);
    font: inherit;
    font-weight: 500;
    white-space: nowrap;
    text-decoration: none;
    cursor: pointer;
  }
  button:hover,
  .button:hover {
    background: var(--surface-hover);
  }
  button.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--accent-ink);
    font-weight: 600;
  }
  button.primary:hover {
    border-color: var(--accent-hover);
    background: var(--accent-hover);
  }
  button.plain,
  .button.plain {
    border-color: transparent;
    background: none;
  }
  button.plain:hover,
  .button.plain:hover {
    background: var(--surface-hover);
  }
  button.icon {
    padding: 0;
    width: var(--control);
  }
  button.small,
  .button.small {
    height: 24px;
    min-width: 24px;
    padding: 0 6px;
    font-size: var(--text-small);
  }
  button.small.icon,
  .button.small.icon {
    width: 24px;
    padding: 0;
  }
  button[aria-pressed="true"] {
    border-color: var(--accent);
    background: var(--accent-soft);
    color: var(--accent);
  }
  button.destructive {
    border-color: var(--level-error);
    background: var(--level-error);
    color: var(--surface);
    font-weight: 600;
  }
  button.destructive.outline {
    background: none;
    color: var(--level-error);
  }
  button.destructive.outline:hover {
    background: color-mix(in srgb, var(--level-error) 10%, transparent);
  }
  button.destructive:disabled {
    border-color: var(--line-strong);
    background: var(--surface);
    color: var(--ink-faint);
  }
  button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  input,
  select {
    height: var(--control);
    min-width: 0;
    padding: 0 9px;
    border: 1px solid var(--control-line);
    border-radius: var(--radius);
    background: var(--surface);
    color: var(--ink);
    font: inherit;
  }
  input:placeholder-shown {
    text-overflow: ellipsis;
  }
  input::placeholder {
    color: var(--ink-faint);
    opacity: 1;
  }
  svg {
    flex: none;
    width: 16px;
    height: 16px;
    fill: none;
    stroke: currentColor;
    stroke-width: 1.7;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  a {
    color: var(--accent);
  }
  mark {
    border-radius: 2px;
    background: var(--mark);
    color: var(--mark-ink);
  }
  .mono {
    font-family: var(--font-mono);
  }
  .muted {
    color: var(--ink-muted);
  }
  .hidden-text {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      transition: none !important;
    }
  }
`;

/** Rows of log lines: one height, levels by letter and colour. */
export const logRows = css`
  .row {
    font: var(--text-small) / var(--row-height) var(--font-mono);
    font-variant-ligatures: none;
    color: var(--ink);
    --level: transparent;
  }
  .row[data-level="1"] {
    --level: var(--level-trace);
  }
  .row[data-level="2"] {
    --level: var(--level-debug);
  }
  .row[data-level="3"] {
    --level: var(--level-info);
  }
  .row[data-level="4"] {
    --level: var(--level-warn);
  }
  .row[data-level="5"] {
    --level: var(--level-error);
  }
  .row[data-level="6"] {
    --level: var(--level-fatal);
  }
  .row::before {
    content: "";
    position: absolute;
    inset: 3px auto 3px 0;
    width: 3px;
    border-radius: 0 2px 2px 0;
    background: var(--level);
  }
  .row .time {
    color: var(--ink-muted);
  }
  .row .level {
    color: var(--level);
    font-weight: 600;
    text-transform: uppercase;
  }
`;

/** Frame of modal dialogs. */
export const dialogFrame = css`
  dialog {
    border: 1px solid var(--line-strong);
    border-radius: 10px;
    background: var(--surface);
    color: var(--ink);
    box-shadow: 0 24px 60px var(--shadow);
  }
  dialog::backdrop {
    background: #0007;
  }
`;

/** A page that fills the window, with a bar above what scrolls. */
export const barPage = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
    height: 100%;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    padding: 10px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
`;

/** A page with several views side by side, each a section, below a heading. */
export const splitPage = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .head {
    display: flex;
    align-items: center;
    gap: 12px;
    padding: 6px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
  h1 {
    margin: 0;
    font-size: var(--text-large);
    font-weight: 600;
  }
  section {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .close {
    align-self: end;
  }
`;

/** Boxes with a notice: information, a warning or a fault. */
export const notices = css`
  .notice {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 12px;
    padding: 10px 14px;
    border: 1px solid var(--line);
    border-left: 3px solid var(--accent);
    border-radius: var(--radius);
    background: var(--surface);
  }
  .notice.fault {
    border-left-color: var(--level-error);
  }
  .notice.warning {
    border-left-color: var(--level-warn);
  }
  .notice strong {
    font-weight: 600;
  }
  .notice p {
    margin: 0;
    min-width: 0;
    overflow-wrap: anywhere;
  }
`;
