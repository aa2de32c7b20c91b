/**
 * Events on their way to the viewers of another hub: `size head source*`. size: length of head in bytes, 4 bytes little
 * endian; head: JSON {v: 1, node, before, events: [[index, id, timestampMs, size of its source], …]}.
 */

import type { LiveEvent } from "./filter/event-document.ts";

export interface SharedEvents {
  /** Id of the hub that processed them. */
  readonly node: string;
  /** Events that it had sent or left out before these. */
  readonly before: number;
  readonly events: readonly LiveEvent[];
}

interface Head extends Omit<SharedEvents, "events"> {
  readonly v: number;
  readonly events: readonly (readonly [index: string, id: string, timestampMs: number, size: number])[];
}

const SIZE_BYTES = 4;

export function encodeEvents({ node, before, events }: SharedEvents): Uint8Array {
  const rows = events.map(
    ({ index, id, timestampMs, source }) => [index, id, timestampMs, source.byteLength] as const,
  );
  const head = Buffer.from(JSON.stringify({ v: 1, node, before, events: rows } satisfies Head));
  const size = Buffer.alloc(SIZE_BYTES);
  size.writeUInt32LE(head.length);
  return Buffer.concat([size, head, ...events.map(({ source }) => source)]);
}

export function decodeEvents(data: Uint8Array): SharedEvents {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let at = SIZE_BYTES + bytes.readUInt32LE(0);
  const { node, before, events } = JSON.parse(bytes.toString("utf8", SIZE_BYTES, at)) as Head;
  return {
    node,
    before,
    events: events.map(([index, id, timestampMs, size]) => {
      const source = bytes.subarray(at, at + size);
      at += size;
      return { index, id, timestampMs, source };
    }),
  };
}
