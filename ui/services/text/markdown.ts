/** The part of Markdown that notes on a dashboard need, as data: headings, lists, code, paragraphs; bold, emphasis, links. */

/** A piece of a line. */
export interface Inline {
  readonly kind: "text" | "strong" | "emphasis" | "code" | "link";
  readonly text: string;
  /** Of a link: `https:`, `http:`, or `#/…` of a page. */
  readonly address?: string;
}

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: "list"; readonly isNumbered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "paragraph"; readonly content: readonly Inline[] };

/** Longer texts are cut. */
export const MAX_MARKDOWN = 10_000;
const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
const ADDRESS = /^(?:https?:\/\/|#\/)/;
const HEADING = /^(#{1,3})\s+(.*)$/;
const ITEM = /^\s*(?:([-*+])|\d+[.)])\s+(.*)$/;
const FENCE = /^```/;

/** Returns the blocks of a text. */
export function parseMarkdown(text: string): Block[] {
  const lines = text.slice(0, MAX_MARKDOWN).split(/\r?\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    const heading = HEADING.exec(line);
    if (line.trim() === "") at++;
    else if (FENCE.test(line)) {
      const end = lines.findIndex((one, number) => number > at && FENCE.test(one));
      const last = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", text: lines.slice(at + 1, last).join("\n") });
      at = last + 1;
    } else if (heading !== null) {
      blocks.push({ kind: "heading", level: heading[1]!.length, content: parseInline(heading[2]!) });
      at++;
    } else {
      const isItem = ITEM.test(line);
      const length = lines.slice(at).findIndex((one) => !continues(one, isItem));
      const own = lines.slice(at, length < 0 ? lines.length : at + length);
      blocks.push(isItem ? listOf(own) : { kind: "paragraph", content: parseInline(own.join(" ")) });
      at += own.length;
    }
  }
  return blocks;
}

/** True where a line belongs to a list, or to a paragraph, that began before it. */
function continues(line: string, isItem: boolean): boolean {
  return isItem === ITEM.test(line) && line.trim() !== "" && !HEADING.test(line) && !FENCE.test(line);
}

function listOf(lines: readonly string[]): Block {
  const matches = lines.map((line) => ITEM.exec(line)!);
  return {
    kind: "list",
    isNumbered: matches[0]![1] === undefined,
    items: matches.map(([, , content]) => parseInline(content!)),
  };
}

/** Returns the pieces of a line; an address that leads elsewhere than to a page stays text. */
export function parseInline(line: string): Inline[] {
  const pieces: Inline[] = [];
  let from = 0;
  const addText = (to: number): void => {
    if (to > from) pieces.push({ kind: "text", text: line.slice(from, to) });
  };
  for (const match of line.matchAll(INLINE)) {
    const [whole, code, strong, emphasis, label, address] = match;
    if (address !== undefined && !ADDRESS.test(address)) continue;
    addText(match.index);
    from = match.index + whole.length;
    if (code !== undefined) pieces.push({ kind: "code", text: code });
    else if (strong !== undefined) pieces.push({ kind: "strong", text: strong });
    else if (emphasis !== undefined) pieces.push({ kind: "emphasis", text: emphasis });
    else pieces.push({ kind: "link", text: label!, address: address! });
  }
  addText(line.length);
  return pieces;
}
