/** What keys do in the editor beyond writing themselves: pairs, indentation. */

/** Replaces `from`…`to` by `text` and selects `caretFrom`…`caretTo`. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly caretFrom: number;
  readonly caretTo: number;
}

const PAIRS: Readonly<Record<string, string>> = { "{": "}", "[": "]", '"': '"' };
const INDENT = "  ";

/** Returns what a key does with a selection; undefined: what it always does. */
export function editForKey(
  key: string,
  isShifted: boolean,
  text: string,
  from: number,
  to: number,
): Edit | undefined {
  if (key === "Tab") return indent(isShifted, text, from, to);
  if (key === "Enter") return newLine(text, from, to);
  if (key === "Backspace") return removePair(text, from, to);
  if (isInRequestLine(text, from)) return undefined;
  const next = text[to] ?? "";
  if (from === to && /^["}\]]$/.test(key) && next === key) return insert(from, to + 1, key);
  const close = PAIRS[key];
  if (close === undefined) return undefined;
  if (from !== to) {
    const inner = text.slice(from, to);
    return { from, to, text: key + inner + close, caretFrom: from + 1, caretTo: to + 1 };
  }
  const isFree = next === "" || /[\s,}\]:]/.test(next);
  const isInWord = key === '"' && /[\w"\\]/.test(text[from - 1] ?? "");
  return isFree && !isInWord ? insert(from, to, key + close, from + 1) : undefined;
}

function insert(from: number, to: number, text: string, caret = from + text.length): Edit {
  return { from, to, text, caretFrom: caret, caretTo: caret };
}

/** Where the method and the path are, quotes and brackets come alone. */
function isInRequestLine(text: string, at: number): boolean {
  return /^\s*[A-Z]+\s\S*$/.test(text.slice(text.lastIndexOf("\n", at - 1) + 1, at));
}

function newLine(text: string, from: number, to: number): Edit {
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const own = /^[ \t]*/.exec(text.slice(lineStart, from))![0];
  const opens = /[{[]\s*$/.test(text.slice(lineStart, from));
  const closes = /^\s*[}\]]/.test(text.slice(to));
  const inner = `\n${own}${opens ? INDENT : ""}`;
  if (opens && closes) return insert(from, to, `${inner}\n${own}`, from + inner.length);
  return insert(from, to, inner);
}

function removePair(text: string, from: number, to: number): Edit | undefined {
  const before = text[from - 1] ?? "";
  if (from !== to || PAIRS[before] === undefined || text[to] !== PAIRS[before]) return undefined;
  return { from: from - 1, to: to + 1, text: "", caretFrom: from - 1, caretTo: from - 1 };
}

function indent(isOut: boolean, text: string, from: number, to: number): Edit {
  if (!isOut && !text.slice(from, to).includes("\n")) return insert(from, to, INDENT);
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const lines = text.slice(start, to).split("\n");
  const moved = lines.map((line) => (isOut ? line.replace(/^ {1,2}/, "") : INDENT + line));
  const first = moved[0]!.length - lines[0]!.length;
  const joined = moved.join("\n");
  return {
    from: start,
    to,
    text: joined,
    caretFrom: Math.max(start, from + first),
    caretTo: start + joined.length,
  };
}
