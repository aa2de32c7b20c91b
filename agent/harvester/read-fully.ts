/** Reading at a place of an open file. */

import { read as readCallback } from "node:fs";

/** Reads `length` bytes at `position` into `buffer` from `at` on; resolves with fewer only at the file's end. */
export async function readFully(
  fd: number,
  buffer: Buffer,
  at: number,
  length: number,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < length) {
    const bytes = await readOnce(fd, buffer, at + done, length - done, position + done);
    if (bytes === 0) break;
    done += bytes;
  }
  return done;
}

function readOnce(fd: number, buffer: Buffer, at: number, length: number, position: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  readCallback(fd, buffer, at, length, position, (error, bytes) =>
    error === null ? resolve(bytes) : reject(error),
  );
  return promise;
}
