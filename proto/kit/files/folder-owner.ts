/** Keeps commands that root runs from making files that the service's own user can't open. */

import { readFileSync, statSync } from "node:fs";
import { AppError } from "#proto/kit/errors.ts";

const ROOT = 0;

/** Who owns a folder, numbers as the system has them. */
export interface FolderOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the owner of `folder` where this process is root and the folder is somebody else's; undefined otherwise. */
export function foreignOwner(folder: string): FolderOwner | undefined {
  if (process.getuid?.() !== ROOT) return undefined;
  const { uid, gid } = statSync(folder, { throwIfNoEntry: false }) ?? { uid: ROOT, gid: ROOT };
  return uid === ROOT ? undefined : { uid, gid };
}

/**
 * Throws usage_invalid where root would make files in a folder of another user, saying how to run `program`
 * ("tailrace-hub") as that user.
 */
export function checkFolderOwner(folder: string, program: string): void {
  const owner = foreignOwner(folder);
  if (owner === undefined) return;
  const name = userName(owner.uid) ?? owner.uid;
  throw new AppError(
    "usage_invalid",
    `${folder} belongs to the user ${name}, who couldn't open what root makes there; run the command as that user: ${asUser(owner.uid, program)}`,
  );
}

/** Returns advice for users without access: the command that runs `program` as the owner of `folder`. */
export function asOwnerOf(folder: string, program: string): string {
  const { uid } = statSync(folder, { throwIfNoEntry: false }) ?? { uid: ROOT };
  return `run the command as the user of the folder: ${asUser(uid, program)}`;
}

function asUser(uid: number, program: string): string {
  if (uid === ROOT) return `sudo ${program} …`;
  return `sudo -u ${userName(uid) ?? `'#${uid}'`} ${program} …`;
}

/** As passwd(5) has it; undefined for a user that only other sources know. */
function userName(uid: number): string | undefined {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    return lines.find((line) => line.split(":")[2] === String(uid))?.split(":")[0];
  } catch {
    return undefined;
  }
}
