/** What `npm start` reads: the files named, or the logs of this machine. */

import { accessSync, constants, existsSync, globSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { AppError } from "#proto/kit/errors.ts";

export interface Sources {
  /** Files and globs, absolute. */
  readonly paths: readonly string[];
  /** Whether the systemd journal is read too. */
  readonly journal: boolean;
  /** A message about the choice. */
  readonly notes: readonly string[];
  /** What finds the lines of the files named, in the syntax of query_string; empty: every line. */
  readonly query: string;
}

/** Read by default: the text logs that people use most. */
const MACHINE_LOGS = [
  "/var/log/*.log",
  "/var/log/syslog",
  "/var/log/messages",
  "/var/log/auth.log",
  "/var/log/*/*.log",
];
/** Where these exist, a syslog daemon writes the journal's lines to files. */
const SYSLOG_FILES = ["/var/log/syslog", "/var/log/messages"];
const JOURNALS = ["/run/log/journal", "/var/log/journal"];
const GLOB = /[*?[{]/;
/** Unreadable files that are named. */
const MOST_NAMED = 3;

/** Returns what to read. Throws usage_invalid where that is nothing or something of it isn't there. */
export function chooseSources(words: readonly string[]): Sources {
  return words.length === 0 ? machineSources() : namedSources(words);
}

function machineSources(): Sources {
  const [readable, unreadable] = byReadability([...new Set(globSync(MACHINE_LOGS))].filter(isFile));
  const journal =
    !SYSLOG_FILES.some((path) => readable.includes(path)) &&
    JOURNALS.some(existsSync) &&
    isProgram("journalctl");
  if (readable.length === 0 && !journal)
    throw usageError("no readable log under /var/log; name files: npm start -- FILE …");
  const journalToo = journal ? " and the systemd journal" : "";
  const notes = [`reading ${count(readable.length, "log")} under /var/log${journalToo}`];
  if (unreadable.length > 0) {
    const names = unreadable.slice(0, MOST_NAMED).join(", ") + (unreadable.length > MOST_NAMED ? ", …" : "");
    notes.push(
      `${unreadable.length} more can't be read by this user (${names}); "sudo usermod -aG adm $USER" and a new sign-in let you`,
    );
  }
  return { paths: readable, journal, notes, query: "" };
}

function namedSources(words: readonly string[]): Sources {
  const notes: string[] = [];
  const files: string[] = [];
  const waiting: string[] = [];
  for (const word of words) {
    const found = filesOf(word);
    if (found.length === 0) {
      waiting.push(word);
      notes.push(`no file matches ${word} yet; it is read as soon as there is one`);
    }
    files.push(...found);
  }
  const [readable, unreadable] = byReadability(files);
  for (const path of unreadable) notes.push(`can't read ${path}: this user may not; its owner or root can`);
  if (readable.length === 0 && waiting.length === 0)
    throw usageError(`${notes.join("\n  ")}\n  nothing is left to read`);
  notes.unshift(`reading ${count(readable.length, "file")}`);
  const paths = words.map((word) => resolve(word));
  return { paths, journal: false, notes, query: queryOf(paths) };
}

/** Returns the query for lines of files and globs, absolute. */
function queryOf(paths: readonly string[]): string {
  const terms = paths.map((path) => (existsSync(path) || !GLOB.test(path) ? quoted(path) : wildcardOf(path)));
  return `log.file.path:${terms.length === 1 ? terms[0] : `(${terms.join(" OR ")})`}`;
}

function quoted(path: string): string {
  return `"${path.replaceAll(/["\\]/g, "\\$&")}"`;
}

/** A term with the wildcards * and ?, which also replace alternatives and classes of characters. */
function wildcardOf(glob: string): string {
  return glob.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\*+/g, "*").replaceAll(/[\\/+\-=&|!(){}[\]^"~:\s]/g, "\\$&");
}

/** Returns the files that a word of the command line means. Throws usage_invalid. */
function filesOf(word: string): string[] {
  if (word.startsWith("-")) throw usageError(`unknown option ${word}; npm start -- --help lists the options`);
  if (existsSync(word)) {
    if (statSync(word).isDirectory())
      throw usageError(`${word} is a folder; name its files: npm start -- '${join(word, "*.log")}'`);
    return [word];
  }
  if (!GLOB.test(word)) throw usageError(`there is no file ${word}`);
  return globSync(word).filter(isFile);
}

function byReadability(paths: readonly string[]): [readable: string[], unreadable: string[]] {
  const readable = paths.filter(isReadable);
  return [readable, paths.filter((path) => !readable.includes(path))];
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function isProgram(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}

function count(number: number, what: string): string {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

function usageError(message: string): AppError {
  return new AppError("usage_invalid", message);
}
