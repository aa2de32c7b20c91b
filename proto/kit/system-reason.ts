/** Readable texts for system errors: the system's own texts repeat the call, and are empty for several addresses. */

import { systemCode } from "./errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of that path is a file",
  ENOSPC: "no space is left on the device",
  EMFILE: "too many files are open",
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was cut",
  EHOSTUNREACH: "there is no way there",
  ENETUNREACH: "there is no way there",
  ENOTFOUND: "nobody knows the name",
  EAI_AGAIN: "nobody knows the name now",
  ETIMEDOUT: "nothing answers there",
};

/** Returns the reason in words; the error's own text where it is of no kind that has some. */
export function systemReason(error: unknown): string {
  const known = REASONS[systemCode(error)];
  if (known !== undefined) return known;
  return error instanceof Error ? error.message : String(error);
}
