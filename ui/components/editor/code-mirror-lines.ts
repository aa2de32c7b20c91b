/** Keeps the coloured lines below the editor's text area: only lines that changed are made anew. */

import type { Span } from "#ui/services/console/highlight.ts";

export class MirrorLines {
  readonly #parent: HTMLElement;
  #signatures: string[] = [];

  constructor(parent: HTMLElement) {
    this.#parent = parent;
  }

  /** Shows `lines`. */
  show(lines: readonly (readonly Span[])[]): void {
    const next = lines.map((spans) => spans.map(({ kind, text }) => `${kind} ${text}`).join("\u0001"));
    const before = this.#signatures;
    let head = 0;
    while (head < before.length && head < next.length && before[head] === next[head]) head++;
    let tail = 0;
    while (
      tail < before.length - head &&
      tail < next.length - head &&
      before[before.length - 1 - tail] === next[next.length - 1 - tail]
    )
      tail++;
    for (let count = before.length - head - tail; count > 0; count--) this.#parent.children[head]!.remove();
    const fragment = document.createDocumentFragment();
    for (let index = head; index < next.length - tail; index++) fragment.append(lineOf(lines[index]!));
    this.#parent.insertBefore(fragment, this.#parent.children[head] ?? null);
    this.#signatures = next;
  }

  /** Marks the lines from `first` to `last`, or none. */
  mark(first: number, last: number): void {
    for (const line of this.#parent.querySelectorAll(".active")) line.classList.remove("active");
    for (let index = first; index >= 0 && index <= last; index++)
      this.#parent.children[index]?.classList.add("active");
  }

  /** Returns how far right a column stands, px from the line's text. */
  offsetOf(lineNumber: number, column: number): number {
    const line = this.#parent.children[lineNumber];
    if (line === undefined) return 0;
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    let left = column;
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const length = node.nodeValue?.length ?? 0;
      if (left <= length) {
        const range = document.createRange();
        range.setStart(node, left);
        return range.getBoundingClientRect().left - line.getBoundingClientRect().left;
      }
      left -= length;
    }
    return 0;
  }
}

function lineOf(spans: readonly Span[]): HTMLElement {
  const line = document.createElement("div");
  line.className = "line";
  for (const { kind, text } of spans) {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = text;
    line.append(span);
  }
  return line;
}
