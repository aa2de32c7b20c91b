/**
 * Buckets with damaged records. A nats-server from 2.10 on that overwrites one drops all records which it wrote after it, or never
 * answers the write; it can't remove one alone either. So a bucket is written anew before anybody uses it.
 *
 * | what is found | what is done | what can go wrong |
 * |---|---|---|
 * | as many records can be read as are stored | nothing | one is damaged later, while the hub runs: found at the next start |
 * | fewer | the others are copied to a file, which gets its name once it is complete; the bucket is emptied and filled from the file, which is then removed | the damaged records are lost; the log names their keys |
 * | a complete file (a crash came in between) | what the bucket doesn't have is put back, and the file is removed; then the rows above | – |
 *
 * Only the one user of a server may do this: what another writes between copying and emptying would be lost. Where several servers
 * store a bucket, they restore it from each other.
 */

import { closeSync, createReadStream, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { toAppError } from "#proto/kit/errors.ts";
import { syncFolder, writeFully } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket, StateChange } from "#proto/kit/state-bucket.ts";

/** A bucket that nobody uses yet. */
export interface UnusedBucket extends Pick<StateBucket, "create"> {
  readonly name: string;
  /** Calls `take` with all that can be read, maybe again after a failure; resolves with the number of records that can't. */
  readAll(take: (entry: StateChange) => void, options: { readonly valuesToo: boolean }): Promise<number>;
  /** Keys of all records, of those that can't be read too. */
  storedKeys(): Promise<string[]>;
  /** Removes all records. */
  clear(): Promise<void>;
}

/** Record of the file, a line of JSON. */
interface CopiedRecord {
  readonly key: string;
  /** Base64. */
  readonly value: string;
}

/** Writes a bucket anew that has damaged records. `folder`: of the hub alone. Throws unavailable, timeout or a file's error. */
export async function repairBucket(bucket: UnusedBucket, folder: string, log: Logger): Promise<void> {
  const file = join(folder, `${bucket.name}.copy`);
  await putBack(bucket, file);
  if ((await bucket.readAll(() => undefined, { valuesToo: false })) === 0) return;
  const lost = await copy(bucket, file);
  log.error(
    { bucket: bucket.name, keys: lost },
    "records of the hub's state are damaged on disk and lost; all others are written anew",
  );
  await bucket.clear();
  await putBack(bucket, file);
}

/** Copies what can be read; returns the keys of the rest. */
async function copy(bucket: UnusedBucket, file: string): Promise<string[]> {
  const unread = new Set(await bucket.storedKeys());
  const part = `${file}.part`;
  const fd = openSync(part, "w", 0o600);
  try {
    const take = ({ key, value }: StateChange): void => {
      unread.delete(key);
      if (value === null) return;
      const record: CopiedRecord = { key, value: Buffer.from(value).toString("base64") };
      writeFully(fd, Buffer.from(`${JSON.stringify(record)}\n`));
    };
    await bucket.readAll(take, { valuesToo: true });
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(part, file);
  syncFolder(dirname(file));
  return [...unread];
}

/** Puts back what the file has and the bucket hasn't; removes the file. Does nothing without a file. */
async function putBack(bucket: UnusedBucket, file: string): Promise<void> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { key, value } = JSON.parse(line) as CopiedRecord;
    try {
      await bucket.create(key, Buffer.from(value, "base64"));
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict") throw error;
    }
  }
  rmSync(file);
  syncFolder(dirname(file));
}
