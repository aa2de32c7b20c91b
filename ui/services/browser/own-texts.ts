/**
 * Texts that an account leaves in the browser: drafts, and requests of the console. They may hold passwords, so that each
 * is read by its own account only, and all are forgotten when somebody signs out.
 */

import { preferenceNames, readPreference, writePreference } from "./preferences.ts";

const PREFIX = "own.";
/** The account that this browser is signed in with; no text has this name, as those end with an account. */
const SIGNED_IN = "own.account";
const PIPELINES = "pipeline-drafts";
/** Where earlier versions kept the same without an account; drafts of pipelines name theirs. */
const EARLIER = ["drafts", PIPELINES, "console.text", "console.history"];

/** Name of the account; undefined: unknown, and nothing is kept. */
export type Account = string | undefined;

/**
 * Opens the texts of the account that this browser is signed in with. In tabs that still show another account, nothing is
 * read or stored any more.
 */
export function openOwn(account: string, canSignOut: boolean): void {
  if (readPreference(SIGNED_IN) !== account) writePreference(SIGNED_IN, account);
  for (const name of EARLIER) {
    const text = readPreference(name);
    if (text === undefined) continue;
    // Before it is stored elsewhere: the storage may be full.
    writePreference(name, undefined);
    if (name === PIPELINES) moveByAccount(text);
    else if (!canSignOut) moveTo(account, name, text);
  }
}

/** Returns false if the browser isn't signed in with this account, as far as its storage shows. */
export function isOpen(account: Account): account is string {
  return account !== undefined && readPreference(SIGNED_IN) === account;
}

/** Returns a text that the account left; undefined if there is none. */
export function readOwn(account: Account, name: string): string | undefined {
  return isOpen(account) ? readPreference(keyOf(account, name)) : undefined;
}

/** Stores a text; undefined removes it. Returns false if the browser can't keep it. */
export function writeOwn(account: Account, name: string, text: string | undefined): boolean {
  return isOpen(account) && writePreference(keyOf(account, name), text);
}

/** Forgets the texts of every account. */
export function forgetOwn(): void {
  const own = preferenceNames().filter((name) => name.startsWith(PREFIX));
  for (const name of [...own, ...EARLIER]) writePreference(name, undefined);
}

function moveByAccount(text: string): void {
  try {
    const drafts = JSON.parse(text) as { readonly account: string }[];
    for (const account of new Set(drafts.map((draft) => draft.account)))
      moveTo(account, PIPELINES, JSON.stringify(drafts.filter((draft) => draft.account === account)));
  } catch {
    // Another program wrote there: nothing can be moved.
  }
}

/** Stores the text of an earlier version, unless there is a newer one. */
function moveTo(account: string, name: string, text: string): void {
  const key = keyOf(account, name);
  if (readPreference(key) === undefined) writePreference(key, text);
}

function keyOf(account: string, name: string): string {
  return `${PREFIX}${name}.${account}`;
}
