/** Looks of the editor and of what it colours. */

import { css } from "lit";

/** Colours of JSON and request lines. */
export const codeColours = css`
  .key {
    color: var(--code-key);
  }
  .string {
    color: var(--code-string);
  }
  .number,
  .literal {
    color: var(--code-number);
  }
  .comment {
    color: var(--ink-faint);
    font-style: italic;
  }
  .punctuation {
    color: var(--ink-muted);
  }
  .method {
    color: var(--accent);
    font-weight: 700;
  }
  .danger {
    color: var(--level-error);
    font-weight: 700;
  }
  .path {
    color: var(--ink);
    font-weight: 600;
  }
`;

/** Height of a line, px; the cursor's place is counted with it. */
export const LINE_PX = 20;
export const PADDING_PX = 10;

export const codeEditorStyles = css`
  :host {
    display: block;
    position: relative;
    min-height: 0;
    overflow: hidden;
    background: var(--surface);
  }
  .scroll {
    height: 100%;
    overflow: auto;
    scroll-padding: 24px 24px 24px 64px;
    background: linear-gradient(var(--line), var(--line)) 45px 0 / 1px 100% no-repeat;
  }
  .sheet {
    position: relative;
    width: max-content;
    min-width: 100%;
    min-height: 100%;
    counter-reset: line;
  }
  .mirror,
  textarea {
    margin: 0;
    padding: 10px 24px 48px 56px;
    font: 0.8125rem / 20px var(--font-mono);
    font-variant-ligatures: none;
    tab-size: 2;
    white-space: pre;
    letter-spacing: 0;
  }
  .mirror {
    min-height: 20px;
    pointer-events: none;
  }
  .line {
    position: relative;
    height: 20px;
    margin: 0 -24px 0 -56px;
    padding: 0 24px 0 0;
  }
  .line::before {
    counter-increment: line;
    content: counter(line);
    position: sticky;
    z-index: 1;
    left: 0;
    display: inline-block;
    width: 46px;
    height: 20px;
    margin-right: 10px;
    padding-right: 10px;
    background: var(--surface);
    border-right: 1px solid var(--line);
    color: var(--ink-faint);
    font-weight: 400;
    text-align: right;
    user-select: none;
  }
  .line.active {
    background: var(--surface-sunken);
  }
  .line.active::before {
    background: var(--surface-sunken);
    border-right-color: var(--accent);
    color: var(--accent);
    box-shadow: inset -1px 0 var(--accent);
  }
  textarea {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    border: 0;
    outline: 0;
    resize: none;
    overflow: hidden;
    background: none;
    color: transparent;
    caret-color: var(--ink);
  }
  textarea::selection {
    background: var(--selection);
    color: transparent;
  }
  :host(:focus-within)::after {
    content: "";
    position: absolute;
    z-index: 6;
    inset: 0;
    box-shadow: inset 2px 0 var(--focus);
    pointer-events: none;
  }
  .popup {
    position: absolute;
    z-index: 5;
    min-width: 16rem;
    max-width: min(34rem, 90%);
    max-height: 14.5rem;
    margin: 0;
    padding: 4px;
    overflow: auto;
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--surface);
    box-shadow: 0 10px 28px var(--shadow);
    list-style: none;
    font: var(--text-small) / 24px var(--font-mono);
  }
  .popup li {
    display: flex;
    gap: 16px;
    padding: 0 8px;
    border-radius: 4px;
    cursor: pointer;
    white-space: nowrap;
  }
  .popup li[aria-selected="true"] {
    background: var(--surface-selected);
  }
  .popup li span {
    flex: 1;
    overflow: hidden;
    color: var(--ink-muted);
    font-family: var(--font);
    text-align: right;
    text-overflow: ellipsis;
  }
  .actions {
    position: absolute;
    z-index: 4;
    top: 0;
    right: 14px;
  }
  @media (forced-colors: active) {
    textarea {
      color: CanvasText;
    }
    .mirror {
      visibility: hidden;
    }
  }
`;
