/** Styles of the live page. */

import { css } from "lit";
import { barPage } from "#ui/components/style/styles.ts";

export const liveStyles = css`
  ${barPage}
  :host {
    container: live / inline-size;
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 14px;
    padding: 6px 12px;
    border-bottom: 1px solid var(--line);
    background: var(--surface);
    color: var(--ink-muted);
    font-size: var(--text-small);
    font-variant-numeric: tabular-nums;
  }
  .tools b {
    color: var(--ink);
    font-weight: 600;
  }
  .tools .skipped b {
    color: var(--level-warn);
  }
  .tools select {
    height: 24px;
    padding: 0 4px;
    font-size: inherit;
  }
  .space {
    flex: 1;
  }
  .signal::before {
    content: "";
    display: inline-block;
    width: 8px;
    height: 8px;
    margin-right: 6px;
    border-radius: 50%;
    background: var(--level-warn);
  }
  .signal.open::before {
    background: var(--accent);
  }
  .notice {
    margin: 10px 12px;
  }
  .work {
    flex: 1;
    position: relative;
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    min-height: 0;
    background: var(--surface);
  }
  .work.with-details {
    grid-template-columns: minmax(0, 1fr) minmax(22rem, 36%);
  }
  tr-event-details:not([iswide]) {
    border-left: 1px solid var(--line);
  }
  .jump {
    position: absolute;
    z-index: 4;
    bottom: 16px;
    left: 50%;
    translate: -50%;
    box-shadow: 0 6px 20px var(--shadow);
  }
  .waiting {
    position: absolute;
    inset: 30% 0 auto;
    text-align: center;
    color: var(--ink-muted);
    pointer-events: none;
  }
  .said {
    position: absolute;
    right: 16px;
    bottom: 16px;
    padding: 6px 12px;
    border-radius: var(--radius);
    background: var(--ink);
    color: var(--surface);
    animation: leave 0.4s 5s forwards;
  }
  @keyframes leave {
    to {
      opacity: 0;
    }
  }
  @container live (width < 1100px) {
    .tools .word {
      display: none;
    }
  }
  @container live (width < 900px) {
    .tools {
      gap: 4px 8px;
    }
    .tools .label {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    tr-rate-strip {
      flex-basis: 2rem;
      max-width: 5rem;
    }
    .work.with-details {
      grid-template-columns: minmax(0, 1fr);
    }
    tr-event-details {
      position: absolute;
      z-index: 10;
      inset: 0;
      border: 0;
    }
  }
`;
