/** Where an action line of `_bulk` has its id. */

import type { IdExtent } from "#hub/cluster/writes/body-lines.ts";
import { isObject } from "#proto/kit/json.ts";

/** A text that isn't a likely id. */
const PROBE = "\u0001id";

/**
 * Returns where the id is, between its quotes, in a line {"index":{"_id":"…",…}} of one byte a character. Undefined if
 * another text there would not be all that changes.
 */
export function idInLine(line: string): IdExtent | undefined {
  const matches = [...line.matchAll(/"_id"\s*:\s*"([^"\\]*)"/g)];
  const [match] = matches;
  if (match === undefined || matches.length > 1) return undefined;
  const to = match.index + match[0].length - 1;
  const from = to - match[1]!.length;
  return idOf(`${line.slice(0, from)}${JSON.stringify(PROBE).slice(1, -1)}${line.slice(to)}`) === PROBE
    ? { from, to }
    : undefined;
}

/** Returns the id that an action line gives; undefined if it isn't plain JSON. */
function idOf(line: string): unknown {
  try {
    const [fields] = Object.values(JSON.parse(line) as object) as unknown[];
    return isObject(fields) ? fields["_id"] : undefined;
  } catch {
    return undefined;
  }
}
