/** Chooses the files that the agent's status message lists: the most urgent first, up to a limit. */

import type { FileState } from "#agent/contract/input.ts";
import type { tailrace } from "#proto/messages.ts";

/** Some 5 kB a message; the hub keeps the last one of each agent. */
const FILES_MAX = 50;
/** Longer paths lose their beginning: files differ at the end. */
const PATH_MAX = 400;

/** The files of an input. */
export interface InputFiles {
  readonly id: string;
  readonly files: Iterable<FileState>;
}

/** A listed file with the input that reads it. */
interface Chosen {
  readonly input: string;
  readonly file: FileState;
}

/** The listed files, and the number of files that are left out. */
export interface FileList {
  readonly files: tailrace.FileStatus.$Properties[];
  readonly filesMore: number;
}

/** Returns the files with errors, then those with most bytes to send, to commit, then those that are open. */
export function fileList(inputs: Iterable<InputFiles>): FileList {
  const chosen: Chosen[] = [];
  let count = 0;
  for (const { id, files } of inputs) {
    for (const file of files) {
      count++;
      choose(chosen, id, file);
    }
  }
  return {
    files: chosen.map(({ input, file }) => ({
      input,
      path: file.path.length > PATH_MAX ? `…${file.path.slice(1 - PATH_MAX)}` : file.path,
      place: file.place,
      sizeBytes: file.sizeBytes,
      sentBytes: file.sentBytes,
      committedBytes: file.committedBytes,
      unfinishedBytes: file.unfinishedBytes,
      lastError: file.lastError.slice(0, PATH_MAX),
    })),
    filesMore: count - chosen.length,
  };
}

/** Puts a file in its place among the most urgent ones: an agent may know ten thousand, and most are like the last. */
function choose(chosen: Chosen[], input: string, file: FileState): void {
  const last = chosen.at(-1);
  if (chosen.length >= FILES_MAX && last !== undefined && byUrgency(last.file, file) < 0) return;
  const at = chosen.findIndex((each) => byUrgency(file, each.file) < 0);
  chosen.splice(at < 0 ? chosen.length : at, 0, { input, file });
  if (chosen.length > FILES_MAX) chosen.pop();
}

/** Negative: `a` comes first. */
function byUrgency(a: FileState, b: FileState): number {
  return (
    Number(b.lastError !== "") - Number(a.lastError !== "") ||
    endedBytes(b) - b.sentBytes - (endedBytes(a) - a.sentBytes) ||
    endedBytes(b) - b.committedBytes - (endedBytes(a) - a.committedBytes) ||
    Number(b.place !== "closed") - Number(a.place !== "closed") ||
    (a.path < b.path ? -1 : 1)
  );
}

/** Returns the size of a file's ended lines: the rest can't be sent yet. */
function endedBytes({ sizeBytes, unfinishedBytes }: FileState): number {
  return sizeBytes - unfinishedBytes;
}
