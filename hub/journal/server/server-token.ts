/** The token with which clients sign in to the embedded nats-server. */

import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";

/** Too many to guess. */
const TOKEN_BYTES = 24;

/** Returns the token in the file `path`. It is created at the first start, so agents keep theirs across restarts. */
export function keptToken(path: string): string {
  try {
    const kept = readFileSync(path, "utf8").trim();
    if (kept !== "") return kept;
    rmSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  writeFileAtomic(path, `${token}\n`, 0o600);
  return token;
}
