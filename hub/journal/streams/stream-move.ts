/**
 * Moves all streams of one NATS into another: the log of a single hub that becomes a cluster's. Streams of the log keep
 * their identity and the sequence of each message, so that every remembered position means the same message.
 *
 * RAW comes last and accepts no messages of agents until `finishMove`, which shows all hubs that the move is complete. A
 * move that is interrupted before that starts from the beginning.
 */

import type { StreamConfig } from "@nats-io/jetstream";
import type { Connection } from "#hub/journal/connection/connection.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { StreamArchive } from "./stream-archive.ts";
import { infoOf, manage, StreamCopy, type StreamCopyOptions } from "./stream-copy.ts";

/** How often a hub checks whether another one has moved its log. */
const LOOK_MS = 500;

const RAW_SUBJECT = "raw.>";
/** Agents publish to other subjects. */
const STAGING = { prefix: "moving.", subjects: RAW_SUBJECT };

/** Returns whether a move into this NATS is finished. Throws unavailable or timeout. */
export async function isMoved(to: Connection): Promise<boolean> {
  return (await infoOf(to, RAW_STREAM))?.config.subjects.includes(RAW_SUBJECT) ?? false;
}

/** Copies all streams that aren't there yet. Throws unavailable, timeout, journal_full, or the reason of `signal`. */
export async function moveStreams(options: StreamCopyOptions): Promise<void> {
  const archive = new StreamArchive(options.from);
  const isLast = (name: string): number => Number(name === RAW_STREAM);
  for (const name of (await archive.names()).sort((left, right) => isLast(left) - isLast(right)))
    await new StreamCopy(options, name, name === RAW_STREAM ? STAGING : undefined).run();
}

/** Opens the copy of RAW to agents. Throws unavailable or timeout. */
export async function finishMove(to: Connection, replicas: number): Promise<void> {
  const config = {
    subjects: [RAW_SUBJECT],
    subject_transform: undefined,
  } as unknown as Partial<StreamConfig>;
  const isThere = (await infoOf(to, RAW_STREAM)) !== undefined;
  await manage(to, `stream ${RAW_STREAM}`, async ({ streams }) =>
    isThere
      ? streams.update(RAW_STREAM, config)
      : streams.add({ name: RAW_STREAM, subjects: [RAW_SUBJECT], num_replicas: replicas }),
  );
}

/**
 * Resolves when another hub has moved its log into this NATS. Throws unavailable if nothing is stored there for `stalledMs`,
 * and the reason of `signal`.
 */
export async function untilMoved(
  to: Connection,
  {
    clock,
    signal,
    stalledMs,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly stalledMs: number },
): Promise<void> {
  let stored = -1;
  let changedMs = clock.monotonic();
  while (!(await isMoved(to))) {
    const { storage } = await manage(to, "the state of the store", (manager) => manager.getAccountInfo());
    if (storage !== stored) changedMs = clock.monotonic();
    stored = storage;
    if (clock.monotonic() - changedMs >= stalledMs)
      throw new AppError(
        "unavailable",
        "the hub whose data this cluster gets has stored nothing for some time: start it; its log gives the reason",
      );
    await clock.sleep(LOOK_MS, signal);
    signal.throwIfAborted();
  }
}
