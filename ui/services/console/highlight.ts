/** Colours of the console's text: request lines, and JSON as people type it. */

import { lex, type TokenKind } from "./loose-json.ts";
import { requestLine } from "./requests.ts";

export type SpanKind = TokenKind | "method" | "danger" | "path" | "plain";

export interface Span {
  readonly kind: SpanKind;
  readonly text: string;
}

/** Longer texts are shown without colours: each key press would cost too much. */
const MAX_COLOURED = 300_000;

/** Returns the spans of each line. */
export function highlightConsole(text: string): Span[][] {
  if (text.length > MAX_COLOURED) return text.split("\n").map((line) => [{ kind: "plain", text: line }]);
  const lines: Span[][] = [];
  let body: string[] = [];
  let isInText = false;
  const flush = (): void => {
    if (body.length > 0) lines.push(...highlightJson(body.join("\n")));
    body = [];
  };
  for (const line of text.split("\n")) {
    const request = isInText ? undefined : requestLine(line);
    if (request === undefined) body.push(line);
    else {
      flush();
      lines.push(requestSpans(line, request.method));
    }
    if ((line.split('"""').length - 1) % 2 === 1) isInText = !isInText;
  }
  flush();
  return lines;
}

/** Returns the spans of each line of JSON. */
export function highlightJson(text: string): Span[][] {
  const lines: Span[][] = [[]];
  for (const { kind, start, end } of lex(text)) {
    for (const [index, part] of text.slice(start, end).split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push({ kind, text: part });
    }
  }
  return lines;
}

function requestSpans(line: string, method: string): Span[] {
  const start = line.search(/\S/);
  const end = start + method.length;
  return [
    { kind: "space", text: line.slice(0, start) },
    { kind: method === "DELETE" ? "danger" : "method", text: line.slice(start, end) },
    { kind: "path", text: line.slice(end) },
  ];
}
