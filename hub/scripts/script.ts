/** Scripts as requests give them: {source, lang, params} or the id of a stored one, compiled once for each context. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { compilePainless, type PainlessScript } from "./painless/painless.ts";

/** A script of a request that is ready to run. */
export interface Script {
  readonly compiled: PainlessScript;
  readonly params: JsonObject;
}

/** A script that was stored under an id. */
export interface StoredScript {
  readonly lang: string;
  readonly source: string;
}

/** Returns a stored script; undefined where there is none of that id. */
export type FindStored = (id: string) => StoredScript | undefined;

/** Compiled scripts that are kept; more are compiled again. */
const CACHE_LIMIT = 500;

const cache = new Map<string, PainlessScript>();

/** What a context offers scripts besides their variables. */
export interface ScriptContext {
  /** Absent: stored scripts can't be named. */
  readonly find?: FindStored | undefined;
  /** True: scripts may use regular expressions, which others are refused by default in 6.5. */
  readonly allowsRegexes?: boolean;
}

/**
 * Returns the script of a request that may use the variables `names`. A text is a script of its own.
 * Throws script_failed where it doesn't compile, request_invalid where it isn't a script, not_found for an unknown id.
 */
export function readScript(given: unknown, names: readonly string[], context: ScriptContext = {}): Script {
  if (typeof given === "string") return { compiled: compile(given, names, context), params: {} };
  if (!isObject(given)) throw new AppError("parsing", "a script must be a text or an object");
  const { source, inline, id, stored, lang = "painless", params = {} } = given;
  const unknown = Object.keys(given).find((key) => !KNOWN.has(key));
  if (unknown !== undefined)
    throw new AppError("request_invalid", `[script] unknown field [${unknown}], parser not found`);
  if (!isObject(params)) throw new AppError("parsing", "[script] params must be an object");
  const wanted = id ?? stored;
  if (typeof wanted === "string") {
    const found = context.find?.(wanted);
    if (found === undefined) throw new AppError("not_found", `unable to find script [${wanted}]`);
    return { compiled: compileIn(found.lang, found.source, names, context), params };
  }
  const text = source ?? inline;
  if (typeof text !== "string")
    throw new AppError(
      "request_invalid",
      "must specify either [source] for an inline script or [id] for a stored script",
    );
  return { compiled: compileIn(String(lang), text, names, context), params };
}

const KNOWN: ReadonlySet<string> = new Set(["source", "inline", "id", "stored", "lang", "params", "options"]);

function compileIn(
  lang: string,
  source: string,
  names: readonly string[],
  context: ScriptContext,
): PainlessScript {
  if (lang === "painless") return compile(source, names, context);
  throw new AppError("request_invalid", `script_lang not supported [${lang}]`);
}

function compile(
  source: string,
  names: readonly string[],
  { allowsRegexes = false }: ScriptContext,
): PainlessScript {
  const key = `${names.join(",")}${allowsRegexes ? "/" : ""}\n${source}`;
  let script = cache.get(key);
  if (script === undefined) {
    script = compilePainless(source, names, allowsRegexes);
    if (cache.size >= CACHE_LIMIT) cache.delete(cache.keys().next().value!);
    cache.set(key, script);
  }
  return script;
}
