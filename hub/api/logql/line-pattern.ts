/** Patterns of the stage `pattern` and of the filters `|>` and `!>`: literal texts with captures such as `<method>` or `<_>`. */

import { AppError } from "#proto/kit/errors.ts";

/** A capture that has no name. */
const UNNAMED = "_";

interface Part {
  readonly isCapture: boolean;
  /** The literal text, or the capture's name. */
  readonly text: string;
}

/** Compiles a pattern that captures; returns the captured texts of a line by name. Throws request_invalid. */
export function compileCapturePattern(source: string): (line: string) => [name: string, text: string][] {
  const parts = partsOf(source);
  const names = parts.filter(({ isCapture, text }) => isCapture && text !== UNNAMED).map(({ text }) => text);
  if (names.length === 0) throw fault("pattern", "at least one capture is required");
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined)
    throw fault("pattern", `duplicate capture name (${repeated}): invalid expression`);
  return (line) => capturesOf(parts, line);
}

/** Compiles the pattern of a filter, whose captures have no names. Throws request_invalid. */
export function compileFilterPattern(source: string): (line: string) => boolean {
  const parts = partsOf(source);
  const named = parts.find(({ isCapture, text }) => isCapture && text !== UNNAMED);
  if (named !== undefined)
    throw fault("line filter", `named captures are not allowed: found '<${named.text}>'`);
  return (line) => isMatch(parts, line);
}

function partsOf(source: string): readonly Part[] {
  const parts = source
    .split(/<([A-Za-z_]\w*)>/)
    .map((text, index): Part => ({ isCapture: index % 2 === 1, text }))
    .filter(({ isCapture, text }) => isCapture || text !== "");
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (part.isCapture && next?.isCapture === true)
      throw fault("pattern", `found consecutive capture '<${part.text}><${next.text}>': invalid expression`);
  }
  return parts;
}

function fault(stage: string, message: string): AppError {
  return new AppError("request_invalid", `stage '| ${stage}' : ${message}`);
}

/** A literal text that the line lacks ends the captures: the last one has the rest of the line. */
function capturesOf(parts: readonly Part[], line: string): [string, string][] {
  const found: [string, string][] = [];
  let offset = 0;
  let open: string | undefined;
  if (line === "") return found;
  for (const { isCapture, text } of parts) {
    if (isCapture) {
      open = text;
      continue;
    }
    const at = line.indexOf(text, offset);
    if (open === undefined && at !== 0) return found;
    if (open !== undefined && open !== UNNAMED)
      found.push([open, at < 0 ? line.slice(offset) : line.slice(offset, at)]);
    if (at < 0) return found;
    offset = at + text.length;
    open = undefined;
  }
  if (open !== undefined && open !== UNNAMED) found.push([open, line.slice(offset)]);
  return found;
}

/** Captures must not be empty, and a pattern that ends with a literal text ends the line. */
function isMatch(parts: readonly Part[], line: string): boolean {
  const last = parts.at(-1);
  if (line === "" || last === undefined) return line === "" && last === undefined;
  let offset = 0;
  for (const [index, { isCapture, text }] of parts.entries()) {
    if (isCapture) continue;
    const at = line.indexOf(text, offset);
    if (at < 0 || (index > 0 && at === offset)) return false;
    offset = at + text.length;
  }
  return last.isCapture === offset < line.length;
}
