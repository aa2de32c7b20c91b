/** The tree of templates: parts that may follow each other. A text whose parts are found in it isn't cut. */

import type { IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { endOfPart, isSamePart, type Part, type TextTemplate } from "./text-template.ts";

/** Parts that may occur at one position; further ones aren't in the tree. */
const MAX_ALTERNATIVES = 16;
/** Parts that have alternatives and that a text is compared with. */
const MAX_STEPS = 128;

/** A part and those that may follow it, or the end of a template. */
interface Node {
  readonly part: Part | null;
  readonly template: TextTemplate;
  readonly next: Node[];
}

/** A text, the row that it is of, and where its variables are added. */
interface TreeText {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly row: number;
  readonly starts: IntList;
  readonly stops: IntList;
}

/** Templates of one column. */
export class TemplateTree {
  readonly #beginnings: Node[] = [];
  #steps = 0;

  /** Adds a template that isn't in the tree. */
  add(template: TextTemplate): void {
    let nodes = this.#beginnings;
    for (const [at, part] of template.parts.entries()) {
      const same = nodes.find((node) => node.part !== null && isSamePart(node.part, part, template.bytes));
      if (same === undefined) {
        if (nodes.length === MAX_ALTERNATIVES) return;
        const node = nodeOf(template, at);
        if (part.kind === "reference") nodes.unshift(node);
        else nodes.push(node);
        return;
      }
      nodes = same.next;
    }
    if (nodes.length < MAX_ALTERNATIVES) nodes.push(nodeOf(template, template.parts.length));
  }

  /** The template that a text is of, null without one. */
  find(text: TreeText): TextTemplate | null {
    this.#steps = MAX_STEPS;
    return this.#follow(this.#beginnings, text.from, text);
  }

  #follow(nodes: readonly Node[], at: number, text: TreeText): TextTemplate | null {
    const { bytes, to, row, starts, stops } = text;
    for (const [number, { part, template, next }] of nodes.entries()) {
      if (part === null && at === to) return template;
      if (number < nodes.length - 1) {
        if (this.#steps === 0) return null;
        this.#steps--;
      }
      const end = part === null ? -1 : endOfPart(part, bytes, at, to, row);
      if (end < 0) continue;
      const before = starts.length;
      if (part?.kind === "variable") {
        starts.push(at);
        stops.push(end);
      }
      const found = this.#follow(next, end, text);
      if (found !== null) return found;
      starts.length = before;
      stops.length = before;
    }
    return null;
  }
}

/** The parts of a template from one on. */
function nodeOf(template: TextTemplate, at: number): Node {
  const part = template.parts[at] ?? null;
  return { part, template, next: part === null ? [] : [nodeOf(template, at + 1)] };
}
