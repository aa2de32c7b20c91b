/** Layout of the page Visualise. */

import { css } from "lit";

export const visualiseStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    padding: 10px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
  }
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
