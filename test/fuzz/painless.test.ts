/**
 * Scripts of attackers and random ones, for as long as TAILRACE_FUZZ_SECONDS says: each ends with a value of the language
 * or with an error that clients get, holds the thread for 50 ms at most, and changes nothing but its document.
 * TAILRACE_SEED repeats a run that failed.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compileLuceneExpression } from "#hub/scripts/expression.ts";
import { compilePainless, type PainlessScript } from "#hub/scripts/painless/painless.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { Random } from "#test/support/engine/random.ts";
import { randomScript } from "./painless-scripts.ts";

const DURATION_MS = Number(process.env["TAILRACE_FUZZ_SECONDS"] ?? 2) * 1000;
/** CPU time that one script may take. */
const MAX_TURN_MS = 50;
/** What a script allocates at most until it ends. */
const MAX_GROWTH_BYTES = 256 * 2 ** 20;
/** A script that took too long runs again so often: another part of the process may have been at work. */
const REPEATS = 3;

/** What an attacker would reach for. `may`: it compiles and gives a harmless value. */
const ATTACKS: readonly string[] = [
  // Classes and constructors of the host.
  "''.constructor",
  "''.constructor.constructor('return process')()",
  "[].constructor",
  "ctx.constructor('return this')",
  "(x -> x).constructor('return process')()",
  "(x -> x).call(1)",
  "1.0.value.constructor",
  "new StringBuilder().methods",
  "new StringBuilder().methods.get('append')",
  "def d = new HashMap(); d.get('constructor')",
  "Object.class",
  "''.getClass().forName('java.lang.Runtime')",
  "new Object().getClass()",
  "new Function('return process')()",
  "new Proxy([:], [:])",
  "this",
  "globalThis",
  "process.exit(1)",
  "require('node:fs')",
  "import('node:fs')",
  "eval('1')",
  // Prototypes.
  "ctx.__proto__.polluted = true",
  "ctx['__proto__']['polluted'] = true",
  "ctx._source['__proto__'] = ['polluted': true]; ctx._source.polluted",
  "def m = ['__proto__': ['polluted': true]]; ctx._source.putAll(m); ctx._source.polluted",
  "ctx.constructor.prototype.polluted = true",
  "[].__proto__.polluted = true",
  "ctx.put('__proto__', ['polluted': true]); ctx.polluted",
  "params.list.__defineGetter__('x', () -> 1)",
  "ctx._source.toString = null; '' + ctx._source",
  "ctx._source.then = (a, b) -> 1; ctx._source",
  // Reflection, the system, time.
  "Class.forName('x')",
  "System.exit(0)",
  "Runtime.getRuntime().exec('id')",
  "Thread.sleep(100000)",
  "new java.io.File('/etc/passwd')",
  "java.lang.System.getenv()",
  "Debug.explain(ctx)",
  // Time.
  "while (true) { if (false) { break } }",
  "for (int i = 0; i >= 0; i += 0) { }",
  "def f(def n) { return f(n) + f(n) } f(1)",
  "def f(def n) { return n < 2 ? n : f(n - 1) + f(n - 2) } f(60)",
  "for (;;) { try { throw new Exception('x') } catch (Exception e) { if (ctx == null) break } }",
  "while (true) { try { while (true) { if (ctx == null) break } } catch (Exception e) { if (ctx == null) break } }",
  "def l = []; for (int i = 0; i < 1000000; i++) { l.add(0, i) } l",
  "def l = []; for (int i = 0; i < 100000; i++) { l.add(i) } for (int i = 0; i < 100000; i++) { l.contains(-1) }",
  "def l = []; for (int i = 0; i < 100000; i++) { l.add(i) } for (int i = 0; i < 100000; i++) { l.sort((a, b) -> b - a) }",
  "def l = []; for (int i = 0; i < 100000; i++) { l.add(i) } for (int i = 0; i < 100000; i++) { l.hashCode() }",
  "def s = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'; for (int i = 0; i < 10000; i++) { if (s =~ /(a+)+$/) { } }",
  "def s = 'a'; for (int i = 0; i < 18; i++) { s += s } for (int i = 0; i < 10000; i++) { s.indexOf('b') }",
  "def s = 'a'; for (int i = 0; i < 18; i++) { s += s } for (int i = 0; i < 10000; i++) { s == s + 'b' }",
  "long n = 9223372036854775807L; for (int i = 0; i < 1000000; i++) { n *= n; n += 3 } n",
  // Memory.
  "def s = 'a'; while (true) { s += s; if (ctx == null) break }",
  "def s = 'a'; for (int i = 0; i < 40; i++) { s = s.replace('a', 'aa') } s",
  "def b = new StringBuilder('a'); for (int i = 0; i < 60; i++) { b.append(b) } b",
  "def l = []; for (int i = 0; i < 60; i++) { l = [l, l] } l.toString()",
  "def l = []; for (int i = 0; i < 60; i++) { l = [l, l] } l.hashCode()",
  "def l = []; for (int i = 0; i < 60; i++) { l = [l, l] } return l",
  "def a = []; for (int i = 0; i < 60; i++) { a = [a, a] } def b = []; for (int i = 0; i < 60; i++) { b = [b, b] } a == b",
  "def l = [1]; l.add(l); l.toString() + l.hashCode()",
  "def m = [:]; m.m = m; m.toString(); return m",
  "def l = [1]; for (int i = 0; i < 60; i++) { l.addAll(l) }",
  "new int[2147483647]",
  "new int[100000][100000]",
  "int[] a = new int[1000000000]; a.length",
  "Collections.nCopies(2147483647, 'x').toString()",
  "String.join('x', Collections.nCopies(100000000, 'x'))",
  "String.format('%2000000000d', 1)",
  "'x'.repeat(2147483647)",
  "new ArrayList(2147483647)",
  "new StringBuilder().setLength(2147483647)",
  "1.0.toString().substring(-1)",
  "1 << 2147483647L",
  "[1, 2, 3].subList(-1, 2147483647)",
  // Depth.
  `${"1+".repeat(30_000)}1`,
  `${"1+".repeat(3_000)}1`,
  `${"1&&".repeat(20_000)}1`,
  `${"-".repeat(60_000)}1`,
  "(".repeat(60_000),
  "1?".repeat(20_000),
  `ctx${".a".repeat(30_000)}`,
  `ctx${"[0]".repeat(20_000)}`,
  `ctx${".a()".repeat(15_000)}`,
  `''${".trim()".repeat(9_000)}`,
  `if (ctx == 1) 1; ${"else if (ctx == 1) 1; ".repeat(2_900)}`,
];

/** Names that prototypes and the global object have. */
function hostNames(): string {
  const objects: readonly object[] = [
    globalThis,
    Object.prototype,
    Array.prototype,
    Map.prototype,
    Set.prototype,
    String.prototype,
    Number.prototype,
    Function.prototype,
    Promise.prototype,
  ];
  return objects.map((each) => Reflect.ownKeys(each).map(String).join()).join("\n");
}

const HOST_NAMES = hostNames();

/** What scripts get; new for each. */
function variables(): unknown[] {
  return [
    { _source: { a: 1, list: [1, "b", null] }, op: "index" },
    { list: [3, 1, 2], p: 0.5 },
  ];
}

/** Compiles a script, whatever language it is of. */
type Compile = (source: string) => Pick<PainlessScript, "run">;

const painless: Compile = (source) => compilePainless(source, ["ctx", "params"], true);
/** The variables of a search: `doc` is what `ctx` is to others. */
const expression: Compile = (source) => compileLuceneExpression(source, ["doc", "params"], "number");

/** Runs a script and checks what it may do; returns the CPU time it took, ms. */
function attempt(source: string, compile = painless): number {
  const memory = process.memoryUsage();
  const start = process.cpuUsage();
  try {
    const script = compile(source);
    JSON.stringify(toJson(script.run(variables())) ?? null, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
  } catch (error) {
    if (!(error instanceof AppError))
      throw new Error(`not an error for clients: ${source.slice(0, 1_000)}`, { cause: error });
  }
  const { user, system } = process.cpuUsage(start);
  const after = process.memoryUsage();
  const growth = after.heapUsed + after.external - memory.heapUsed - memory.external;
  assert.ok(growth <= MAX_GROWTH_BYTES, `${Math.round(growth / 2 ** 20)} MB: ${source}`);
  return (user + system) / 1000;
}

/** Throws where a script takes too long, escapes, or fails with an error of the host. */
function check(source: string, compile = painless): void {
  let tookMs = attempt(source, compile);
  for (let times = 0; tookMs > MAX_TURN_MS && times < REPEATS; times++)
    tookMs = Math.min(tookMs, attempt(source, compile));
  assert.ok(tookMs <= MAX_TURN_MS, `${Math.round(tookMs)} ms: ${source}`);
  assert.equal(hostNames(), HOST_NAMES, `the host was changed: ${source}`);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined, source);
}

describe("what an attacker would reach for", () => {
  for (const source of ATTACKS) test(source.slice(0, 100), () => check(source));
});

describe("what an attacker would reach for in an expression", () => {
  for (const source of [
    ...ATTACKS,
    "doc['__proto__'].value",
    "doc['constructor'].empty",
    "__proto__ + constructor + toString",
    "abs.constructor",
    "toString()",
    "hasOwnProperty(1)",
    "doc['op'].date.constructor",
    "max(1,".repeat(10_000),
    `1${"e9".repeat(10_000)}`,
    "9".repeat(60_000),
    `0x${"f".repeat(60_000)} << 1e300`,
  ])
    test(source.slice(0, 100), () => check(source, expression));
});

test("random scripts end in time with a value or an error for clients", (t) => {
  const first = chooseSeed();
  const end = Date.now() + DURATION_MS;
  let scripts = 0;
  for (let seed = first; scripts === 0 || Date.now() < end; seed++, scripts++) {
    const source = randomScript(new Random(seed));
    try {
      check(source);
      check(source.slice(source.indexOf("=") + 1, source.indexOf(";")), expression);
    } catch (error) {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    }
  }
  t.diagnostic(`${scripts} scripts`);
});
