/** Filters that change, mark, drop or double words one by one. */

import {
  type Options,
  readBoolean,
  readInteger,
  readList,
  readString,
} from "#hub/engine/analysis/parts/options.ts";
import { compilePattern, replacePattern } from "#hub/engine/analysis/parts/pattern.ts";
import { stopWords, words } from "#hub/engine/analysis/parts/stop-words.ts";
import { mapText, type Token, type TokenFilter } from "#hub/engine/analysis/parts/token.ts";

/** `stop`. */
export function stopFilter(options: Options): TokenFilter {
  const ignoreCase = readBoolean(options, "ignore_case", false);
  const removesTrailing = readBoolean(options, "remove_trailing", true);
  const list = stopWords(options, "_english_");
  const stops = ignoreCase ? new Set([...list].map((word) => word.toLowerCase())) : list;
  const isStop = ({ text }: Token): boolean => stops.has(ignoreCase ? text.toLowerCase() : text);
  return (tokens) =>
    tokens.filter((token, at) => !isStop(token) || (!removesTrailing && at === tokens.length - 1));
}

/** What is left out takes its step with it, so that no gap is left for phrases to fall into. */
export function uniqueFilter(options: Options): TokenFilter {
  const samePosition = readBoolean(options, "only_on_same_position", false);
  return (tokens) => {
    const seen = new Set<string>();
    let before = -1;
    let leftOut = 0;
    return tokens.flatMap((token) => {
      const step = token.position - before;
      before = token.position;
      const key = samePosition ? `${token.position} ${token.text}` : token.text;
      if (seen.has(key)) {
        leftOut += step;
        return [];
      }
      seen.add(key);
      return [leftOut === 0 ? token : { ...token, position: token.position - leftOut }];
    });
  };
}

/** `keyword_marker`: stemmers leave these words. Throws RangeError. */
export function keywordMarker(options: Options): TokenFilter {
  const pattern = readString(options, "keywords_pattern", "");
  const list = words(options, "keywords", []);
  if (pattern !== "" && options["keywords"] !== undefined)
    throw new RangeError("cannot specify both `keywords_pattern` and `keywords` or `keywords_path`");
  if (pattern === "" && list.length === 0)
    throw new RangeError(
      "keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to be configured",
    );
  if (pattern !== "") {
    const matches = compilePattern(`^(?:${pattern})$`);
    return marked(({ text }) => [...matches.matches(text)].length > 0);
  }
  const ignoreCase = readBoolean(options, "ignore_case", false);
  const keywords = new Set(ignoreCase ? list.map((word) => word.toLowerCase()) : list);
  return marked(({ text }) => keywords.has(ignoreCase ? text.toLowerCase() : text));
}

/** Marks words of a set. */
export function markWords(keywords: ReadonlySet<string>): TokenFilter {
  return marked(({ text }) => keywords.has(text));
}

function marked(isKeyword: (token: Token) => boolean): TokenFilter {
  return (tokens) => tokens.map((token) => (isKeyword(token) ? { ...token, isKeyword: true } : token));
}

/** `keyword_repeat`: each word twice, first as a keyword. */
export function keywordRepeat(): TokenFilter {
  return (tokens) =>
    tokens.flatMap((token) => [
      { ...token, isKeyword: true },
      { ...token, isKeyword: false },
    ]);
}

/** `stemmer_override`: given stems of given words. Throws RangeError. */
export function stemmerOverride(options: Options): TokenFilter {
  const rules = new Map<string, string>();
  for (const rule of words(options, "rules", [])) {
    const [from, to, more] = rule.split("=>").map((side) => side.trim());
    if (from === undefined || to === undefined || more !== undefined || from === "" || to === "")
      throw new RangeError(`Invalid Keyword override Rule:${rule}`);
    for (const word of from.split(",")) rules.set(word.trim(), to);
  }
  if (rules.size === 0)
    throw new RangeError("stemmer override filter requires either `rules` or `rules_path` to be configured");
  return overrideStems(rules);
}

/** Replaces words by their stems and marks these as keywords. */
export function overrideStems(stems: ReadonlyMap<string, string>): TokenFilter {
  return (tokens) =>
    tokens.map((token) => {
      const stem = token.isKeyword === true ? undefined : stems.get(token.text);
      return stem === undefined ? token : { ...token, text: stem, isKeyword: true };
    });
}

/** Articles that French sets before a word. */
export const FRENCH_ARTICLES = "l m t qu n s j d c jusqu quoiqu lorsqu puisqu".split(" ");

/** `elision`: an article before an apostrophe goes. Throws RangeError. */
export function elisionFilter(options: Options): TokenFilter {
  if (Object.keys(options).some((name) => name !== "type") || options["type"] !== undefined) {
    if (options["articles"] === undefined && options["articles_path"] === undefined)
      throw new RangeError("elision filter requires [articles] or [articles_path] setting");
  }
  const articles = words(options, "articles", FRENCH_ARTICLES);
  return elide(articles, readBoolean(options, "articles_case", options["articles"] === undefined));
}

/** Cuts the articles. */
export function elide(articles: readonly string[], ignoreCase = true): TokenFilter {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const known = new Set(articles.map(fold));
  return mapText((text) => {
    const at = text.search(/['\u2019]/);
    return at >= 0 && known.has(fold(text.slice(0, at))) ? text.slice(at + 1) : text;
  });
}

/** `length`. */
export function lengthFilter(options: Options): TokenFilter {
  const min = readInteger(options, "min", 0);
  const max = readInteger(options, "max", 0x7fff_ffff);
  return (tokens) => tokens.filter(({ text }) => text.length >= min && text.length <= max);
}

/** `keep`. Throws RangeError. */
export function keepFilter(options: Options): TokenFilter {
  const list = words(options, "keep_words", []);
  if (list.length === 0)
    throw new RangeError("keep requires either `keep_words` or `keep_words_path` to be configured");
  const ignoreCase = readBoolean(options, "keep_words_case", false);
  const kept = new Set(ignoreCase ? list.map((word) => word.toLowerCase()) : list);
  return (tokens) => tokens.filter(({ text }) => kept.has(ignoreCase ? text.toLowerCase() : text));
}

/** `keep_types`. Throws RangeError. */
export function keepTypesFilter(options: Options): TokenFilter {
  const types = new Set(readList(options, "types", []));
  if (types.size === 0) throw new RangeError("keep_types requires `types` to be configured");
  const mode = readString(options, "mode", "include");
  if (mode !== "include" && mode !== "exclude")
    throw new RangeError(
      `\`keep_types\` tokenfilter mode can only be [include] or [exclude] but was [${mode}].`,
    );
  return (tokens) => tokens.filter(({ type }) => types.has(type) === (mode === "include"));
}

/** `classic`: what the classic tokenizer marks loses 's and the stops of an acronym. */
export function classicFilter(): TokenFilter {
  return (tokens) =>
    tokens.map((token) => {
      if (token.type === "<APOSTROPHE>") return { ...token, text: token.text.replace(/['\u2019][sS]$/, "") };
      return token.type === "<ACRONYM>" ? { ...token, text: token.text.replaceAll(".", "") } : token;
    });
}

/** `pattern_replace`. */
export function patternReplaceFilter(options: Options): TokenFilter {
  if (options["pattern"] === undefined)
    throw new RangeError("pattern is missing for [pattern_replace] token filter of type 'pattern_replace'");
  const pattern = compilePattern(readString(options, "pattern", ""), readString(options, "flags", ""));
  const replacement = readString(options, "replacement", "");
  const isAll = readBoolean(options, "all", true);
  return mapText((text) => replacePattern(pattern, text, replacement, isAll));
}

/** `pattern_capture`: the groups of the patterns' matches, and the word itself. Throws RangeError. */
export function patternCaptureFilter(options: Options): TokenFilter {
  const patterns = readList(options, "patterns", []).map((source) => compilePattern(source));
  if (patterns.length === 0)
    throw new RangeError("required setting 'patterns' is missing for token filter [pattern_capture]");
  const preserveOriginal = readBoolean(options, "preserve_original", true);
  return (tokens) =>
    tokens.flatMap((token) => {
      const groups = patterns
        .flatMap((pattern) => [...pattern.matches(token.text)])
        .flatMap(({ spans }) =>
          spans
            .slice(1)
            .filter((span) => span !== undefined && span[1] > span[0])
            .map((span) => ({ text: token.text.slice(...span!), from: span![0] })),
        )
        .filter(({ text }) => !preserveOriginal || text !== token.text)
        .sort((a, b) => a.from - b.from);
      const parts = groups.map(({ text }) => ({ ...token, text }));
      return preserveOriginal || parts.length === 0 ? [token, ...parts] : parts;
    });
}

/** `fingerprint`: all words once, in order, as one token; none if it would be too long. */
export function fingerprintFilter(options: Options): TokenFilter {
  const separator = readString(options, "separator", " ");
  const maxLength = readInteger(options, "max_output_size", 255);
  return (tokens) => {
    const [first] = tokens;
    if (first === undefined) return [];
    const text = [...new Set(tokens.map((token) => token.text))].sort().join(separator);
    if (text.length > maxLength) return [];
    const { endOffset } = tokens.at(-1)!;
    return [{ text, startOffset: first.startOffset, endOffset, type: "fingerprint", position: 0 }];
  };
}

/** `delimited_payload`: what is after the delimiter goes; nothing here reads payloads. */
export function delimitedPayloadFilter(options: Options): TokenFilter {
  const delimiter = readString(options, "delimiter", "|");
  return mapText((text) => {
    const at = text.indexOf(delimiter);
    return at < 0 ? text : text.slice(0, at);
  });
}

/** `limit`. */
export function limitFilter(options: Options): TokenFilter {
  const max = readInteger(options, "max_token_count", 1);
  return (tokens) => tokens.slice(0, max);
}
