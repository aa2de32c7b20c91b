/** Documents as bodies of bulk requests. */

import { ask } from "#test/harness/http.ts";
import type { CorpusDocument } from "./log-corpus.ts";

const BODY_BYTES = 5_000_000;
/** Bulk requests at a time. */
const CLIENTS = 2;

/** Returns the blocks [from, to) of a corpus as bodies of about 5 MB. */
export function bulkBodies(
  from: number,
  to: number,
  blockOf: (block: number) => readonly CorpusDocument[],
): string[] {
  const bodies: string[] = [];
  let lines: string[] = [];
  let bytes = 0;
  for (let block = from; block < to; block++) {
    for (const { json } of blockOf(block)) {
      lines.push('{"index":{}}', json);
      bytes += json.length + 14;
      if (bytes < BODY_BYTES) continue;
      bodies.push(`${lines.join("\n")}\n`);
      lines = [];
      bytes = 0;
    }
  }
  if (lines.length > 0) bodies.push(`${lines.join("\n")}\n`);
  return bodies;
}

/** Sends all bodies. Throws where a request or a document fails. */
export async function sendAll(url: string, bodies: Iterable<string>): Promise<void> {
  const left = bodies[Symbol.iterator]();
  const client = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      const { errors } = await ask<{ errors: boolean }>("POST", url, next.value);
      if (errors) throw new Error("a bulk request had errors");
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}
