/**
 * Checks which file imports which: rooms see only what lies below them, siblings don't see each other, no file
 * imports itself in a circle. Works on texts, so that the checker itself can be tested.
 */

import { posix } from "node:path";

/** Path in the project ("hub/engine/shard.ts") → text. */
export type Sources = ReadonlyMap<string, string>;

/** One import of a file. */
export interface Import {
  readonly from: string;
  /** Path in the project, or the name of a package. */
  readonly to: string;
  readonly specifier: string;
  /** Types only: nothing is loaded for it. */
  readonly typeOnly: boolean;
  /** A file started as a worker or process of its own. */
  readonly separate: boolean;
}

const KIT = "proto/kit";
const ENGINE_LEVEL = ["hub/engine", "hub/journal", "proto", KIT];
const SEARCH_LEVEL = ["hub/search", "hub/cluster", ...ENGINE_LEVEL];

/** Room → rooms it may import. Two rooms that stand in no row of each other are siblings. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  [KIT]: [],
  proto: [KIT],
  agent: ["proto", KIT],
  "hub/engine": ["proto", KIT],
  "hub/journal": ["proto", KIT],
  "hub/pipeline": ["proto", KIT],
  "hub/auth": [KIT],
  "hub/search": ENGINE_LEVEL,
  "hub/cluster": ENGINE_LEVEL,
  "hub/api": SEARCH_LEVEL,
  "hub/live": SEARCH_LEVEL,
  "hub/alerts": SEARCH_LEVEL,
  hub: ["hub/api", "hub/live", "hub/alerts", "hub/auth", "hub/pipeline", ...SEARCH_LEVEL],
  ui: ["proto/live.ts", "proto/gen"],
  deploy: ["proto", KIT],
};

/** Returns the room a file belongs to: the longest row of the table that its path starts with. */
export function roomOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  const nested = `${first}/${second}`;
  return nested in ALLOWED && path.startsWith(`${nested}/`) ? nested : first;
}

/** Returns the imports of a file that lead to a file of the project; packages are left out. */
export function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, separate: boolean): void => {
    if (!/^[#.]/.test(specifier)) return;
    const to = specifier.startsWith("#") ? specifier.slice(1) : posix.join(posix.dirname(path), specifier);
    found.push({ from: path, to, specifier, typeOnly, separate });
  };
  for (const [, type, specifier] of text.matchAll(STATEMENT)) add(specifier!, type !== undefined, false);
  for (const [, specifier] of text.matchAll(SIDE_EFFECT)) add(specifier!, false, false);
  for (const [, specifier] of text.matchAll(DYNAMIC)) add(specifier!, false, false);
  for (const [, specifier] of text.matchAll(FILE_URL)) add(specifier!, false, true);
  return found;
}

/** Formatted code has its statements at the start of a line; what is quoted or commented hasn't. */
const STATEMENT = /^(?:import|export)\s+(type\s+)?[\w$*{},\s]+?\sfrom\s+"([^"\n]+)"/gm;
const SIDE_EFFECT = /^import\s+"([^"\n]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"\n]+)"\s*\)/g;
const FILE_URL = /\bnew URL\(\s*"([^"\n]+\.[jt]s)",\s*import\.meta\.url/g;
/** A dynamic import whose target can't be read off the text. */
const COMPUTED = /\bimport\(\s*[^\s"')]/;

/** Returns one sentence for each import that breaks the table. */
export function layerFaults(sources: Sources): string[] {
  const faults: string[] = [];
  for (const [path, text] of sources) {
    const isTest = path.endsWith(".test.ts");
    if (COMPUTED.test(text) && !isTest && roomOf(path) !== "test")
      faults.push(`${path} imports a computed path`);
    for (const each of importsOf(path, text)) {
      const fault = faultOf(each, isTest, sources);
      if (fault !== undefined) faults.push(`${path} imports ${each.specifier}: ${fault}`);
    }
  }
  return faults;
}

function faultOf(each: Import, isTest: boolean, sources: Sources): string | undefined {
  const from = roomOf(each.from);
  const to = roomOf(each.to);
  if (!sources.has(each.to)) return "there is no such file";
  if (!each.separate) {
    if (each.specifier.startsWith("../..")) return "climbs out of its folder; write #room/…";
    if (each.specifier.startsWith(".") && from !== to) return "leaves its room; write #room/…";
  }
  if (from === to || from === "test") return undefined;
  if (to === "test") return isTest ? undefined : "the product must not know its tests";
  const allowed = ALLOWED[from];
  if (allowed === undefined) return `${from} stands in no row of the table`;
  if (
    allowed.some(
      (room) => to === room || each.to === room || (each.to.startsWith(`${room}/`) && room === "proto/gen"),
    )
  ) {
    return undefined;
  }
  return `${from} must not see ${to}`;
}

/** Returns circles of files that load each other, each as "a → b → a". */
export function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const state = new Map<string, "open" | "done">();
  const stack: string[] = [];
  const visit = (path: string): void => {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      found.push([...stack.slice(stack.indexOf(path)), path].join(" → "));
      return;
    }
    state.set(path, "open");
    stack.push(path);
    for (const { to, typeOnly, separate } of importsOf(path, sources.get(path) ?? "")) {
      if (!typeOnly && !separate && sources.has(to)) visit(to);
    }
    stack.pop();
    state.set(path, "done");
  };
  for (const path of sources.keys()) visit(path);
  return found;
}

/** Words that say nothing of what a file or folder holds. */
const EMPTY_WORDS = new Set(["util", "utils", "helper", "helpers", "common", "manager", "base", "impl"]);

/** Returns the paths that hold a word that says nothing. */
export function emptyNames(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => path.split(/[/.\-_]/).some((word) => EMPTY_WORDS.has(word)));
}

/** Returns the paths of the project that a page names in backticks ("`hub/engine/`"). */
export function namedPaths(markdown: string): string[] {
  const quoted = [...markdown.matchAll(/`([^`\s]+)`/g)].map(([, text]) => text!);
  return quoted.filter((text) => /^(proto|agent|hub|ui|deploy|test|docs)\/[\w./-]*$/.test(text));
}
