/**
 * Completions at the cursor of a pipeline: sections, plugins, their options and values, from the plugins' reference.
 */

import type { Completion, Suggestion } from "#ui/services/console/suggestions.ts";
import type { PluginKind, PluginOption, PluginReference } from "./plugin-reference.ts";

/** The construct that a brace opened. */
type Frame =
  | { readonly kind: "section"; readonly section: PluginKind }
  | { readonly kind: "plugin"; readonly section: PluginKind; readonly name: string }
  | { readonly kind: "table" };

/** Position of the cursor. */
interface Place {
  /** Innermost last. */
  readonly frames: readonly Frame[];
  /** Name of the option whose value is being written; "": none. */
  readonly option: string;
  /** Within a string or a comment. */
  readonly isText: boolean;
}

const SECTIONS: readonly PluginKind[] = ["input", "filter", "output"];
/** Strings, comments, signs and words; other characters don't matter. */
const TOKEN = /"(?:\\.|[^"\\])*("?)|'(?:\\.|[^'\\])*('?)|#[^\n]*|=>|[{}[\](),]|[\w@.-]+|\S/g;
const MAX_ITEMS = 100;

/** Returns what may be written at `caret`, best first; undefined if nothing is known. */
export function completePipeline(
  text: string,
  caret: number,
  reference: PluginReference,
): Completion | undefined {
  const before = text.slice(0, caret);
  const word = /[\w-]*$/.exec(before)![0];
  const { frames, option, isText } = placeAt(before.slice(0, before.length - word.length));
  if (isText) return undefined;
  const items = itemsAt(frames.at(-1), option, reference).filter(({ label }) =>
    label.toLowerCase().includes(word.toLowerCase()),
  );
  if (items.length === 0) return undefined;
  const first = (item: Suggestion): number => (item.label.startsWith(word) ? 0 : 1);
  const sorted = items.toSorted((a, b) => first(a) - first(b)).slice(0, MAX_ITEMS);
  return { from: caret - word.length, to: caret, items: sorted };
}

function itemsAt(frame: Frame | undefined, option: string, reference: PluginReference): Suggestion[] {
  if (frame === undefined) return SECTIONS.map((name) => block(name, ""));
  if (frame.kind === "table") return [];
  if (frame.kind === "section")
    return Object.entries(reference[frame.section].plugins).map(([name, { about }]) => block(name, about));
  const known = optionsOf(frame.section, frame.name, reference);
  if (option === "")
    return known.map(({ name, kind, meaning }) => item(name, `${name} => `, `${kind}: ${meaning}`));
  if (option === "codec") return Object.keys(reference.codec.plugins).map((name) => item(name, name, ""));
  return valuesOf(known.find(({ name }) => name === option)).map((value) => item(value, value, ""));
}

/** Its own options come first. */
function optionsOf(kind: PluginKind, name: string, reference: PluginReference): readonly PluginOption[] {
  const { common, plugins } = reference[kind];
  return [...(plugins[name]?.options ?? []), ...common];
}

/** Returns the words that an option takes: those its kind lists, or true and false. */
function valuesOf(option: PluginOption | undefined): string[] {
  if (option === undefined) return [];
  if (option.kind === "flag") return ["true", "false"];
  return [...option.kind.matchAll(/`([^`]+)`/g)].map(([, value]) => `"${value}"`);
}

function block(name: string, detail: string): Suggestion {
  const insert = `${name} {  }`;
  return { label: name, insert, caret: insert.length - 2, detail };
}

function item(label: string, insert: string, detail: string): Suggestion {
  return { label, insert, caret: insert.length, detail };
}

/** Reads a pipeline up to the cursor. Errors elsewhere are skipped. */
function placeAt(before: string): Place {
  const frames: Frame[] = [];
  let name = "";
  let option = "";
  let isCondition = false;
  let end = 0;
  for (const match of before.matchAll(TOKEN)) {
    const [token] = match;
    end = match.index + token.length;
    if (end === before.length && isOpen(match)) return { frames, option, isText: true };
    if (token === "{") {
      frames.push(opened(frames.at(-1), name, option, isCondition));
      [name, option, isCondition] = ["", "", false];
    } else if (token === "}") {
      frames.pop();
      [name, option] = ["", ""];
    } else if (token === "=>") option = name;
    else if (/^["'\w@]/.test(token)) {
      if (token === "if" || token === "else") isCondition = true;
      // A word after a value begins the next option; within a list it doesn't.
      if (option !== "" && name !== option) option = "";
      name = token.replaceAll(/["']/g, "");
    } else if (token === "]" || token === ")") name = "]";
  }
  if (option !== "" && name !== option) option = "";
  return { frames, option, isText: false };
}

/** True for a string without its end, or a comment, at the end of the text. */
function isOpen([token, double, single]: RegExpMatchArray): boolean {
  if (token.startsWith("#")) return true;
  return (token.startsWith('"') && double === "") || (token.startsWith("'") && single === "");
}

function opened(outer: Frame | undefined, name: string, option: string, isCondition: boolean): Frame {
  if (outer === undefined)
    return { kind: "section", section: SECTIONS.find((one) => one === name) ?? "filter" };
  if (outer.kind === "section") return isCondition ? outer : { kind: "plugin", section: outer.section, name };
  // A codec has options of its own; any other brace within a plugin is a table.
  if (outer.kind === "plugin" && name !== option && name !== "" && option === "codec")
    return { kind: "plugin", section: "codec", name };
  return { kind: "table" };
}
