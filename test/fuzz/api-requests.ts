/** Makes malformed requests: valid ones with something broken, and plain nonsense. The same randomness, the same request. */

import type { PlainRequest } from "#test/harness/pipelined-http.ts";
import type { Random } from "#test/support/engine/random.ts";
import { operation } from "./api-operations.ts";
import { METHODS, NAMES, ODD_VALUES, PARAMETERS, TYPES } from "./api-values.ts";

/** Odd values that can stand in an address. */
const ODD_TEXTS = ODD_VALUES.filter((odd) => odd !== "\ud800" && typeof odd !== "object");

/** One in so many bodies is left as it would do. */
const WHOLE_SHARE = 32;

/** A request that should be refused. */
export interface MalformedRequest extends PlainRequest {
  /** It may take longer than others. */
  readonly dear: boolean;
}

/** Makes a request, broken in one way or several. */
export function malformedRequest(random: Random): MalformedRequest {
  const { method, path, body, lines = false, dear = false } = operation(random);
  let broken = body;
  if (!random.oneIn(WHOLE_SHARE))
    do broken = mutated(broken, random);
    while (random.oneIn(3));
  let text = "";
  if (broken !== undefined) {
    text =
      lines && Array.isArray(broken)
        ? broken.map((line: unknown) => `${JSON.stringify(line)}\n`).join("")
        : JSON.stringify(broken);
  }
  if (random.oneIn(6)) text = damaged(text, random);
  if (random.oneIn(200)) text = `${'{"bool":{"must":['.repeat(300)}`;
  const type = random.oneIn(12) ? random.pick(TYPES) : lines ? "application/x-ndjson" : "application/json";
  return {
    method: random.oneIn(15) ? random.pick(METHODS) : method,
    path: withParameters(
      random.oneIn(12) ? `${path}/${encodeURIComponent(random.pick(NAMES))}` : path,
      random,
    ),
    headers: type === "" ? {} : { "content-type": type },
    body: text,
    dear,
  };
}

function withParameters(path: string, random: Random): string {
  // A wait as long as was asked for is no fault.
  if (path.includes("wait_for")) return path;
  let result = path;
  while (random.oneIn(4)) {
    const value = encodeURIComponent(String(random.pick(ODD_TEXTS)));
    result += `${result.includes("?") ? "&" : "?"}${random.pick(PARAMETERS)}${random.oneIn(8) ? "" : `=${value}`}`;
  }
  return result;
}

/** Changes a value somewhere: another kind, another key, one more, one less, nested too deep. */
function mutated(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random.oneIn(9)) return random.pick(ODD_VALUES);
  if (Array.isArray(value)) {
    const copy = [...(value as unknown[])];
    if (copy.length === 0 || random.oneIn(4)) copy.push(random.pick(ODD_VALUES));
    else {
      const at = random.below(copy.length);
      copy[at] = mutated(copy[at], random);
    }
    return copy;
  }
  const entries = Object.entries(value);
  const at = random.below(Math.max(1, entries.length));
  const entry = entries[at];
  const way = random.below(6);
  if (entry === undefined || way === 0)
    entries.push([random.pick(["x", "boost", "_name", "field", "query", "size"]), random.pick(ODD_VALUES)]);
  else if (way === 1) entries.splice(at, 1);
  else if (way === 2) entries[at] = [`${entry[0]}x`, entry[1]];
  else entries[at] = [entry[0], mutated(entry[1], random)];
  return Object.fromEntries(entries);
}

/** Breaks the text itself. */
function damaged(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return `${text.slice(0, at)}${random.pick(['"', "}", "{", "\\", "\u0000", ",", "9".repeat(400)])}${text.slice(at)}`;
    case 2:
      return text + text;
    case 3:
      return "[".repeat(2000);
    default:
      return Buffer.from([0xff, 0xfe, 0x00, 0x7b]).toString("latin1");
  }
}
