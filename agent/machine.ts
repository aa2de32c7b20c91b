/** What the agent finds out about the machine and itself before it reads files. */

import { fstatSync } from "node:fs";
import { sep } from "node:path";
import type { InputContext } from "#agent/contract/input.ts";
import { systemTellsBirth } from "#agent/harvester/identity.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Returns false where the system doesn't tell when files were made; tried in the folder of the agent's data. */
export function findOutBirth(pathData: string, log: Logger): boolean {
  try {
    const tells = systemTellsBirth(pathData);
    if (!tells)
      log.info("the system doesn't tell when files were made; only their content tells reused inodes");
    return tells;
  } catch (error) {
    log.warn(
      { error },
      "can't find out whether the system tells when files were made; taking it that it does",
    );
    return true;
  }
}

/** Returns what recognises the agent's own log (standard error into a file) and its data: reading them would never end. */
export function ownFiles(pathData: string): InputContext["isOwnFile"] {
  const outputs = [1, 2].flatMap((fd) => {
    try {
      const stat = fstatSync(fd);
      return stat.isFile() ? [stat] : [];
    } catch {
      return [];
    }
  });
  return (file, path) =>
    path.startsWith(pathData + sep) || outputs.some(({ dev, ino }) => dev === file.dev && ino === file.ino);
}
