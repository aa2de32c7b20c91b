/** Layout of the console: editor and answers side by side, one above the other on a narrow screen. */

import { css } from "lit";

export const consoleStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px;
    padding: 8px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
  .bar .space {
    flex: 1;
  }
  .bar kbd {
    padding: 0 4px;
    border: 1px solid color-mix(in srgb, currentColor 40%, transparent);
    border-radius: 3px;
    font: 0.6875rem / 15px var(--font);
  }
  .panes {
    flex: 1;
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    min-height: 0;
  }
  .panes.with-history {
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 20rem;
  }
  .answers {
    min-height: 0;
    overflow: auto;
    border-left: 1px solid var(--line);
    background: var(--surface-sunken);
  }
  .actions {
    display: flex;
    gap: 4px;
  }
  .actions button {
    box-shadow: 0 1px 6px var(--shadow);
  }
  article > header {
    position: sticky;
    z-index: 2;
    top: 0;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 10px;
    padding: 6px 10px 6px 14px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    font-size: var(--text-small);
    font-variant-numeric: tabular-nums;
  }
  article + article {
    border-top: 6px solid var(--line);
  }
  article h2 {
    flex: 1 1 5rem;
    min-width: 0;
    margin: 0;
    overflow: hidden;
    font: 600 var(--text-small) / 24px var(--font-mono);
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .state {
    padding: 1px 8px;
    border-radius: 10px;
    background: var(--accent-soft);
    color: var(--accent);
    font-weight: 600;
    white-space: nowrap;
  }
  .state.wrong {
    background: color-mix(in srgb, var(--level-warn) 16%, var(--surface));
    color: var(--level-warn);
  }
  .state.failed {
    background: color-mix(in srgb, var(--level-error) 14%, var(--surface));
    color: var(--level-error);
  }
  pre {
    margin: 0;
    padding: 10px 16px;
    overflow-x: auto;
    font: 0.8125rem / 20px var(--font-mono);
  }
  .reason {
    margin: 0;
    padding: 8px 14px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    overflow-wrap: anywhere;
  }
  .empty {
    display: grid;
    place-content: center;
    gap: 14px;
    height: 100%;
    padding: 24px;
    color: var(--ink-muted);
    text-align: center;
  }
  .empty dl {
    display: grid;
    grid-template-columns: auto auto;
    gap: 8px 16px;
    margin: 0 auto;
    text-align: left;
  }
  .empty dt {
    text-align: right;
  }
  .empty dd {
    margin: 0;
  }
  .empty kbd {
    padding: 1px 6px;
    border: 1px solid var(--line-strong);
    border-radius: 4px;
    background: var(--surface);
    font: var(--text-small) / 18px var(--font-mono);
  }
  aside {
    display: flex;
    flex-direction: column;
    min-height: 0;
    border-left: 1px solid var(--line);
    background: var(--surface);
  }
  aside header {
    display: flex;
    align-items: center;
    gap: 6px;
    padding: 8px 10px;
    border-bottom: 1px solid var(--line);
  }
  aside input {
    flex: 1;
  }
  aside ul {
    flex: 1;
    margin: 0;
    padding: 4px;
    overflow: auto;
    list-style: none;
  }
  aside li button {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto;
    gap: 0 8px;
    width: 100%;
    height: auto;
    padding: 6px 8px;
    border: 0;
    background: none;
    font-weight: 400;
    text-align: left;
  }
  aside li span {
    overflow: hidden;
    font: var(--text-small) / 18px var(--font-mono);
    text-overflow: ellipsis;
  }
  aside li small {
    color: var(--ink-faint);
    font-size: 0.6875rem;
  }
  aside li small.failed {
    color: var(--level-error);
  }
  aside p {
    padding: 0 12px;
    color: var(--ink-muted);
  }
  @media (width < 900px) {
    .panes,
    .panes.with-history {
      position: relative;
      grid-template-columns: minmax(0, 1fr);
      grid-template-rows: minmax(0, 1fr) minmax(0, 1fr);
    }
    .answers {
      border-left: 0;
      border-top: 1px solid var(--line-strong);
    }
    aside {
      position: absolute;
      z-index: 10;
      inset: 0 0 0 10%;
      box-shadow: 0 0 32px var(--shadow);
    }
    .bar button span,
    .bar kbd {
      display: none;
    }
  }
  .table {
    max-height: 70vh;
    overflow: auto;
    font-size: var(--text-small);
  }
  table {
    border-collapse: collapse;
  }
  th,
  td {
    max-width: 26rem;
    padding: 3px 10px;
    border-bottom: 1px solid var(--line);
    overflow: hidden;
    text-align: left;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  th {
    position: sticky;
    top: 0;
    background: var(--surface);
    font-weight: 600;
  }
  td {
    font-family: var(--font-mono);
  }
  .number {
    text-align: right;
  }
`;
