/** Shows the result of a grok expression for a text: its fields, or how far its longest prefix matches. */

import { grokPatterns, parsePatternFile } from "#hub/pipeline/grok/all.ts";
import { compileGrok } from "#hub/pipeline/grok/grok-expression.ts";

export interface GrokQuestion {
  readonly pattern: string;
  readonly text: string;
  /** Further patterns, as a pattern file holds them. */
  readonly definitions: string;
  /** True: fields by the Elastic Common Schema. */
  readonly ecs: boolean;
}

export interface GrokAnswer {
  readonly matched: boolean;
  /** Offset of the match in the text, or of what the longest beginning matched; UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** The longest beginning of the expression that matches; the whole of it where it does. */
  readonly matchedPattern: string;
  /** The rest after it, which doesn't match; empty if all does. */
  readonly failedPattern: string;
}

/** One reference, a group's worth of escaped or plain characters: where an expression may be cut. */
const STEP = /%\{[^}]*\}|\\.|[^\\]/gsu;

/** Longest expression and text that are looked at, characters. */
const MAX_LENGTH = 64 * 1024;

/** Returns the answer. Throws RegexpFault if the expression is none, RangeError where something is too long. */
export function debugGrok({ pattern, text, definitions, ecs }: GrokQuestion): GrokAnswer {
  if (pattern.length > MAX_LENGTH || text.length > MAX_LENGTH) {
    throw new RangeError(`expression and text have at most ${MAX_LENGTH} characters each`);
  }
  const patterns = new Map([...grokPatterns(ecs), ...parsePatternFile(definitions)]);
  const tryOut = (part: string): GrokAnswer | undefined => {
    const regexp = compileGrok(part, { patterns, namedCapturesOnly: true });
    const match = regexp.expression(text).exec(text);
    if (match === null) return undefined;
    const fields: { name: string; value: string }[] = [];
    regexp.captureReader().visit(match, (name, value) => fields.push({ name, value }));
    return {
      matched: part === pattern,
      start: match.index,
      end: match.index + match[0].length,
      fields,
      matchedPattern: part,
      failedPattern: pattern.slice(part.length),
    };
  };
  const whole = tryOut(pattern);
  if (whole !== undefined) return whole;
  const cuts = [...pattern.matchAll(STEP)].map(({ index }) => index).reverse();
  for (const cut of cuts) {
    try {
      const answer = tryOut(pattern.slice(0, cut));
      if (answer !== undefined) return answer;
    } catch {
      // Cut within a group: this isn't an expression.
    }
  }
  return { matched: false, start: 0, end: 0, fields: [], matchedPattern: "", failedPattern: pattern };
}
