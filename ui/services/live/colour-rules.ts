/** A user's own rules: lines that contain a text get a colour. Stored in the browser. */

import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";

/** Colours to choose from, by number from 1; the style sheet defines them. */
export const RULE_COLOURS = 6;

export interface ColourRule {
  readonly text: string;
  /** 1 to RULE_COLOURS. */
  readonly colour: number;
}

export const MAX_RULES = 20;
const MAX_TEXT = 200;
const NAME = "colours";

/** Returns the rules, in their order: the first that a line keeps counts. */
export function readRules(): readonly ColourRule[] {
  try {
    const known: unknown = JSON.parse(readPreference(NAME) ?? "[]");
    return Array.isArray(known) ? known.filter(isRule).slice(0, MAX_RULES) : [];
  } catch {
    // Something else wrote there: they start again.
    return [];
  }
}

export function writeRules(rules: readonly ColourRule[]): void {
  writePreference(NAME, rules.length === 0 ? undefined : JSON.stringify(rules.slice(0, MAX_RULES)));
}

/** Returns a function that returns a line's colour, 0: none; the case of letters doesn't count. */
export function compileRules(rules: readonly ColourRule[]): (line: string) => number {
  const compiled = rules.map(({ text, colour }) => ({ text: text.toLowerCase(), colour }));
  if (compiled.length === 0) return () => 0;
  return (line) => {
    const lower = line.toLowerCase();
    return compiled.find(({ text }) => lower.includes(text))?.colour ?? 0;
  };
}

function isRule(value: unknown): value is ColourRule {
  if (typeof value !== "object" || value === null) return false;
  const { text, colour } = value as Partial<ColourRule>;
  if (typeof text !== "string" || text === "" || text.length > MAX_TEXT) return false;
  return Number.isInteger(colour) && colour! >= 1 && colour! <= RULE_COLOURS;
}
