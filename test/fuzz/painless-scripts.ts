/** Random scripts: statements and expressions that mostly compile, whose methods and fields are those an attacker would try, too. */

import type { Random } from "#test/support/engine/random.ts";

/** Methods and fields of values; the last ones must be there for no value. */
const MEMBERS =
  `add addAll append applyAsInt asMatchPredicate charAt chars clear codePointAt collect compareTo contains
containsKey copyOf count distinct doubleValue each endsWith entrySet equals every filter find flatMap format forEach get
getClass getKey getOrDefault getValue groupBy hashCode indexOf insert intValue isEmpty iterator join keySet length limit
longValue map matcher matches max min nextToken plusDays put putAll putIfAbsent reduce remove removeIf repeat replace
replaceAll reverse set size sort sorted split splitOnToken stream subList substring sum toArray toCharArray toLowerCase
toString toUpperCase trim values
__proto__ constructor prototype __defineGetter__ __lookupGetter__ hasOwnProperty valueOf toJSON then apply bind call caller
arguments callee methods type lookup assign parts value code isFloat notify wait finalize class getClassLoader forName`
    .split(/\s+/)
    .filter(Boolean);

const TYPES = "def int long double boolean String List Map Object char float Iterator".split(" ");

const STATICS =
  `Math.max Math.pow Math.random Integer.parseInt Long.toString Double.parseDouble String.join String.format
String.valueOf Collections.emptyList Collections.nCopies Collections.sort Arrays.asList Arrays.fill Objects.hash
UUID.randomUUID System.exit System.currentTimeMillis Runtime.getRuntime Thread.sleep Class.forName Character.toString
ZonedDateTime.parse Instant.now Base64.getDecoder Pattern.compile Collectors.toList`
    .split(/\s+/)
    .filter(Boolean);

const CONSTANTS = [
  "0",
  "1",
  "-1",
  "2147483647",
  "9223372036854775807L",
  "1.5",
  "1e308",
  "0.0",
  "'a'",
  "''",
  "'__proto__'",
  "'constructor'",
  "'aaaaaaaaaaaaaaaaaaaaaaaa'",
  "null",
  "true",
  "[]",
  "[:]",
  "[1, 2, 3]",
  "['a': 1, '__proto__': 2]",
  "new ArrayList()",
  "new HashMap()",
  "new StringBuilder()",
  "new int[8]",
  "new StringTokenizer('a b c')",
  "/a+b*/",
];

const NAMES = ["ctx", "params", "x", "y", "ctx._source", "params.list", "it"];
const OPERATORS = "+ - * / % << >> >>> & | ^ == != === < <= > >= && || =~ ==~ ?:".split(" ");

/** Levels of expressions and blocks. */
const MAX_DEPTH = 4;

/** Returns a script. */
export function randomScript(random: Random): string {
  const statements = Array.from({ length: 1 + random.below(5) }, () => statement(random, 0));
  const text = `def x = ${expression(random, 1)}; def y = ${expression(random, 1)}; ${statements.join(" ")} return x;`;
  return random.oneIn(8) ? damaged(random, text) : text;
}

function one<T>(random: Random, of: readonly T[]): T {
  return of[random.below(of.length)]!;
}

/** Takes out, doubles or exchanges some characters. */
function damaged(random: Random, text: string): string {
  const at = random.below(text.length);
  const length = random.below(6);
  const piece = text.slice(at, at + length);
  const other = one(random, ["", piece + piece, "{", "(", "'", "\\u0000", "}", "->", "::", "/"]);
  return text.slice(0, at) + other + text.slice(at + length);
}

function statement(random: Random, depth: number): string {
  const value = (): string => expression(random, depth + 1);
  if (depth >= MAX_DEPTH) return `${value()};`;
  const block = (): string => `{ ${statement(random, depth + 1)} ${statement(random, depth + 1)} }`;
  const name = `v${random.below(1_000_000)}`;
  switch (random.below(13)) {
    case 0:
      return `if (${value()}) ${block()} else ${block()}`;
    case 1:
      return `for (int ${name} = 0; ${name} < ${one(random, ["3", "1000", "2147483647"])}; ${name}++) ${block()}`;
    case 2:
      return `for (def ${name} : ${value()}) ${block()}`;
    case 3:
      return `while (${value()}) ${block()}`;
    case 4:
      return `try ${block()} catch (Exception ${name}) ${block()}`;
    case 5:
      return `${one(random, TYPES)} ${name} = ${value()};`;
    case 6:
      return `x ${one(random, ["=", "+=", "*=", "<<="])} ${value()};`;
    case 7:
      return `${one(random, NAMES)}.${one(random, MEMBERS)} = ${value()};`;
    case 8:
      return `${one(random, NAMES)}[${value()}] = ${value()};`;
    case 9:
      return `x = x + ${one(random, ["x", "y", "[x]", "x.toString()"])};`;
    case 10:
      return `y.add(${value()}); y = [y, y];`;
    default:
      return `${value()};`;
  }
}

function expression(random: Random, depth: number): string {
  const value = (): string => expression(random, depth + 1);
  if (depth >= MAX_DEPTH) return random.oneIn(2) ? one(random, CONSTANTS) : one(random, NAMES);
  const values = (): string => Array.from({ length: random.below(3) }, value).join(", ");
  switch (random.below(12)) {
    case 0:
      return one(random, CONSTANTS);
    case 1:
      return one(random, NAMES);
    case 2:
      return `(${value()} ${one(random, OPERATORS)} ${value()})`;
    case 3:
      return `(${value()} ? ${value()} : ${value()})`;
    case 4:
      return `(${one(random, TYPES)}) ${value()}`;
    case 5:
    case 6:
    case 7:
      return `${value()}.${one(random, MEMBERS)}(${values()})`;
    case 8:
      return `${value()}${one(random, [".", "?."])}${one(random, MEMBERS)}`;
    case 9:
      return `${value()}[${value()}]`;
    case 10:
      return `${one(random, STATICS)}(${values()})`;
    default:
      return one(random, [
        `[${values()}]`,
        `[${value()}: ${value()}]`,
        `(it -> ${value()})`,
        `(a, b) -> ${value()}`,
        "String::valueOf",
        "Object::new",
        `!${value()}`,
        `-${value()}`,
      ]);
  }
}
