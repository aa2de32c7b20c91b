/** Looks of the page of the cluster. */

import { css } from "lit";

export const clusterStyles = css`
  .tag {
    padding: 1px 7px;
    border: 1px solid var(--line-strong);
    border-radius: 9px;
    color: var(--ink-muted);
    font-size: var(--text-small);
  }
  .fill {
    display: inline-block;
    width: 5rem;
    height: 8px;
    margin-right: 8px;
    border-radius: 4px;
    background: var(--surface-selected);
    vertical-align: middle;
    overflow: hidden;
  }
  .fill i {
    display: block;
    height: 100%;
    background: var(--accent);
  }
  .fill.warning i {
    background: var(--level-warn);
  }
  tbody th {
    color: inherit;
    font-size: inherit;
  }
  th a.name {
    color: inherit;
  }
  .shard {
    display: inline-grid;
    place-items: center;
    min-width: 24px;
    height: 24px;
    margin: 1px 3px 1px 0;
    padding: 0 4px;
    border: 1px solid var(--accent);
    border-radius: 4px;
    background: none;
    color: var(--accent);
    font: 600 var(--text-small) / 1 var(--font-mono);
  }
  .shard.primary {
    background: var(--accent-soft);
    border-width: 2px;
  }
  .shard.moving {
    border-style: dotted;
  }
  .shard.missing {
    border-style: dashed;
    border-color: var(--level-warn);
    background: none;
    color: var(--level-warn);
  }
  .legend {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 16px;
    margin: 0 0 8px;
    font-size: var(--text-small);
  }
  .legend .shard {
    min-width: 16px;
    height: 16px;
    margin: 0 6px 0 0;
    padding: 0;
    vertical-align: middle;
  }
`;
