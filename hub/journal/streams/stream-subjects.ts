/**
 * Lists the subjects of a stream's messages. The server answers in pages of 100,000 sorted subjects, each from the stream as it
 * is then; the client's own paging leaves a subject out if one before it is removed between two pages.
 */

import { JetStreamApiError, type StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";

/** So many subjects of a page are asked for again with the next one: where they are, nothing between the pages is left out. */
const OVERLAP = 1_000;

/** Asks for the subjects that fit `filter`, from `offset` of them; `total` counts all. Throws what requests throw, or JetStreamApiError. */
export async function subjectPage(
  nats: NatsConnection,
  stream: string,
  filter: string,
  offset: number,
  timeoutMs: number,
): Promise<StreamInfo> {
  const body = JSON.stringify({ subjects_filter: filter, offset });
  const { data } = await nats.request(`$JS.API.STREAM.INFO.${stream}`, body, { timeout: timeoutMs });
  const answer = JSON.parse(Buffer.from(data).toString()) as StreamInfo & {
    error?: ConstructorParameters<typeof JetStreamApiError>[0];
  };
  if (answer.error !== undefined) throw new JetStreamApiError(answer.error);
  return answer;
}

/**
 * Returns the subjects of all pages: each that is stored from the first answer to the last, whatever is added or removed
 * meanwhile. `ask` returns the page from an offset.
 */
export async function allSubjects(ask: (offset: number) => Promise<StreamInfo>): Promise<string[]> {
  const found = new Set<string>();
  let last = "";
  let back = 0;
  for (let offset = 0; ; ) {
    const { state, total } = await ask(offset);
    const page = Object.keys(state.subjects ?? {}).toSorted();
    if (offset > 0 && !(page[0]! <= last)) {
      // More were removed than pages overlap.
      back = Math.max(OVERLAP, 2 * back);
      offset = Math.max(0, offset - back);
      continue;
    }
    for (const subject of page) found.add(subject);
    const end = offset + page.length;
    if (end >= total || page.length === 0) return [...found];
    back = 0;
    last = page.at(-1)!;
    offset = end - Math.min(OVERLAP, page.length >> 1);
  }
}
