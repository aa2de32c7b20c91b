/** Reads what the machine gives this process, for the bootstrap checks. */

import { readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import type { MachineLimits } from "./bootstrap-checks.ts";

/** Where the facts come from; tests give their own. */
export interface FactSources {
  /** Text of a file; undefined where it can't be read. */
  readonly read: (path: string) => string | undefined;
  /** Magic number of the file system that holds `path` (statfs(2), f_type); undefined where there is no such path. */
  readonly filesystemType: (path: string) => number | undefined;
  /** Bytes the control group allows; 0 or more than the machine has: no limit. */
  readonly constrainedMemoryBytes: () => number;
  readonly totalMemoryBytes: () => number;
}

/** Magic numbers of linux/magic.h. */
const IN_MEMORY = new Set([0x0102_1994 /* tmpfs */, 0x8584_58f6 /* ramfs */]);
const OVERLAY = 0x794c_7630;

const systemSources: FactSources = {
  read: (path) => ignoreMissing(() => readFileSync(path, "utf8")),
  filesystemType: (path) => ignoreMissing(() => statfsSync(path).type),
  constrainedMemoryBytes: () => process.constrainedMemory(),
  totalMemoryBytes: totalmem,
};

/** Returns the facts for a hub whose data goes to `dataFolder` (absolute; it need not be there yet). */
export function readMachineLimits(dataFolder: string, sources: FactSources = systemSources): MachineLimits {
  const limit = sources.constrainedMemoryBytes();
  const limited = limit > 0 && limit < sources.totalMemoryBytes();
  return {
    maxMapCount: wholeNumber(sources.read("/proc/sys/vm/max_map_count")),
    openFilesLimit: openFilesLimit(sources.read("/proc/self/limits")),
    memoryLimitBytes: limited ? limit : undefined,
    dataFilesystem: kindOfFilesystem(nearestType(dataFolder, sources)),
  };
}

/** The soft limit: Node raises it to the hard one when it starts. */
function openFilesLimit(limits: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(limits ?? "")?.[1];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : wholeNumber(soft);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/** Type of the file system of `folder`, or of the nearest folder above that is there. */
function nearestType(folder: string, { filesystemType }: FactSources): number | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const type = filesystemType(at);
    if (type !== undefined || at === dirname(at)) return type;
  }
}

function kindOfFilesystem(type: number | undefined): MachineLimits["dataFilesystem"] {
  if (type === undefined) return "unknown";
  if (IN_MEMORY.has(type)) return "memory";
  return type === OVERLAY ? "container layer" : "disk";
}

function ignoreMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
