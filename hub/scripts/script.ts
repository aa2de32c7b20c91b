/** Scripts as requests give them: {source, lang, params} or the id of a stored one, compiled once for each context. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { compileLuceneExpression, type ExpressionResult, type ExpressionScript } from "./expression.ts";
import { compilePainless, type PainlessScript } from "./painless/painless.ts";
import { compileError, ScriptException } from "./values/script-error.ts";

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
  /** What the value of a Lucene expression is for; absent: expressions can't be used. */
  readonly expressions?: ExpressionResult;
  /** True: numbers that an expression names come with each run, not with the request. */
  readonly hasLateParams?: boolean;
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
    return scriptIn(found.lang, found.source, params, names, context);
  }
  const text = source ?? inline;
  if (typeof text !== "string")
    throw new AppError(
      "request_invalid",
      "must specify either [source] for an inline script or [id] for a stored script",
    );
  return scriptIn(String(lang), text, params, names, context);
}

const KNOWN: ReadonlySet<string> = new Set(["source", "inline", "id", "stored", "lang", "params", "options"]);

function scriptIn(
  lang: string,
  source: string,
  params: JsonObject,
  names: readonly string[],
  context: ScriptContext,
): Script {
  if (lang === "painless") return { compiled: compile(source, names, context), params };
  if (lang === "expression" && context.expressions !== undefined)
    return { compiled: expression(source, params, names, context, context.expressions), params };
  throw new AppError("request_invalid", `script_lang not supported [${lang}]`);
}

function expression(
  source: string,
  params: JsonObject,
  names: readonly string[],
  { hasLateParams = false }: ScriptContext,
  result: ExpressionResult,
): PainlessScript {
  const key = `expression ${result} ${names.join(",")}\n${source}`;
  const compiled = cached(key, () => compileLuceneExpression(source, names, result)) as ExpressionScript;
  for (const [name, offset] of hasLateParams ? [] : compiled.needs) {
    if (typeof params[name] === "number") continue;
    const why = Object.hasOwn(params, name)
      ? `Parameter [${name}] must be a numeric type`
      : `Unknown variable [${name}]`;
    throw compileError(source, new ScriptException("ParseException", why, offset), "expression");
  }
  return compiled;
}

function compile(
  source: string,
  names: readonly string[],
  { allowsRegexes = false }: ScriptContext,
): PainlessScript {
  const key = `${names.join(",")}${allowsRegexes ? "/" : ""}\n${source}`;
  return cached(key, () => compilePainless(source, names, allowsRegexes));
}

function cached(key: string, make: () => PainlessScript): PainlessScript {
  let script = cache.get(key);
  if (script === undefined) {
    script = make();
    setNewest(cache, key, script, CACHE_LIMIT);
  }
  return script;
}
