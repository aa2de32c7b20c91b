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

interface BulkAnswer {
  readonly errors: boolean;
  readonly items: readonly { readonly index: { readonly status: number; readonly error?: object } }[];
}

/** Sends all bodies of index actions. Throws where a request or a document fails, with the first reason. */
export async function sendAll(url: string, bodies: Iterable<string>): Promise<void> {
  const left = bodies[Symbol.iterator]();
  const client = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      const { errors, items } = await ask<BulkAnswer>("POST", url, next.value);
      if (!errors) continue;
      const failed = items.flatMap(({ index }) => (index.error === undefined ? [] : [index]));
      throw new Error(
        `${failed.length} of ${items.length} documents failed, the first: ${JSON.stringify(failed[0])}`,
      );
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}
