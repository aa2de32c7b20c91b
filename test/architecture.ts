/**
 * Checks which file imports which. Parts of the project see only the parts below them, folders inside a part see only the
 * folders below them, and no files import each other in a circle. Type imports count like all others. The checks work on
 * texts, so that the checker itself can be tested.
 *
 * `node test/architecture.ts --print` prints the order.
 */

import { posix } from "node:path";
import { FOLDERS, PARTS } from "./architecture-order.ts";

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
  /** A file that is started as a worker or a process. */
  readonly separate: boolean;
}

/** Returns the part a file belongs to: the longest key of `PARTS` that its path starts with. */
export function partOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  const nested = `${first}/${second}`;
  return nested in PARTS && path.startsWith(`${nested}/`) ? nested : first;
}

/** Returns the imports of a file that lead to a file of the project. Imports of packages are left out. */
export function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, separate: boolean): void => {
    if (!/^[#.]/.test(specifier)) return;
    const to = targetOf(path, specifier);
    // The manifest is data: the version.
    if (to === "package.json") return;
    found.push({ from: path, to, specifier, typeOnly, separate });
  };
  for (const [, type, specifier] of text.matchAll(STATEMENT)) add(specifier!, type !== undefined, false);
  for (const [, specifier] of text.matchAll(SIDE_EFFECT)) add(specifier!, false, false);
  for (const [, specifier] of text.matchAll(DYNAMIC)) add(specifier!, false, false);
  for (const [, specifier] of text.matchAll(FILE_URL)) add(specifier!, false, true);
  return found;
}

/** Returns what is loaded with `entries`: paths in the project and packages. Type imports and dynamic ones load nothing. */
export function loadedWith(sources: Sources, entries: readonly string[]): Set<string> {
  const loaded = new Set(entries);
  for (const path of loaded) {
    const text = sources.get(path) ?? "";
    const specifiers = [
      ...[...text.matchAll(STATEMENT)].filter(([, type]) => type === undefined).map((match) => match[2]!),
      ...[...text.matchAll(SIDE_EFFECT)].map((match) => match[1]!),
    ];
    for (const specifier of specifiers) loaded.add(targetOf(path, specifier));
  }
  return loaded;
}

/** Returns a path in the project, or the specifier of a package. */
function targetOf(path: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : specifier;
}

/** Formatted code has its statements at the start of a line. Quoted and commented ones are indented. */
const STATEMENT = /^(?:import|export)\s+(type\s+)?[\w$*{},\s]+?\sfrom\s+"([^"\n]+)"/gm;
const SIDE_EFFECT = /^import\s+"([^"\n]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"\n]+)"\s*\)/g;
const FILE_URL = /\bnew URL\(\s*"([^"\n]+\.[jt]s)",\s*import\.meta\.url/g;
/** A dynamic import whose target isn't written out. */
const COMPUTED = /\bimport\(\s*[^\s"')]/;

/** Returns one sentence for each import that breaks the order of the parts. */
export function layerFaults(sources: Sources): string[] {
  const faults: string[] = [];
  for (const [path, text] of sources) {
    const isTest = path.endsWith(".test.ts");
    if (COMPUTED.test(text) && !isTest && partOf(path) !== "test")
      faults.push(`${path} imports a computed path`);
    for (const each of importsOf(path, text)) {
      const fault = faultOf(each, isTest, sources);
      if (fault !== undefined) faults.push(`${path} imports ${each.specifier}: ${fault}`);
    }
  }
  return faults;
}

function faultOf(each: Import, isTest: boolean, sources: Sources): string | undefined {
  const from = partOf(each.from);
  const to = partOf(each.to);
  if (!sources.has(each.to)) return "there is no such file";
  if (!each.separate) {
    if (each.specifier.startsWith("../..")) return "climbs out of its folder; write #part/…";
    if (each.specifier.startsWith(".") && from !== to) return "leaves its part; write #part/…";
  }
  if (from === to || from === "test") return undefined;
  if (to === "test") return isTest ? undefined : "the product must not import its tests";
  const allowed = PARTS[from];
  if (allowed === undefined) return `${from} has no row in PARTS`;
  if (
    allowed.some(
      (part) => to === part || each.to === part || (each.to.startsWith(`${part}/`) && part === "proto/gen"),
    )
  ) {
    return undefined;
  }
  return `${from} must not import ${to}`;
}

/** Returns one sentence for each import that breaks the order of the folders inside a part. Tests are left out. */
export function folderFaults(sources: Sources): string[] {
  const faults: string[] = [];
  for (const [path, text] of sources) {
    const part = partOf(path);
    if (path.endsWith(".test.ts") || part === "test") continue;
    const from = folderIn(part, path);
    const level = levelOf(part, from);
    if (level < 0) {
      faults.push(`${path}: the folder ${from} has no row in FOLDERS of ${part}`);
      continue;
    }
    for (const each of importsOf(path, text)) {
      if (partOf(each.to) !== part || !sources.has(each.to)) continue;
      const to = folderIn(part, each.to);
      if (levelOf(part, to) < level)
        faults.push(`${path} imports ${each.specifier}: ${to} lies above ${from}`);
    }
  }
  return faults;
}

/** Returns the folder of `path` inside its part, "." for the part's own files. */
function folderIn(part: string, path: string): string {
  return posix.relative(part, posix.dirname(path)) || ".";
}

function levelOf(part: string, folder: string): number {
  const rows = FOLDERS[part];
  if (rows === undefined) return folder === "." ? 0 : -1;
  return rows.findIndex((row) => (typeof row === "string" ? row === folder : row.includes(folder)));
}

/** Returns the circles of files that import each other, each as "a → b → a". Type imports count. */
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
    for (const { to, separate } of importsOf(path, sources.get(path) ?? "")) {
      if (!separate && sources.has(to)) visit(to);
    }
    stack.pop();
    state.set(path, "done");
  };
  for (const path of sources.keys()) visit(path);
  return found;
}

/** Words that say nothing about what a file or folder holds. */
const EMPTY_WORDS = new Set(["util", "utils", "helper", "helpers", "common", "manager", "base", "impl"]);

/** Returns the paths that hold such a word. */
export function emptyNames(paths: Iterable<string>): string[] {
  return [...paths].filter((path) => path.split(/[/.\-_]/).some((word) => EMPTY_WORDS.has(word)));
}

/** Returns the paths of the project that a page names in backticks ("`hub/engine/`"). */
export function namedPaths(markdown: string): string[] {
  const quoted = [...markdown.matchAll(/`([^`\s]+)`/g)].map(([, text]) => text!);
  return quoted.filter((text) => /^(proto|agent|hub|ui|deploy|test|docs)\/[\w./-]*$/.test(text));
}

/** Returns the names that a page says to be in a file, with that file: "`Shard.apply` (`hub/engine/shard.ts`)". */
export function namedExports(markdown: string): { readonly name: string; readonly file: string }[] {
  const text = markdown.replace(/\s+/g, " ");
  const pairs = text.matchAll(
    /`[\w.]*?(#?\w+)` (?:in |of |\()`((?:proto|agent|hub|ui|deploy|test)\/[\w./-]+\.ts)`/g,
  );
  return [...pairs].map(([, name, file]) => ({ name: name!, file: file! }));
}

/**
 * Returns the TypeScript files that the comments of a source name, or for a page of Markdown its whole text: by their
 * path, or by its end ("membership/member-record.ts").
 */
export function namedFiles(text: string, isPage: boolean): string[] {
  const comments = isPage ? text : [...text.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].join("\n");
  return [
    ...comments.matchAll(/(?<![\w/.#:-])(?:[\w-]+\/)*[\w-]+(?:\.test|\.long\.test)?\.ts(?![\w/])/g),
  ].map(String);
}

/** Returns the order as text: each part with the parts it may import, then its folders from top to bottom. */
export function printedOrder(): string {
  const lines = Object.entries(PARTS).flatMap(([part, below]) => [
    `${part} → ${below.join(", ") || "nothing"}`,
    ...(FOLDERS[part] ?? []).map((row) => `    ${typeof row === "string" ? row : row.join(" ⇄ ")}`),
  ]);
  return `${lines.join("\n")}\n`;
}

if (import.meta.main) {
  if (process.argv.includes("--print")) process.stdout.write(printedOrder());
  else {
    process.stderr.write(
      "Print the order: node test/architecture.ts --print\nCheck it: node test/run.ts test/architecture.test.ts\n",
    );
    process.exitCode = 2;
  }
}
