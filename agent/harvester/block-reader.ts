/** Sends a file's bytes as they are, in blocks that end at line ends. */

import type { Slot } from "#agent/contract/slot-pool.ts";
import { countLines, cut } from "./cut.ts";
import type { FileReading } from "./file-reading.ts";
import { ANCHOR_BYTES } from "./identity.ts";
import { holeBytes, MARK, markBytes } from "./leading-bytes.ts";
import type { ReadOutcome } from "./read-outcome.ts";

const NEWLINE = 0x0a;

export class BlockReader {
  readonly #reading: FileReading;

  constructor(reading: FileReading) {
    this.#reading = reading;
  }

  /** Reads the next block into `slot` and sends it. `final`: the last line won't grow any more. */
  async read(slot: Slot, final: boolean): Promise<ReadOutcome> {
    const reading = this.#reading;
    const { progress, options } = reading;
    const { maxBodyBytes } = options.output;
    const maxLineBytes = Math.min(options.maxLineBytes, maxBodyBytes);
    for (;;) {
      const { headroom, tailroom } = reading.channel;
      const start = Math.max(headroom, ANCHOR_BYTES);
      const room = Math.min(slot.buffer.length - start - tailroom, maxBodyBytes);
      const dataEnd = await reading.fetch(slot.buffer, start, room);
      if (typeof dataEnd === "string") return dataEnd;
      const mark = progress.offset === 0 ? markBytes(slot.buffer, start, dataEnd) : 0;
      if (mark > 0) {
        progress.skipTo(mark);
        continue;
      }
      const full = dataEnd - start === room;
      const hole = holeBytes(slot.buffer, start, dataEnd);
      if (hole > 0) return reading.passHole(slot, slot.buffer, start, start + hole, dataEnd) ? "more" : "end";
      const decision = cut(slot.buffer, start, dataEnd, { maxLineBytes, full, final });
      if (decision.kind === "wait") return "nothing";
      if (decision.kind === "block") {
        if (!reading.isRecorded(slot.buffer, start, decision.end)) return "unrecorded";
        this.#send(slot, start, decision.end, decision.open);
        const rest = decision.end < dataEnd && dataEnd - start > maxLineBytes;
        return full || rest ? "more" : "end";
      }
      slot.grow(start + maxLineBytes + tailroom);
    }
  }

  #send(slot: Slot, start: number, end: number, open: boolean): void {
    const { buffer } = slot;
    const from = this.#reading.progress.offset;
    const atStart = from === 0 || (from === MARK.length && markBytes(buffer, start - from, start) === from);
    this.#reading.send(buffer, start, end, {
      slot,
      body: { buffer, start, end, events: false },
      lines: countLines(this.#reading.options.output.slots.memory, buffer, start, end),
      open,
      continued: !atStart && buffer[start - 1] !== NEWLINE && buffer[start - 1] !== 0,
    });
  }
}
