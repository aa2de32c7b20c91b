/** Secrets that a run of tests made or typed, and the search for them in what its processes printed. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Shorter ones would be found by accident. */
const MIN_LENGTH = 8;
/** What processes print; the journal and the stores of a hub or an agent are data, not output. */
const PRINTED = "**/{*.log,*.out}";
const DATA = /(?:^|\/)(?:nats|state|registry|spool|engine)\/|\/\d{6}\.log$/;
/** The hub prints the way to the first account once, on purpose. */
const SETUP_LINK = /\S+\/api\/auth\/setup\/\S+/g;

/** One for the process: each file of whole-system tests has its own. */
const kept = new Set<string>();

/** Registers `secret`, which must not occur in any output. Throws where it is too short to be unmistakable. */
export function keepSecret(secret: string): string {
  if (secret.length < MIN_LENGTH)
    throw new Error(`a secret of ${secret.length} characters can't be searched for`);
  kept.add(secret);
  return secret;
}

/** Returns whether `text` holds a kept secret, as it is or as it stands in an address. */
export function holdsSecret(text: string): boolean {
  for (const secret of kept) {
    if (text.includes(secret) || text.includes(encodeURIComponent(secret))) return true;
  }
  return false;
}

/** Returns the files below `folder` that processes printed a kept secret to, as paths relative to it. */
export function outputWithSecrets(folder: string): string[] {
  if (kept.size === 0) return [];
  return globSync(PRINTED, { cwd: folder })
    .filter((path) => !DATA.test(path))
    .filter((path) => holdsSecret(readFileSync(join(folder, path), "utf8").replace(SETUP_LINK, "")));
}
