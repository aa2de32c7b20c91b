/** Styles of the details of a line. */

import { css } from "lit";

export const eventDetailsStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    background: var(--surface);
  }
  :host([iswide]) {
    position: absolute;
    z-index: 10;
    inset: 0;
    border: 0;
  }
  :host([iswide]) .message {
    max-height: 30vh;
  }
  @media (width < 900px) {
    /* It has the full width anyway. */
    .wide {
      display: none;
    }
  }
  header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px;
    padding: 7px 8px 7px 14px;
    border-bottom: 1px solid var(--line);
  }
  h2 {
    flex: 1;
    margin: 0;
    font: 600 var(--text) var(--font-mono);
    white-space: nowrap;
  }
  .message {
    margin: 0;
    padding: 10px 14px;
    max-height: 11rem;
    overflow: auto;
    border-bottom: 1px solid var(--line);
    background: var(--surface-sunken);
    font: var(--text-small) / 1.55 var(--font-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    gap: 6px;
    align-items: center;
    padding: 8px 14px;
  }
  .refused {
    margin: 0 14px;
    color: var(--level-warn);
  }
  .tools [role="group"] {
    display: inline-flex;
  }
  .tools [role="group"] button:not(:first-child) {
    margin-left: -1px;
    border-start-start-radius: 0;
    border-end-start-radius: 0;
  }
  .tools [role="group"] button:not(:last-child) {
    border-start-end-radius: 0;
    border-end-end-radius: 0;
  }
  .raw {
    color: var(--ink-faint);
  }
  .find {
    width: 100%;
    margin-bottom: 4px;
  }
  .content {
    flex: 1;
    min-height: 0;
    overflow: auto;
    padding: 0 14px 16px;
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: var(--text-small);
  }
  th,
  td {
    padding: 3px 8px 3px 0;
    border-top: 1px solid var(--line);
    text-align: left;
    vertical-align: top;
    line-height: 24px;
  }
  th {
    width: 40%;
    color: var(--ink-muted);
    font-weight: 500;
    overflow-wrap: anywhere;
  }
  td {
    font-family: var(--font-mono);
    overflow-wrap: anywhere;
  }
  td summary {
    color: var(--accent);
    font-family: var(--font);
    cursor: pointer;
  }
  td.actions {
    width: 1%;
    padding: 3px 0;
    white-space: nowrap;
  }
  td.actions button {
    color: var(--ink-faint);
  }
  tr:hover td.actions button,
  td.actions button:focus-visible {
    color: var(--ink);
  }
  @media (width < 700px) {
    /* Values below their names: beside them nothing would be left. */
    tr {
      display: grid;
      grid-template-columns: minmax(0, 1fr) auto;
    }
    th {
      grid-column: 1 / -1;
      width: auto;
      padding-bottom: 0;
    }
    td,
    td.actions {
      width: auto;
      padding-top: 0;
      border-top: 0;
    }
  }
  .content pre {
    margin: 0;
    padding: 10px 12px;
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface-sunken);
    font: var(--text-small) / 1.6 var(--font-mono);
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }
`;
