/** The options of a harvester: the file, its row, the receiver of its blocks, and how events are cut. */

import type { Scratch } from "#agent/contract/block-memory.ts";
import type { Channel, Output } from "#agent/contract/output.ts";
import type { EventFormat } from "#agent/lines/event-format.ts";
import type { FileRow, SourceId } from "#agent/registry/row.ts";
import type { ArchiveStat } from "./archives.ts";

/** The file that continues the event at the end of a rotated one. */
export interface Successor {
  readonly key: string;
  /** Reads its first bytes; returns their number, 0 if it is gone. */
  readonly read: (buffer: Buffer, at: number, length: number) => number;
  /** Makes it begin at `to`; returns false if it is read already. */
  readonly claim: (to: number) => boolean;
}

/** The parts with which a harvester cuts events of its file. */
export interface EventCutting {
  readonly format: EventFormat;
  readonly scratch: Scratch;
  readonly onTruncated: (bytes: number) => void;
}

export interface HarvesterOptions {
  readonly key: string;
  readonly path: string;
  readonly fd: number;
  /** The file on disk if `fd` is its unpacked content: it never changes. */
  readonly archive: ArchiveStat | null;
  /** True if the file is on a disk of this machine. */
  readonly near: boolean;
  readonly row: FileRow;
  /** `max_bytes`: longest line that is kept whole. */
  readonly maxLineBytes: number;
  readonly output: Pick<Output, "maxBodyBytes" | "confirmsCommits" | "slots">;
  /** Null: blocks of the file are sent unchanged. */
  readonly events: EventCutting | null;
  /** Called for NULs that were skipped: the hole that a truncation left before the text of a writer that kept its offset. */
  readonly onHole: (bytes: number) => void;
  /** Opens the channel for content of the file, under the content's name at the hub. */
  readonly openChannel: (source: SourceId) => Channel;
  /** Resolves when `row` is on disk or can't be written. */
  readonly persist: () => Promise<void>;
  /** Called after each change of `row`. */
  readonly onChange: () => void;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/**
 * `more`: a block was sent and more may follow at once. `end`: a block was sent, the file has no more. `nothing`: no
 * complete line. `pending`: an event that a timeout may end, see `pendingMs`. `rewritten`: the content was replaced,
 * reading continues at 0. `unrecorded`: the content must be in the registry before it is sent, see `Harvester.record`.
 */
export type ReadOutcome = "more" | "end" | "nothing" | "pending" | "rewritten" | "unrecorded";

/** True if the slot was handed over with a block in it. */
export function tookSlot(outcome: ReadOutcome): boolean {
  return outcome === "more" || outcome === "end";
}
