/** Grok expressions: `%{PATTERN:field:type}` within a Ruby regular expression. */

import { RegexpFault, type RubyRegexp, translateRubyRegexp } from "#hub/pipeline/regexp/ruby-regexp.ts";
import { nearestName } from "#proto/kit/nearest.ts";

/** Patterns within patterns; deeper means that one contains itself. */
const MAX_DEPTH = 100;

/** All references expanded; the largest of the known patterns has some 30,000 characters. */
const MAX_LENGTH = 1_000_000;

/** Text after a blank within the braces is ignored, as existing pipelines rely on. */
const REFERENCE =
  /%\{([A-Za-z0-9_]+)(?::([^:}=\s]+)(?::([a-z]+))?)?(?:=((?:[^{}]|\{[^{}]*\})+))?(?:\s[^{}]*)?\}/g;

/** Patterns by name. */
export type PatternTable = ReadonlyMap<string, string>;

export interface GrokOptions {
  readonly patterns: PatternTable;
  /** False: a reference without a field captures under the pattern's name. */
  readonly namedCapturesOnly: boolean;
  /** False: `.` doesn't match a newline. */
  readonly dotAll?: boolean;
}

/** Compiles a grok expression; captures are named `field` or `field:type`. Throws RegexpFault naming an unknown pattern. */
export function compileGrok(text: string, options: GrokOptions): RubyRegexp {
  const expanded = expand(text, options, 0);
  if (expanded.length > MAX_LENGTH)
    throw new RegexpFault("the expression is too long when its patterns are put in");
  return translateRubyRegexp(expanded, { dotAll: options.dotAll ?? true, unnamedCapture: false });
}

function expand(text: string, options: GrokOptions, depth: number): string {
  if (depth > MAX_DEPTH) throw new RegexpFault("a pattern contains itself");
  return text.replace(REFERENCE, (whole, name: string, field?: string, type?: string, inline?: string) => {
    const pattern = inline ?? options.patterns.get(name);
    if (pattern === undefined) {
      const nearest = nearestName(name, options.patterns.keys());
      throw new RegexpFault(
        `there is no pattern "${name}" (in ${whole})${nearest === undefined ? "" : `; did you mean "${nearest}"?`}`,
      );
    }
    const inner = expand(pattern, options, depth + 1);
    const capture = field ?? (options.namedCapturesOnly ? undefined : name);
    if (capture === undefined) return `(?:${inner})`;
    return `(?<${capture}${type === undefined ? "" : `:${type}`}>${inner})`;
  });
}
