/** Styles of the editor and its highlighting. */

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

/** The editor's own styles override those of CodeMirror, which has none of the pages' themes. */
export const codeEditorStyles = css`
  :host {
    display: block;
    position: relative;
    min-height: 0;
    overflow: hidden;
    background: var(--surface);
  }
  .view,
  .cm-editor {
    height: 100%;
  }
  .cm-editor.cm-focused {
    outline: none;
  }
  :host(:focus-within)::after {
    content: "";
    position: absolute;
    z-index: 6;
    inset: 0;
    box-shadow: inset 2px 0 var(--focus);
    pointer-events: none;
  }
  .cm-editor .cm-scroller {
    font: 0.8125rem / 20px var(--font-mono);
    font-variant-ligatures: none;
  }
  .cm-editor .cm-content {
    padding: 10px 0 48px;
    color: var(--ink);
    caret-color: var(--ink);
  }
  .cm-editor .cm-line {
    padding: 0 24px 0 10px;
  }
  .cm-editor .cm-gutters {
    border-right: 1px solid var(--line);
    background: var(--surface);
    color: var(--ink-faint);
  }
  .cm-editor .cm-lineNumbers .cm-gutterElement {
    min-width: 46px;
    padding: 0 10px 0 5px;
  }
  .cm-editor .cm-line.active {
    background: var(--surface-sunken);
  }
  .cm-editor .cm-gutterElement.active {
    background: var(--surface-sunken);
    box-shadow: inset -2px 0 var(--accent);
    color: var(--accent);
  }
  .cm-editor .cm-line ::selection,
  .cm-editor .cm-line::selection {
    background: var(--selection);
  }
  .cm-editor .cm-matchingBracket,
  .cm-editor.cm-focused .cm-matchingBracket {
    background: var(--accent-soft);
    outline: 1px solid var(--line-strong);
  }
  .cm-editor .cm-nonmatchingBracket,
  .cm-editor.cm-focused .cm-nonmatchingBracket {
    background: none;
    color: var(--level-error);
  }
  .cm-editor .cm-searchMatch {
    background: var(--mark);
    color: var(--mark-ink);
  }
  .cm-editor .cm-searchMatch-selected {
    background: var(--find);
    color: var(--find-ink);
  }
  .cm-editor .cm-panels {
    border-bottom: 1px solid var(--line);
    background: var(--surface-sunken);
    color: var(--ink);
  }
  .cm-editor .cm-panel.cm-search {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 6px;
    padding: 6px 40px 6px 12px;
  }
  .cm-editor .cm-panel.cm-search br {
    flex-basis: 100%;
    content: "";
  }
  .cm-editor .cm-panel.cm-search :is(input, button, label) {
    margin: 0;
    font: inherit;
    font-size: var(--text-small);
  }
  .cm-editor .cm-panel.cm-search :is(.cm-textfield, .cm-button) {
    height: 26px;
    border: 1px solid var(--control-line);
    border-radius: var(--radius);
    background: var(--surface);
    color: var(--ink);
  }
  .cm-editor .cm-panel.cm-search [type="checkbox"] {
    width: 16px;
    height: 16px;
    margin-right: 4px;
    vertical-align: -3px;
  }
  .cm-editor .cm-panel.cm-search [name="close"] {
    top: 6px;
    right: 8px;
    width: 24px;
    min-width: 24px;
    height: 24px;
    color: var(--ink);
  }
  .cm-editor .cm-tooltip {
    border: 1px solid var(--line-strong);
    border-radius: 6px;
    background: var(--surface);
    box-shadow: 0 10px 28px var(--shadow);
    color: var(--ink);
  }
  .cm-editor .cm-tooltip.cm-tooltip-autocomplete > ul {
    min-width: 16rem;
    max-width: min(34rem, 90vw);
    max-height: 14.5rem;
    padding: 4px;
    font: var(--text-small) / 24px var(--font-mono);
  }
  .cm-editor .cm-tooltip.cm-tooltip-autocomplete > ul > li {
    display: flex;
    gap: 16px;
    padding: 0 8px;
    border-radius: 4px;
    line-height: 24px;
  }
  .cm-editor .cm-tooltip-autocomplete ul li[aria-selected] {
    background: var(--surface-selected);
    color: var(--ink);
  }
  .cm-editor .cm-completionMatchedText {
    text-decoration: none;
  }
  .cm-editor .cm-completionDetail {
    flex: 1;
    margin: 0;
    overflow: hidden;
    color: var(--ink-muted);
    font-family: var(--font);
    font-style: normal;
    text-align: right;
    text-overflow: ellipsis;
  }
  .cm-editor .cm-diagnostic {
    padding: 4px 10px;
    border-left: 3px solid var(--level-error);
    font: var(--text-small) / 1.5 var(--font);
    white-space: pre-wrap;
  }
  .cm-editor .cm-lintRange-error {
    background: none;
    text-decoration: underline wavy var(--level-error);
    text-decoration-skip-ink: none;
    text-underline-offset: 3px;
  }
  .actions {
    position: absolute;
    z-index: 4;
    top: 0;
    right: 14px;
  }
`;
