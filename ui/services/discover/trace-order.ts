/** Stack traces in a list of the newest lines first: each is put in the order it was written, its first line on top. */

import type { LogDocument } from "#ui/services/search/log-document.ts";

/** Lines that continue the one written before them: indented ones, causes, counts of common frames. */
const CONTINUATION = /^(?:\s+\S|Caused by: |Suppressed: |\.\.\. \d+ (?:more|common))/;
/** A trace that ends with a line of its own, not indented. */
const PYTHON_HEAD = /^Traceback \(most recent call last\):/;

/** Returns rows of the newest first with each trace from its first line down. A trace is of one file, without lines between. */
export function inReadingOrder(rows: readonly LogDocument[]): LogDocument[] {
  const ordered: LogDocument[] = [];
  for (let at = 0; at < rows.length; at++) {
    const end = traceEnd(rows, at);
    ordered.push(...rows.slice(at, end).toReversed());
    at = end - 1;
  }
  return ordered;
}

/** Returns how many rows from the start may be shown: a trace at the end may continue in rows that aren't loaded. */
export function completeRows(rows: readonly LogDocument[]): number {
  let at = rows.length;
  while (at > 0 && isContinuation(rows[at - 1]!)) at--;
  if (at === rows.length) return at;
  // Its last line may be the one above.
  return at > 1 ? at - 1 : rows.length;
}

/** Returns the number after the last row of the trace that begins at `start`, the newest line of it. */
function traceEnd(rows: readonly LogDocument[], start: number): number {
  const first = rows[start]!;
  let at = start;
  if (!isContinuation(first)) at++;
  const from = at;
  while (at < rows.length && isContinuation(rows[at]!) && isSameFile(rows[at]!, first)) at++;
  const head = rows[at];
  if (at === from || head === undefined || !isSameFile(head, first)) return start + 1;
  if (from > start && !PYTHON_HEAD.test(head.message)) return start + 1;
  return at + 1;
}

function isContinuation({ message }: LogDocument): boolean {
  return CONTINUATION.test(message);
}

function isSameFile(a: LogDocument, b: LogDocument): boolean {
  const path = a.fields.get("log.file.path");
  return (
    path !== undefined &&
    path === b.fields.get("log.file.path") &&
    a.fields.get("host.name") === b.fields.get("host.name")
  );
}
