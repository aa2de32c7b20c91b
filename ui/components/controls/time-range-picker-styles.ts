/** Styles of the time range's button and panel. */

import { css } from "lit";

export const timeRangePickerStyles = css`
  :host {
    display: flex;
    position: relative;
    min-width: 0;
  }
  .ends {
    min-width: 0;
    border-radius: 0;
    margin: 0 -1px;
  }
  .ends span {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  .every {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    color: var(--accent);
  }
  .zone {
    color: var(--ink-muted);
    font-weight: 400;
  }
  .back {
    border-radius: var(--radius) 0 0 var(--radius);
  }
  .ahead {
    border-radius: 0 var(--radius) var(--radius) 0;
  }
  .panel {
    position: fixed;
    inset: auto;
    display: grid;
    grid-template-columns: 11rem 17rem;
    width: auto;
    max-width: calc(100vw - 16px);
    margin: 0;
    padding: 0;
    overflow: hidden auto;
    color: var(--ink);
    border: 1px solid var(--line-strong);
    border-radius: 8px;
    background: var(--surface);
    box-shadow: 0 12px 32px var(--shadow);
  }
  .quick {
    display: flex;
    flex-direction: column;
    padding: 8px;
    border-right: 1px solid var(--line);
  }
  .quick button {
    justify-content: flex-start;
    font-weight: 400;
  }
  form {
    display: grid;
    align-content: start;
    gap: 10px;
    padding: 14px;
  }
  label {
    display: grid;
    gap: 3px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .line {
    display: flex;
    gap: 6px;
    align-items: end;
  }
  .line label {
    flex: 1;
  }
  /* The calendar opens beside it; the text beside it is the one to read and write. */
  .line input[type="datetime-local"] {
    position: absolute;
    right: 14px;
    width: 1px;
    height: 1px;
    margin: 0;
    padding: 0;
    border: 0;
    opacity: 0;
    pointer-events: none;
  }
  p {
    margin: 0;
    font-size: var(--text-small);
    color: var(--ink-muted);
  }
  p.fault {
    color: var(--level-error);
  }
  @media (width < 700px) {
    /* From its own width on: beside the query it would be a few pixels wide. */
    :host {
      flex: 1 1 auto;
    }
    .ends {
      flex: 1;
    }
    .zone {
      display: none;
    }
    .panel {
      grid-template-columns: 1fr;
      width: calc(100vw - 20px);
    }
    .quick {
      display: grid;
      grid-template-columns: 1fr 1fr;
      border-right: 0;
      border-bottom: 1px solid var(--line);
    }
  }
`;
