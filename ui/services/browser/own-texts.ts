/**
 * Texts that an account leaves in the browser: drafts, and requests of the console. They may hold passwords, so that each
 * is read by its own account only, and all are forgotten when somebody signs out.
 */

import { preferenceNames, readPreference, writePreference } from "./preferences.ts";

const PREFIX = "own.";
/** Where earlier versions kept the same without an account. */
const EARLIER = ["drafts", "pipeline-drafts", "console.text", "console.history"];

/** Name of the account; undefined: unknown, and nothing is kept. */
export type Account = string | undefined;

/** Returns a text that the account left; undefined if there is none. */
export function readOwn(account: Account, name: string): string | undefined {
  return account === undefined ? undefined : readPreference(keyOf(account, name));
}

/** Stores a text; undefined removes it. Returns false if the browser can't keep it. */
export function writeOwn(account: Account, name: string, text: string | undefined): boolean {
  return account !== undefined && writePreference(keyOf(account, name), text);
}

/** Forgets the texts of every account. */
export function forgetOwn(): void {
  const own = preferenceNames().filter((name) => name.startsWith(PREFIX));
  for (const name of [...own, ...EARLIER]) writePreference(name, undefined);
}

function keyOf(account: string, name: string): string {
  return `${PREFIX}${name}.${account}`;
}
