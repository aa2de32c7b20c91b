/** Which files an agent tells its hub of: a few, those first that somebody should look at. */

import type { tailrace } from "#proto/messages.ts";
import type { FileState } from "./inputs/input.ts";

/** Some 5 kB a message; the hub keeps the last one of each agent. */
const FILES_MAX = 50;
/** Longer paths lose their beginning: the end tells files apart. */
const PATH_MAX = 400;

/** A file with the input that reads it. */
export interface InputFile extends FileState {
  readonly input: string;
}

/** The files told, and how many there are beside them. */
export interface FileList {
  readonly files: tailrace.FileStatus.$Properties[];
  readonly filesMore: number;
}

/** Returns the files with errors, then those with most bytes to send, to commit, then those that are open. */
export function fileList(all: Iterable<InputFile>): FileList {
  const files = [...all].sort(byUrgency);
  return {
    files: files.slice(0, FILES_MAX).map((file) => ({
      input: file.input,
      path: file.path.length > PATH_MAX ? `…${file.path.slice(1 - PATH_MAX)}` : file.path,
      place: file.place,
      sizeBytes: file.sizeBytes,
      sentBytes: file.sentBytes,
      committedBytes: file.committedBytes,
      lastError: file.lastError.slice(0, PATH_MAX),
    })),
    filesMore: Math.max(0, files.length - FILES_MAX),
  };
}

function byUrgency(a: InputFile, b: InputFile): number {
  const weight = (file: InputFile): readonly number[] => [
    file.lastError === "" ? 0 : 1,
    file.sizeBytes - file.sentBytes,
    file.sizeBytes - file.committedBytes,
    file.place === "closed" ? 0 : 1,
  ];
  const [left, right] = [weight(a), weight(b)];
  const at = left.findIndex((value, place) => value !== right[place]);
  return at < 0 ? (a.path < b.path ? -1 : 1) : right[at]! - left[at]!;
}
