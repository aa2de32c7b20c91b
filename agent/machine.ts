/** Checks of the machine that the agent makes before it reads files. */

import { fstatSync } from "node:fs";
import { sep } from "node:path";
import type { InputContext } from "#agent/contract/input.ts";
import { systemHasBirthTimes } from "#agent/harvester/identity.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Returns false if the file system of the agent's data provides no birth times. */
export function probeBirthTimes(pathData: string, log: Logger): boolean {
  try {
    const hasBirthTimes = systemHasBirthTimes(pathData);
    if (!hasBirthTimes)
      log.info("the file system provides no birth times; reused inodes are recognised by content alone");
    return hasBirthTimes;
  } catch (error) {
    log.warn({ error }, "can't find out whether the file system provides birth times; assuming that it does");
    return true;
  }
}

/**
 * Returns what recognises the agent's own log (standard error into a file), its data and its output file: reading them
 * would never end. `outputFile`: path of the output to a file, null without one; rotated files have it with a suffix.
 */
export function ownFiles(pathData: string, outputFile: string | null): InputContext["isOwnFile"] {
  const outputs = [1, 2].flatMap((fd) => {
    try {
      const stat = fstatSync(fd);
      return stat.isFile() ? [stat] : [];
    } catch {
      return [];
    }
  });
  return (file, path) =>
    path.startsWith(pathData + sep) ||
    path === outputFile ||
    (outputFile !== null && path.startsWith(`${outputFile}.`)) ||
    outputs.some(({ dev, ino }) => dev === file.dev && ino === file.ino);
}
