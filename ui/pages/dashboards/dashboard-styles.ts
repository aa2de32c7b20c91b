/** Layout of a dashboard: a bar, and panels on a grid of twelve columns. */

import { css } from "lit";

export const dashboardStyles = css`
  .said {
    position: fixed;
    z-index: 12;
    right: 16px;
    bottom: 16px;
    padding: 6px 12px;
    border-radius: var(--radius);
    background: var(--ink);
    color: var(--surface);
  }
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .bar {
    display: flex;
    align-items: center;
    gap: 8px;
    padding: 10px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
  .bar h1 {
    margin: 0 8px 0 2px;
    min-width: 5rem;
    overflow: hidden;
    font-size: 1.05rem;
    font-weight: 600;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  /* It gives its room away before the title does. */
  .bar form {
    flex: 1 1000 14rem;
    display: flex;
    min-width: 8rem;
  }
  .bar > :not(h1, form) {
    flex: none;
  }
  .bar form input {
    flex: 1;
    min-width: 0;
    font-family: var(--font-mono);
  }
  .editor {
    display: flex;
    align-items: center;
    gap: 8px;
    padding: 8px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--accent-soft);
  }
  .editor tr-panel-picker {
    flex: 0 1 16rem;
    min-width: 11rem;
  }
  .editor > :not(tr-panel-picker, [role="status"]) {
    flex: none;
  }
  /* Its whole text is its title, too. */
  .editor [role="status"] {
    flex: 1 1 0;
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .newest,
  .unsaved {
    margin: 12px 12px 0;
  }
  .unsaved {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 8px;
  }
  .unsaved p {
    margin: 0;
  }
  @media print {
    .unsaved {
      display: none;
    }
  }
  .grid {
    flex: 1;
    display: grid;
    grid-template-columns: repeat(12, minmax(0, 1fr));
    align-content: start;
    gap: 12px;
    min-height: 0;
    padding: 12px;
    overflow: auto;
  }
  .grid > .notice,
  .grid > .empty {
    grid-column: 1 / -1;
  }
  .panel {
    display: flex;
    flex-direction: column;
    min-width: 0;
    height: 300px;
    padding: 8px 12px 10px;
    border: 1px solid var(--line);
    border-radius: 8px;
    background: var(--surface);
  }
  .panel.low {
    height: 170px;
  }
  .panel.high {
    height: 440px;
  }
  .w3 {
    grid-column: span 3;
  }
  .w4 {
    grid-column: span 4;
  }
  .w6 {
    grid-column: span 6;
  }
  .w8 {
    grid-column: span 8;
  }
  .w12 {
    grid-column: span 12;
  }
  .panel header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 2px;
    min-height: 26px;
    margin-bottom: 4px;
  }
  .panel header.bare {
    min-height: 0;
    margin: 0;
  }
  .panel h2 {
    flex: 1 1 6rem;
    min-width: 0;
    margin: 0;
    overflow: hidden;
    font-size: var(--text);
    font-weight: 600;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .panel h2 a {
    color: inherit;
    text-decoration: none;
  }
  .panel h2 a:hover {
    color: var(--accent);
    text-decoration: underline;
  }
  tr-visualisation-panel {
    flex: 1;
  }
  .panel {
    position: relative;
  }
  .panel.held {
    border-color: var(--accent);
    box-shadow: 0 8px 24px var(--shadow);
  }
  .movable {
    cursor: move;
    touch-action: none;
  }
  .reading {
    display: inline-flex;
    gap: 2px;
  }
  .reading a {
    color: inherit;
  }
  .corner {
    position: absolute;
    right: 0;
    bottom: 0;
    width: 20px;
    height: 20px;
    border-right: 3px solid var(--line-strong);
    border-bottom: 3px solid var(--line-strong);
    border-radius: 0 0 8px;
    cursor: nwse-resize;
    touch-action: none;
  }
  .empty {
    padding: 48px 20px;
    color: var(--ink-muted);
    text-align: center;
  }
  .empty h2 {
    margin: 0 0 4px;
    color: var(--ink);
    font-size: var(--text-large);
  }
  @media (width < 1100px) {
    .w3,
    .w4 {
      grid-column: span 6;
    }
    .w8 {
      grid-column: span 12;
    }
  }
  @media (width < 900px) {
    .bar,
    .editor {
      flex-wrap: wrap;
    }
    .bar h1 {
      overflow-wrap: anywhere;
      white-space: normal;
    }
    .editor [role="status"] {
      flex: 1 1 12rem;
      white-space: normal;
    }
  }
  @media (width < 700px) {
    .bar tr-time-range-picker {
      flex: 1 1 100%;
    }
    .w3,
    .w4,
    .w6,
    .w8,
    .w12 {
      grid-column: span 12;
    }
  }
  :host(:fullscreen) {
    overflow: auto;
    background: var(--canvas);
  }
  @media print {
    :host {
      display: block;
      height: auto;
    }
    .bar > :not(h1),
    .editor,
    .reading {
      display: none;
    }
    .grid {
      display: block;
      overflow: visible;
    }
    .panel {
      margin-bottom: 12px;
      break-inside: avoid;
    }
  }
`;
