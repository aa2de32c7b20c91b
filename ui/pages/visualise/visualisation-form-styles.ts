/** Layout of the form that defines a visualisation. */

import { css } from "lit";

export const formStyles = css`
      :host {
        display: block;
      }
      fieldset {
        display: grid;
        gap: 8px;
        margin: 0;
        padding: 14px 16px;
        border: 0;
        border-bottom: 1px solid var(--line);
      }
      legend {
        float: left;
        padding: 0;
        color: var(--ink-muted);
        font-size: var(--text-small);
        font-weight: 600;
      }
      label {
        display: grid;
        gap: 3px;
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      select,
      input,
      textarea {
        width: 100%;
        font-size: var(--text);
      }
      textarea {
        padding: 6px 9px;
        border: 1px solid var(--control-line);
        border-radius: var(--radius);
        background: var(--surface);
        color: var(--ink);
        resize: vertical;
      }
      details {
        color: var(--ink-muted);
        font-size: var(--text-small);
      }
      details ul {
        margin: 6px 0;
        padding: 0;
        list-style: none;
      }
      details li button {
        height: auto;
        min-height: 24px;
        padding: 3px 0;
        color: var(--accent);
        font-weight: 400;
        text-align: left;
        white-space: normal;
        overflow-wrap: anywhere;
      }
      details p {
        margin: 6px 0 0;
      }
      .charts {
        display: grid;
        grid-template-columns: repeat(3, 1fr);
        gap: 6px;
      }
      .charts button {
        flex-direction: column;
        gap: 2px;
        height: 54px;
        padding: 0;
        font-size: 0.6875rem;
      }
      .charts svg {
        width: 20px;
        height: 20px;
      }
      .check {
        display: flex;
        align-items: center;
        gap: 6px;
        min-height: 24px;
      }
      .check input {
        width: 16px;
        height: 16px;
      }
      .halves {
        display: grid;
        grid-template-columns: 1fr 1fr;
        gap: 8px;
      }
      .pair {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 5rem;
        gap: 8px;
      }
    `;
