/** What a turn of a file came to. */

/**
 * `more`: a block was sent and more may follow at once. `end`: a block was sent, the file has no more.
 * `nothing`: no complete line. `pending`: an event that time may end, see `pendingMs`.
 * `rewritten`: the content was replaced, reading goes on at 0. `unrecorded`: the registry must know the content
 * before it is sent, see `Harvester.record`.
 */
export type ReadOutcome = "more" | "end" | "nothing" | "pending" | "rewritten" | "unrecorded";

/** True where a slot was handed over with a block in it. */
export function tookSlot(outcome: ReadOutcome): boolean {
  return outcome === "more" || outcome === "end";
}
