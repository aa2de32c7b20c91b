/** Layout of the page Visualise, and of the form that defines a visualisation. */

import { css } from "lit";
import { barPage } from "#ui/components/style/styles.ts";

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

export const visualiseStyles = css`
  ${barPage}
  .work {
    flex: 1;
    display: grid;
    grid-template-columns: 18rem minmax(0, 1fr);
    min-height: 0;
  }
  aside {
    overflow: auto;
    border-right: 1px solid var(--line);
    background: var(--surface);
  }
  .main {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
    padding: 12px 16px;
    overflow: auto;
    background: var(--surface);
  }
  .head {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px;
    margin-bottom: 10px;
  }
  .head h1 {
    flex: 1 1 10rem;
    min-width: 0;
    margin: 0;
    font-size: var(--text-large);
    font-weight: 600;
    overflow-wrap: anywhere;
  }
  tr-visualisation-panel {
    flex: 1 0 20rem;
  }
  tr-json-view {
    flex: none;
    max-height: 45%;
    margin-top: 10px;
    overflow: auto;
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--surface-sunken);
  }
  @media (width < 900px) {
    .work {
      grid-template-columns: minmax(0, 1fr);
      grid-template-rows: auto auto;
      overflow: auto;
    }
    .main {
      order: -1;
      min-height: 32rem;
      overflow: visible;
    }
    aside {
      border: 0;
      border-top: 1px solid var(--line);
      overflow: visible;
    }
  }
`;
