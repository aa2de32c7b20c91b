/** Index names: validation, and resolution of the expressions in requests. */

import { AppError } from "#proto/kit/errors.ts";
import { matchesWildcard } from "#proto/kit/wildcard.ts";
import { decodeDateMath } from "./date-math-name.ts";
import { indexKey } from "./index-metadata.ts";

/** Characters that an index name must not contain; ':' is not among them because 6.5 accepts it. */
const FORBIDDEN = ["\\", "/", "*", "?", '"', "<", ">", "|", " ", ","];

/** Prefix of the names of the hub's own indices. */
export const INTERNAL_PREFIX = ".tailrace-";

/** Index of task results, under the name that clients of 6.5 read. */
export const TASKS_INDEX = ".tasks";

/** Returns whether an index is the hub's own: only administrators may read it. */
export function isInternal(name: string): boolean {
  return name.startsWith(INTERNAL_PREFIX) || name === TASKS_INDEX;
}

/** Longest key of a bucket. */
const MAX_KEY_LENGTH = 512;

/** Throws index_name_invalid with the rule that `name` breaks. */
export function checkIndexName(name: string): void {
  const refuse = (why: string): never => {
    const shown = name.toWellFormed();
    throw new AppError("index_name_invalid", `Invalid index name [${shown}], ${why}`, {
      data: { index: shown },
    });
  };
  if (!name.isWellFormed()) refuse("must be well-formed Unicode, without half of a surrogate pair");
  if (name === "" || name === "." || name === "..") refuse("must not be '.' or '..'");
  if (FORBIDDEN.some((character) => name.includes(character))) {
    refuse('must not contain the following characters [ , ", *, \\, <, |, ,, >, /, ?]');
  }
  if (name.includes("#")) refuse("must not contain '#'");
  if (/^[_\-+]/.test(name)) refuse("must not start with '_', '-', or '+'");
  if (name !== name.toLowerCase()) refuse("must be lowercase");
  const bytes = Buffer.byteLength(name);
  if (bytes > 255) refuse(`index name is too long, (${bytes} > 255)`);
  if (indexKey(name).length > MAX_KEY_LENGTH)
    refuse("index name is too long, as each character beyond a-z, 0-9, _ and - counts for three");
}

/** How an expression is resolved. */
export interface ResolveOptions {
  /** Missing concrete names are left out instead of throwing. Default false. */
  readonly ignoreUnavailable?: boolean;
  /** A wildcard that matches nothing is no error. Default true. */
  readonly allowNoIndices?: boolean;
  /** Which states wildcards match. Default open. */
  readonly expandWildcards?: "open" | "closed" | "all" | "none";
  /** Wildcards also match hidden indices and aliases; a leading "." in pattern and name does the same. Default false. */
  readonly expandHidden?: boolean;
  /** True: wildcards don't match aliases, and an alias given by name is rejected. Default false. */
  readonly concreteOnly?: boolean;
}

/** The properties of an index that name resolution uses. */
export interface NamedIndex {
  readonly name: string;
  readonly aliases: Readonly<Record<string, { readonly is_hidden?: boolean }>>;
  readonly state: "open" | "close";
  readonly dataStream?: string;
  readonly settings?: { readonly raw: Readonly<Record<string, unknown>> };
}

/**
 * Returns the indices that `expression` denotes: names, aliases, data streams, `*` wildcards, `-exclusions`, `_all`,
 * comma-separated. Throws index_missing, index_name_invalid.
 */
export function resolveIndices<T extends NamedIndex>(
  indices: ReadonlyMap<string, T>,
  expression: string | undefined,
  options: ResolveOptions,
): T[] {
  const found = new Map<string, T>();
  let wildcards = false;
  for (const part of partsOf(expression)) {
    if (wildcards && part.startsWith("-")) {
      for (const index of matching(indices, part.slice(1), "all", options)) found.delete(index.name);
    } else if (part.includes("*") || part === "_all") {
      wildcards = true;
      const matches = matching(
        indices,
        part === "_all" ? "*" : part,
        options.expandWildcards ?? "open",
        options,
      );
      if (matches.length === 0 && options.allowNoIndices === false) throw indexMissing(part);
      for (const index of matches) found.set(index.name, index);
    } else {
      const exact = named(indices, part, options);
      if (exact.length === 0 && part.startsWith("_")) throw nameReserved(part);
      if (exact.length === 0 && options.ignoreUnavailable !== true) throw indexMissing(part);
      for (const index of exact) found.set(index.name, index);
    }
  }
  if (found.size === 0 && options.allowNoIndices === false) throw indexMissing(expression ?? "_all");
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the names of an index by which `expression` denotes it: its own, that of its data stream, those of aliases. */
export function denotingNames(
  index: NamedIndex,
  expression: string | undefined,
  options: ResolveOptions,
): ReadonlySet<string> {
  const names = new Set<string>();
  let wildcards = false;
  for (const part of partsOf(expression)) {
    if (wildcards && part.startsWith("-")) {
      for (const name of matchingNames(index, part.slice(1), "all", options)) names.delete(name);
    } else if (part.includes("*") || part === "_all") {
      wildcards = true;
      const pattern = part === "_all" ? "*" : part;
      const states = options.expandWildcards ?? "open";
      for (const name of matchingNames(index, pattern, states, options)) names.add(name);
    } else if (part === index.name || part === index.dataStream || Object.hasOwn(index.aliases, part)) {
      names.add(part);
    }
  }
  return names;
}

/** Returns the parts of an expression; those of none are all indices. */
function partsOf(expression = ""): string[] {
  const parts = expression
    .split(",")
    .map((part) => decodeDateMath(part.trim()))
    .filter((part) => part !== "");
  return parts.length === 0 || (parts.length === 1 && parts[0] === "_all") ? ["*"] : parts;
}

/** A leading "_" is an unknown operation, not an index. */
function nameReserved(name: string): AppError {
  return new AppError("index_name_invalid", `Invalid index name [${name}], must not start with '_'.`, {
    data: { index: name, index_uuid: "_na_" },
  });
}

/** Returns the error for a missing index. */
export function indexMissing(name: string): AppError {
  return new AppError("index_missing", "no such index", { data: { index: name } });
}

/** Throws request_invalid for an alias or a data stream when only indices are allowed. */
function named<T extends NamedIndex>(
  indices: ReadonlyMap<string, T>,
  name: string,
  { concreteOnly = false, ignoreUnavailable = false }: ResolveOptions,
): T[] {
  const exact = indices.get(name);
  if (exact !== undefined) return [exact];
  const found = [...indices.values()].filter(
    (index) => Object.hasOwn(index.aliases, name) || index.dataStream === name,
  );
  if (!concreteOnly || found.length === 0) return found;
  if (ignoreUnavailable) return [];
  const what = found[0]?.dataStream === name ? "a data stream" : "an alias";
  throw new AppError(
    "request_invalid",
    `The provided expression [${name}] matches ${what}, specify the corresponding concrete indices instead.`,
  );
}

type States = NonNullable<ResolveOptions["expandWildcards"]>;

function matching<T extends NamedIndex>(
  indices: ReadonlyMap<string, T>,
  pattern: string,
  states: States,
  options: ResolveOptions,
): T[] {
  return [...indices.values()].filter((index) => matchingNames(index, pattern, states, options).length > 0);
}

/** Returns the names of an index that a wildcard matches. */
function matchingNames(
  index: NamedIndex,
  pattern: string,
  states: States,
  { concreteOnly = false, expandHidden = false }: ResolveOptions,
): string[] {
  const isWanted = states === "all" || states === (index.state === "open" ? "open" : "closed");
  if (!isWanted) return [];
  const names = wildcardNames(index, pattern, concreteOnly, expandHidden);
  return names.filter((name) => matchesWildcard(pattern, name));
}

/** Returns the names of an index that a wildcard may match. */
function wildcardNames(
  { name, aliases, dataStream, settings }: NamedIndex,
  pattern: string,
  concreteOnly: boolean,
  expandHidden: boolean,
): string[] {
  const isSeen = (each: string, isHidden: boolean): boolean =>
    !isHidden || expandHidden || (each.startsWith(".") && pattern.startsWith("."));
  const shownAliases = Object.entries(aliases).filter(([alias, info]) =>
    isSeen(alias, info.is_hidden === true),
  );
  return [
    ...(isSeen(name, String(settings?.raw["hidden"]) === "true") ? [name] : []),
    ...(concreteOnly ? [] : shownAliases.map(([alias]) => alias)),
    ...(concreteOnly || dataStream === undefined ? [] : [dataStream]),
  ];
}
