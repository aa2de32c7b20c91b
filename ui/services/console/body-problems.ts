/** Finds what makes a request's body invalid JSON, with its position: the console underlines it before it is sent. */

import { msg } from "@lit/localize";
import { lex, type Token } from "./loose-json.ts";
import { parseRequests } from "./requests.ts";

/** Offsets in UTF-16 units, `to` exclusive. */
export interface TextProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** Longer texts aren't checked: each key press would cost too much. */
const MAX_CHECKED = 300_000;

/** Returns the first problem of each request's body. */
export function bodyProblems(text: string): TextProblem[] {
  if (text.length > MAX_CHECKED) return [];
  const starts = lineStarts(text);
  return parseRequests(text).flatMap(({ firstLine, body }) => {
    const problem = body === "" ? undefined : problemIn(body);
    if (problem === undefined) return [];
    const offset = starts[firstLine + 1] ?? text.length;
    return [{ ...problem, from: offset + problem.from, to: offset + problem.to }];
  });
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

interface Frame {
  readonly open: Token;
  readonly isObject: boolean;
  /** What may come next; `first` also allows the closing bracket. */
  expects: "first" | "key" | "colon" | "value" | "comma";
}

function problemIn(body: string): TextProblem | undefined {
  const frames: Frame[] = [];
  for (const token of lex(body)) {
    if (token.kind === "space" || token.kind === "comment") continue;
    const message = step(frames, body.slice(token.start, token.end), token);
    if (message !== undefined) return { from: token.start, to: token.end, message };
  }
  const frame = frames.at(-1);
  if (frame === undefined) return undefined;
  const { start, end } = frame.open;
  return { from: start, to: end, message: msg("This bracket is never closed.") };
}

/** Reads a token; returns its fault. */
function step(frames: Frame[], text: string, token: Token): string | undefined {
  const frame = frames.at(-1);
  if (token.kind !== "punctuation") return valueStep(frame, text, token);
  if (text === "{" || text === "[") {
    const message = frame === undefined ? undefined : beforeValue(frame);
    frames.push({ open: token, isObject: text === "{", expects: "first" });
    return message;
  }
  if (frame === undefined) return msg("This belongs to no object and no list.");
  if (text === "}" || text === "]") return close(frames, frame, text);
  if (text === ":") {
    if (frame.expects !== "colon") return msg("A key is missing before this.");
    frame.expects = "value";
    return undefined;
  }
  if (frame.expects !== "comma") return msg("A value is missing before this.");
  frame.expects = frame.isObject ? "key" : "value";
  return undefined;
}

function close(frames: Frame[], frame: Frame, text: string): string | undefined {
  if (frame.isObject !== (text === "}")) return msg("Another bracket is open here.");
  if (frame.expects !== "first" && frame.expects !== "comma") return msg("A value is missing before this.");
  frames.pop();
  return undefined;
}

function valueStep(frame: Frame | undefined, text: string, { kind }: Token): string | undefined {
  if (text.startsWith('"') && (text.length < 2 || !text.endsWith('"')))
    return msg("This text is never closed.");
  if (frame?.isObject === true && (frame.expects === "first" || frame.expects === "key")) {
    frame.expects = "colon";
    return kind === "key" ? undefined : msg("A colon and a value are missing behind this.");
  }
  if (kind === "word") return msg("Put this text in quotes.");
  return frame === undefined ? undefined : beforeValue(frame);
}

function beforeValue(frame: Frame): string | undefined {
  if (frame.expects === "comma") return msg("A comma is missing before this.");
  if (frame.expects === "colon") return msg("A colon is missing before this.");
  if (frame.isObject && frame.expects !== "value") return msg("A key is missing before this.");
  frame.expects = "comma";
  return undefined;
}
