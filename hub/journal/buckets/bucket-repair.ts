/**
 * Buckets with damaged records. A nats-server from 2.10 on that overwrites one drops all records which it wrote after
 * it, or never answers the write; 2.9 loses what is written in its place. None can remove one alone. So the server's
 * hub rewrites such a bucket when it opens it.
 *
 * | what is found | what is done | what can go wrong |
 * |---|---|---|
 * | as many records can be read as are stored | nothing | one is damaged later, while the hub runs: found at the next start |
 * | fewer, but each key can be read when it is asked for | nothing: the server only paused | – |
 * | fewer | the others are copied to a file, which gets its name once it is complete; what they were is removed from the bucket, and the file is put back | the damaged records are lost; the log names their keys. A nats-server 2.9 has the others on disk after two minutes only |
 * | the same, and there is no space for the file | nothing, the log says so | the bucket stays as it is |
 * | a complete file, and the bucket still has what it is of | the file is removed: the crash came before it was needed | – |
 * | a complete file, and the bucket was emptied, or the server has lost it | what the bucket doesn't have is put back, and the file is removed | – |
 * | a key that somebody else wrote or deleted since the copy (a command, or a hub that uses this one's server) | it stays as they left it | until the file is put back, some milliseconds, they miss the others |
 *
 * Where several servers store a bucket, they restore it from each other.
 */

import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { syncFolder, writeFully } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateChange } from "#proto/kit/state-bucket.ts";

/** Ending of the copies' names; what is before it is the name of the bucket. */
const COPY = ".copy";

/** What the repair needs of a bucket. */
export interface RepairedBucket {
  readonly name: string;
  /** Number of its records, and their first and last sequence. */
  bounds(): Promise<{
    readonly messages: number;
    readonly firstSequence: number;
    readonly lastSequence: number;
  }>;
  /** Calls `take` with all that can be read, maybe again after a failure; resolves with the number of records that can't. */
  readAll(take: (entry: StateChange) => void, options: { readonly valuesToo: boolean }): Promise<number>;
  /** Keys of all records, of those that can't be read too. */
  storedKeys(): Promise<string[]>;
  /** Returns a key's record, value null for a deleted one; null if there is none that can be read. */
  read(key: string): Promise<StateChange | null>;
  /** Removes the records up to a sequence. */
  clear(lastSequence: number): Promise<void>;
  /** Stores a key without a record. Throws journal_conflict if it has one, that of a deletion included. */
  add(key: string, value: Uint8Array): Promise<unknown>;
}

/** First line of the file: what it is a copy of. */
interface CopyHeader {
  readonly lastSequence: number;
}

/** Each further line. */
interface CopiedRecord {
  readonly key: string;
  /** Base64. */
  readonly value: string;
}

/**
 * Rewrites a bucket that has damaged records. `folder`: of the hub alone. Throws the bucket's errors, data_corrupt for
 * a damaged copy, and errors of the file system.
 */
export async function repairBucket(bucket: RepairedBucket, folder: string, log: Logger): Promise<void> {
  const file = join(folder, bucket.name + COPY);
  await putBack(bucket, file);
  if ((await bucket.readAll(() => undefined, { valuesToo: false })) === 0) return;
  let copy: Copy | undefined;
  try {
    copy = await makeCopy(bucket, file);
  } catch (err) {
    rmSync(`${file}.part`, { force: true });
    if (err instanceof AppError) throw err; // of the bucket, not of the disk
    log.error(
      { err, bucket: bucket.name },
      "records of the hub's state are damaged, and the others can't be copied",
    );
  }
  if (copy === undefined) return;
  log.error(
    { bucket: bucket.name, keys: copy.lost },
    "records of the hub's state are damaged on disk and lost; all others are written anew",
  );
  await bucket.clear(copy.lastSequence);
  await putBack(bucket, file);
}

/** Returns the names of the buckets whose repair a crash has interrupted. */
export function interruptedRepairs(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(COPY));
  return files.map((name) => name.slice(0, -COPY.length));
}

interface Copy extends CopyHeader {
  /** Keys of the damaged records. */
  readonly lost: readonly string[];
}

/** Copies what can be read; returns undefined, without a copy, if that is all. */
async function makeCopy(bucket: RepairedBucket, file: string): Promise<Copy | undefined> {
  // Before anything is read: what is written from now on stays in the bucket.
  const { lastSequence } = await bucket.bounds();
  const unread = new Set(await bucket.storedKeys());
  const part = `${file}.part`;
  const fd = openSync(part, "w", 0o600);
  try {
    const write = (line: CopyHeader | CopiedRecord): void =>
      writeFully(fd, Buffer.from(`${JSON.stringify(line)}\n`));
    const take = ({ key, value }: StateChange): void => {
      unread.delete(key);
      if (value !== null) write({ key, value: Buffer.from(value).toString("base64") });
    };
    write({ lastSequence });
    await bucket.readAll(take, { valuesToo: true });
    // A server that paused ends a listing as one does that can't deliver more.
    for (const key of unread) {
      const found = await bucket.read(key);
      if (found !== null) take(found);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (unread.size === 0) {
    rmSync(part);
    return undefined;
  }
  renameSync(part, file);
  syncFolder(dirname(file));
  return { lastSequence, lost: [...unread] };
}

/** Puts back what the file has and an emptied bucket hasn't; removes the file. Does nothing without a file. */
async function putBack(bucket: RepairedBucket, file: string): Promise<void> {
  if (!existsSync(file)) return;
  const { messages, firstSequence } = await bucket.bounds();
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    number++;
    const record = parse(line, file, number);
    if ("lastSequence" in record) {
      if (messages > 0 && firstSequence <= record.lastSequence) break; // the bucket wasn't emptied
    } else await addMissing(bucket, record);
  }
  rmSync(file);
  syncFolder(dirname(file));
}

function parse(line: string, file: string, number: number): CopyHeader | CopiedRecord {
  try {
    return JSON.parse(line) as CopyHeader | CopiedRecord;
  } catch (error) {
    const message = `line ${number} of ${file} is damaged; remove that line to start without its record`;
    throw new AppError("data_corrupt", message, { cause: error });
  }
}

async function addMissing(bucket: RepairedBucket, { key, value }: CopiedRecord): Promise<void> {
  try {
    await bucket.add(key, Buffer.from(value, "base64"));
  } catch (error) {
    if (toAppError(error).code !== "journal_conflict") throw error;
  }
}
