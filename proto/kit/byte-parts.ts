/** Pieces of a body, line or frame that isn't whole yet. */

/** Pieces are joined up to this size: each takes some 400 bytes beside its own, which nobody charges. */
const JOINED_BYTES = 4_096;

/**
 * Adds a piece to those before it. Small ones are joined, each byte a few times, so that a sender of single bytes takes no
 * more memory than its bytes say.
 */
export function addPart(parts: Uint8Array[], part: Uint8Array): void {
  let last = part;
  for (;;) {
    const before = parts.at(-1);
    if (before === undefined || before.length > last.length) break;
    if (before.length + last.length > JOINED_BYTES) break;
    parts.pop();
    last = Buffer.concat([before, last]);
  }
  parts.push(last);
}
