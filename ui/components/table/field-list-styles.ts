/** Looks of the list of fields. */

import { css } from "lit";

export const fieldListStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }
  input {
    margin: 10px 10px 6px;
    flex: none;
  }
  .list {
    flex: 1;
    min-height: 0;
    overflow-y: auto;
    padding: 0 6px 10px;
  }
  h3 {
    margin: 8px 6px 3px;
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-weight: 600;
  }
  .field {
    display: flex;
    align-items: center;
    border-radius: var(--radius);
  }
  .field:hover,
  .field.open {
    background: var(--surface-hover);
  }
  .name {
    flex: 1;
    justify-content: flex-start;
    min-width: 0;
    height: 26px;
    padding: 0 4px;
    font-weight: 400;
  }
  .name span:last-child {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .type {
    flex: none;
    width: 18px;
    color: var(--accent);
    font: 600 10px var(--font-mono);
    text-align: center;
  }
  .column {
    opacity: 0;
  }
  .field:hover .column,
  .field:focus-within .column,
  .column[aria-pressed="true"] {
    opacity: 1;
  }
  .values {
    margin: 2px 4px 8px 24px;
    padding: 0;
    list-style: none;
    font-size: var(--text-small);
  }
  .value {
    display: grid;
    grid-template-columns: 1fr auto auto auto;
    align-items: center;
    gap: 0 4px;
    margin-bottom: 3px;
  }
  .value .text {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    font-family: var(--font-mono);
  }
  progress {
    grid-column: 1 / 3;
    appearance: none;
    width: 100%;
    height: 3px;
    border: 0;
    border-radius: 2px;
    overflow: hidden;
    background: var(--line);
  }
  progress::-webkit-progress-bar {
    background: var(--line);
  }
  progress::-webkit-progress-value {
    background: var(--accent);
  }
  progress::-moz-progress-bar {
    background: var(--accent);
  }
  .value button {
    grid-row: 1 / 3;
  }
  .value button:nth-of-type(1) {
    grid-column: 3;
  }
  .value button:nth-of-type(2) {
    grid-column: 4;
  }
  .note {
    margin: 0 0 4px;
    color: var(--ink-muted);
  }
`;
