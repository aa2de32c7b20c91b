import assert from "node:assert/strict";
import { test } from "node:test";
import { toJson } from "#hub/scripts/values/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { compilePainless } from "./painless.ts";

type Variables = Readonly<Record<string, unknown>>;

/** Runs a script and returns its value as JSON. */
function run(source: string, variables: Variables = {}): unknown {
  const script = compilePainless(source, Object.keys(variables));
  return toJson(script.run(Object.values(variables)));
}

/** What clients get for a script that fails. */
function failure(source: string, variables: Variables = {}): { reason: string; cause: unknown; at: number } {
  try {
    run(source, variables);
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    const [, pointer] = error.data["script_stack"] as [string, string];
    return { reason: error.message, cause: error.data["caused_by"], at: pointer.indexOf("^") };
  }
  assert.fail(`${source} doesn't fail`);
}

const EVALUATED: readonly (readonly [source: string, value: unknown, variables?: Variables])[] = [
  // The last expression is the value of functions and of lambdas with a block, too.
  ["int twice(int x) { x * 2 } twice(4)", 8],
  ["String sign(int x) { if (x < 0) { 'minus' } else { 'plus' } } sign(-1) + sign(1)", "minusplus"],
  ["void put(Map m) { m.put('a', 1) } def m = [:]; put(m); m", { a: 1 }],
  ["[3, 1, 2].stream().map(x -> { def y = x + 1; y * 2 }).collect(Collectors.toList())", [8, 4, 6]],
  ["def order(int a, int b) { b - a } def l = [1, 3, 2]; l.sort(this::order); l", [3, 2, 1]],
  // A lambda's only parameter may have a type without brackets.
  ["[1, 2].stream().mapToInt(int x -> x + 1).sum()", 5],
  ["[[1], [2, 3]].stream().mapToInt(List x -> x.size()).sum()", 3],
  // Chars may be whole numbers, and have no identity.
  ["char x = 65; char y = 1; x + y", 66],
  ["char x = 'a'; def y = (char) 97; x === y", true],
  ["-1.1f + ''", "-1.1"],
  // What the language adds to collections and matchers.
  ["def l = [1, 2]; l.asList() === l && l.asCollection() === l", true],
  ["def m = [:]; ['a', 'b'].eachWithIndex((each, at) -> m[each] = at); m", { a: 0, b: 1 }],
  ["[1, 2, 3].findResult(x -> x > 1 ? 'b' + x : null)", "b2"],
  ["[1].findResult('none', x -> x > 1 ? x : null)", "none"],
  ["[1, 2, 3].findResults(x -> x > 1 ? x * 2 : null)", [4, 6]],
  ["[1, 2].sum(x -> x * 10)", 30],
  ["[1, 2, 3].split(x -> x == 2)", [[2], [1, 3]]],
  ["['a': 1, 'b': 2].findResult((k, v) -> v > 1 ? k : null)", "b"],
  ["['a': 1, 'b': 2].findResults((k, v) -> v > 1 ? k : null)", ["b"]],
  // Sorted collections are in order whenever they are read.
  [
    "def m = new TreeMap(); m.put('b', 1); m.put('a', 2); '' + m + m.firstKey() + m.lastEntry().value",
    "{a=2, b=1}a1",
  ],
  [
    "def m = new TreeMap((a, b) -> b - a); m.put(1, 'a'); m.put(3, 'c'); m.put(2, 'b'); m.remove(3); '' + m",
    "{2=b, 1=a}",
  ],
  [
    "def s = new TreeSet(); s.add(3); s.add(1); s.add(2); s.remove(2); s.first() + s.last() + ' ' + s",
    "4 [1, 3]",
  ],
  // Numbers: whole ones divide to whole ones, and wrap around in their type.
  ["7 / 2", 3],
  ["7.0 / 2", 3.5],
  ["-7 % 3", -1],
  ["1 + 2 * 3 - 4", 3],
  ["0x1F + 010", 39],
  // Answers of the 6.5.4 server: what is an int by its type wraps around at 32 bits, also on its way to a long.
  ["long x = 1000 * 60 * 60 * 24 * 30; x", -1702967296],
  ["int x = 65536; long y = x * x; y", 0],
  ["int x = 65536; (long) x * x", 4294967296],
  ["Integer.MAX_VALUE + 1", -2147483648],
  ["Integer.MIN_VALUE - 1", 2147483647],
  ["-Integer.MIN_VALUE", -2147483648],
  ["int a = Integer.MIN_VALUE; a / -1", -2147483648],
  ["long a = Integer.MIN_VALUE; a / -1", 2147483648],
  ["int a = Integer.MIN_VALUE; a /= -1; long b = a; b", -2147483648],
  ["Integer a = 2147483647; Integer b = 1; a + b", -2147483648],
  ["java.lang.Integer a = 2147483647; a + 1", -2147483648],
  ["Character a = (char) 65535; Integer b = 2147483647; a + b", -2147418114],
  ["Byte a = 3; Short b = 3; a * 1000000000 + b", -1294967293],
  ["Long a = 1L; Integer b = 2147483647; a + b", 2147483648],
  ["Long a = 1L; a << 32", 4294967296],
  ["'' + (-1L >>> 28)", "68719476735"],
  ["1L << 33", 8589934592],
  ["long x = 65536; x << 40", 72057594037927936],
  ["int x = 1; x << 31", -2147483648],
  ["(int) 1e10", 2147483647],
  ["(short) 1e10", -1],
  ["(long) 1e19 == Long.MAX_VALUE", true],
  ["'' + Math.abs(-5) + Math.max(1, 2) + Math.min(1L, 2L)", "5.02.01.0"],
  ["def x = 1.0; x instanceof Double && !(x instanceof Float)", true],
  ["int x = 2147483647; x += 1; x", -2147483648],
  [
    "long h = 1125899906842597L; for (int i = 0; i < 3; i++) { h = 31 * h + i } h == 33541683858332567L * 1000L / 1000L",
    false,
  ],
  ["Long.MAX_VALUE + 1 == Long.MIN_VALUE", true],
  ["1 << 4 | 3 ^ 1", 18],
  ["-16 >>> 28", 15],
  ["(int) 3.99 + (int) -3.99", 0],
  ["1 == 1.0 && 1 == 1L && 1 != 2", true],
  ["Math.max(1, 2.5) + Math.round(2.5) + Math.floor(1.9)", 6.5],
  ["Integer.parseInt('-12') + Long.parseLong('5')", -7],
  ["Long.decode('0x1F') + Integer.decode('-#a') + Long.decode('017') + Long.decode('0')", 36],
  ["Integer.decode('-0x80000000') + ''", "-2147483648"],
  ["Integer.toOctalString(493) + Long.toOctalString(-1L)", "7551777777777777777777777"],
  ["Character.compare('a'.charAt(0), (char) 'c')", -2],
  ["def a = null; a?.0 == null && [7, 8]?.1 == 8", true],
  ["CIDR net = new CIDR('10.0.0.0/8'); net.contains('10.9.8.7') && !net.contains('11.0.0.1')", true],
  ["def net = new CIDR('2001:db8::/32'); net.contains('2001:db8::1') && !net.contains('')", true],
  ["new CIDR('::1').contains('::1') && !new CIDR('::1').contains(null)", true],
  // Texts.
  ["'a' + 1 + 2.0 + null + true", "a12.0nulltrue"],
  ["'Ab,cd'.toLowerCase().splitOnToken(',')[1].charAt(0) == (char) 'c'", true],
  ["def s = new StringBuilder(); s.append('x').append(1); s.toString()", "x1"],
  [
    "StringTokenizer t = new StringTokenizer('a,b,,c', ','); int n = 0; while (t.hasMoreTokens()) { t.nextToken(); n++ } n",
    3,
  ],
  ["String.join('-', ['a', 'b'])", "a-b"],
  ["'a'.sha256().substring(0, 8) + 'a'.sha1().length()", "ca97811240"],
  // Dates: exact to the nanosecond, parts by field, calendar.
  [
    "ChronoUnit.NANOS.between(ZonedDateTime.parse('2020-01-01T00:00:00.1234567Z'), ZonedDateTime.parse('2020-01-01T00:00:01Z'))",
    876_543_300,
  ],
  [
    "def d = ZonedDateTime.parse('2020-02-29T23:59:59.999999999+01:00'); d.plusNanos(1).toString() + d.getNano()",
    "2020-03-01T00:00+01:00999999999",
  ],
  [
    "Duration.between(Instant.ofEpochMilli(0), Instant.parse('1970-01-01T00:00:01.000000001Z')).toNanos()",
    1_000_000_001,
  ],
  ["Duration.parse('PT1H30M').plus(Duration.of(15, ChronoUnit.MINUTES)).toMinutes()", 105],
  ["LocalDateTime.ofInstant(Instant.ofEpochMilli(3600000), ZoneId.of('Europe/Berlin')).getHour()", 2],
  ["LocalDate.of(2020, 2, 29).get(ChronoField.DAY_OF_YEAR) + LocalDate.ofEpochDay(1).getDayOfMonth()", 62],
  [
    "def p = Period.between(LocalDate.of(2000, 5, 31), LocalDate.of(2020, 5, 30)); p.getYears() + '/' + p.getMonths() + '/' + p.getDays()",
    "19/11/30",
  ],
  ["new Date().getTime() > 1600000000000L && System.currentTimeMillis() > 1600000000000L", true],
  // Functions that are put together.
  [
    "def l = [['n': 2, 's': 'b'], ['n': 1, 's': 'c'], ['n': 2, 's': 'a']]; l.sort(Comparator.comparing(e -> -e.n).thenComparing(e -> e.s)); l.stream().map(e -> e.s).collect(Collectors.joining())",
    "abc",
  ],
  [
    "['b': 1, 'a': 2].entrySet().stream().sorted(Map.Entry.comparingByValue(Comparator.reverseOrder())).map(e -> e.key).collect(Collectors.toList())",
    ["a", "b"],
  ],
  ["Predicate p = x -> x > 1; [1, 2, 3].stream().filter(p.negate().or(x -> x == 3)).count()", 2],
  [
    "['aa', 'b', 'cc'].stream().collect(Collectors.groupingBy(s -> s.length(), Collectors.mapping(s -> s + '!', Collectors.joining(','))))",
    { 1: "b!", 2: "aa!,cc!" },
  ],
  ["['a', 'bb'].stream().collect(Collectors.averagingInt(s -> s.length()))", 1.5],
  ["Collections.nCopies(2, 'x').size() + Byte.MAX_VALUE", 129],
  // Lists and maps, of scripts and of documents.
  ["def m = ['a': 1, 'b': [1, 2]]; m.a + m.b[1] + m.b.0 + m.b[-1]", 6],
  ["def l = [3, 1, 2]; l.sort((a, b) -> b - a); l", [3, 2, 1]],
  ["l.stream().map(x -> x * 2).filter(x -> x > 2).collect(Collectors.toList())", [4, 6], { l: [1, 2, 3] }],
  ["for (e in m.entrySet()) { if (e.value > 1) return e.getKey() } return null", "b", { m: { a: 1, b: 2 } }],
  ["ctx.a = ctx.remove('b'); ctx.l.add(3); ctx", { a: 1, l: [1, 3] }, { ctx: { b: 1, l: [1] } }],
  ["ctx.list.removeIf(x -> x == 'no'); ctx.list.size()", 1, { ctx: { list: ["no", "yes", "no"] } }],
  ["int[] a = new int[3]; a[1] = 4; a[1] + a.length", 7],
  // Null-safe access.
  ["ctx.a?.b?.c ?: 'none'", "none", { ctx: {} }],
  ["ctx.a?.length() == null", true, { ctx: { a: null } }],
  // Control.
  [
    "int s = 0; for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 6) break; s += i } return s",
    12,
  ],
  ["int i = 0; do { i++ } while (i < 5); i", 5],
  ["def r = []; for (def x : [1, 2]) { r.add(x) } for (x in [3]) { r.add(x) } r", [1, 2, 3]],
  ["if (x > 1) { 'big' } else { 'small' }", "small", { x: 1 }],
  ["try { null.foo } catch (NullPointerException e) { 'npe' }", "npe"],
  ["try { throw new IllegalArgumentException('x') } catch (Exception e) { e.getMessage() }", "x"],
  // Functions, lambdas, references.
  ["int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2) } f(15)", 610],
  ["boolean eq(Supplier s, def v) { return s.get() == v } eq(() -> { return d }, 'a')", true, { d: "a" }],
  ["['b', 'a'].stream().map(String::toUpperCase).sorted().collect(Collectors.joining(','))", "A,B"],
  // Types.
  ["'x' instanceof String && !(1 instanceof List) && ['a': 1] instanceof Map", true],
  // Dates.
  ["ZonedDateTime.parse('2020-01-31T10:00:00Z').plusMonths(1).toString()", "2020-02-29T10:00Z"],
  ["ZonedDateTime.parse('2020-01-31T10:00:07.5Z').toString()", "2020-01-31T10:00:07.500Z"],
  ["ZonedDateTime.parse('2020-01-31T10:00:00Z')", "2020-01-31T10:00:00.000Z"],
  [
    "ZonedDateTime.ofInstant(Instant.ofEpochMilli(0), ZoneId.of('Europe/Berlin')).toString()",
    "1970-01-01T01:00+01:00[Europe/Berlin]",
  ],
  ["ZonedDateTime.parse('2020-01-31T10:00:00Z').getDayOfWeek().toString()", "FRIDAY"],
  ["Duration.ofSeconds(3661).toString() + Duration.ofMillis(-500)", "PT1H1M1SPT-0.5S"],
  ["[3, 1, 2].stream().mapToInt(Integer::intValue).max().getAsInt()", 3],
  ["[].stream().findFirst().orElse('none')", "none"],
  ["[1, 2].stream().reduce(Integer::sum).get()", 3],
  ["Optional.ofNullable(null).map(x -> x + 1).isPresent()", false],
  ["'' + Optional.of(1) + [2].stream().filter(x -> x > 2).findAny()", "Optional[1]Optional.empty"],
  ["IntStream.range(0, 3).mapToObj(i -> 'a' + i).collect(Collectors.joining(','))", "a0,a1,a2"],
  ["'abc'.chars().sum()", 294],
  [
    "Stream.concat(Stream.of(1), [2].stream()).collect(ArrayList::new, ArrayList::add, ArrayList::addAll)",
    [1, 2],
  ],
  ["ZonedDateTime.parse('2020-01-31T23:30:00-02:00').toInstant().toEpochMilli()", 1580520600000],
  [
    "ChronoUnit.DAYS.between(ZonedDateTime.parse('2020-01-01T00:00:00Z'), ZonedDateTime.parse('2020-03-01T00:00:00Z'))",
    60,
  ],
  ["ZonedDateTime.parse('2020-01-31T10:00:00Z').getDayOfWeekEnum() == DayOfWeek.FRIDAY", true],
];

for (const [source, value, variables] of EVALUATED) {
  test(`${source} is ${JSON.stringify(value)}`, () => {
    assert.deepEqual(run(source, structuredClone(variables ?? {})), value);
  });
}

const FAILING: readonly (readonly [
  source: string,
  reason: string,
  type: string,
  message: string | RegExp,
  at: number,
])[] = [
  ["while (true) {}", "compile error", "illegal_argument_exception", "While loop has no escape.", 0],
  ["x = 1", "compile error", "illegal_argument_exception", "Variable [x] is not defined.", 0],
  [
    "_score * foo bar",
    "compile error",
    "illegal_argument_exception",
    "invalid sequence of tokens near ['bar'].",
    13,
  ],
  [
    "def a = 1; def a = 2",
    "compile error",
    "illegal_argument_exception",
    "Variable [a] is already defined.",
    15,
  ],
  [
    "Foo x = null",
    "compile error",
    "illegal_argument_exception",
    /invalid sequence of tokens near \['x'\]/,
    4,
  ],
  [
    "'a' =~ /b/",
    "compile error",
    "illegal_state_exception",
    /^Regexes are disabled\. Set \[script\.painless\.regex\.enabled\]/,
    7,
  ],
  [
    "System.exit(1)",
    "compile error",
    "illegal_argument_exception",
    "static method [System, exit/1] not found",
    0,
  ],
  ["Runtime.exit(1)", "compile error", "illegal_argument_exception", "Variable [Runtime] is not defined.", 0],
  ["Math.class", "compile error", "illegal_argument_exception", /static field \[Math, class\] not found/, 0],
  ["1 / 0", "runtime error", "arithmetic_exception", "/ by zero", 2],
  ["def x = null; x.y", "runtime error", "null_pointer_exception", null as unknown as string, 15],
  ["[1][3]", "runtime error", "index_out_of_bounds_exception", "Index: 3, Size: 1", 3],
  ["throw new IllegalArgumentException('Cats!')", "runtime error", "illegal_argument_exception", "Cats!", 0],
  ["Integer.parseInt('x')", "runtime error", "number_format_exception", 'For input string: "x"', 0],
  ["Long.decode('0x')", "runtime error", "number_format_exception", 'For input string: ""', 0],
  [
    "Integer.decode('0x-1')",
    "runtime error",
    "number_format_exception",
    "Sign character in wrong position",
    0,
  ],
  [
    "new CIDR('10.0.0.0/33')",
    "runtime error",
    "illegal_argument_exception",
    "Expected [ip/prefix] with a prefix from 0 to 32 but was [10.0.0.0/33]",
    0,
  ],
  [
    "int i = 0; while (i < 9) {} i",
    "runtime error",
    "painless_error",
    /^The maximum number of statements/,
    11,
  ],
  ["int f(int n) { f(n + 1) } f(1)", "runtime error", "stack_overflow_error", null as unknown as string, 15],
];

for (const [source, reason, type, message, at] of FAILING) {
  test(`${source} is a ${reason} that points at character ${at}`, () => {
    const found = failure(source);
    const cause = found.cause as { type: string; reason: string };
    assert.deepEqual([found.reason, cause.type, found.at], [reason, type, at]);
    if (message instanceof RegExp) assert.match(cause.reason, message);
    else assert.equal(cause.reason, message);
  });
}

const ESCAPES: readonly string[] = [
  "''.constructor",
  "''.getClass()",
  "[].__proto__",
  "(x -> x).constructor",
  "(x -> x).bind(1)",
  "this.process",
  "process.exit()",
  "globalThis",
  "Function('return 1')",
  "eval('1')",
  "import('fs')",
  "''.class.forName('java.lang.System')",
  "new Thread()",
  "Math.constructor",
  "String.fromCharCode(1)",
  "[].constructor",
  "new StringBuilder().text",
  "new StringTokenizer('a').tokens",
  "(1).toFixed(2)",
  "''.at(0)",
  "[:].constructor()",
]; // prettier-ignore

for (const source of ESCAPES) {
  test(`nothing of the host is reached by ${source}`, () => {
    assert.ok(failure(source).reason.endsWith("error"));
  });
}

test("names of the host's prototypes are data in documents, and change nothing else", () => {
  const document = run("ctx['__proto__'] = ['polluted': true]; ctx['constructor'] = 1; ctx", {
    ctx: {},
  }) as object;
  assert.deepEqual(Object.keys(document), ["__proto__", "constructor"]);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal(run("ctx.toString == null && ctx.hasOwnProperty == null", { ctx: {} }), true);
});

test("a map that holds itself is refused when it becomes JSON", () => {
  assert.throws(
    () => run("def x = [:]; def y = ['x': x]; x.y = y; return x"),
    /^AppError: Iterable object is self-referencing itself/,
  );
});

test("loops, texts and lists of a run share one budget", () => {
  for (const source of [
    "def l = []; for (int i = 0; i < 10; i = i) { l.add(1) }",
    "String s = 'x'; for (int i = 0; i < 40; i++) { s = s.concat(s) } s.length()",
    "for (int i = 0; i < 100000; i++) { for (int j = 0; j < 100000; j++) { } } return 1",
    "new int[100000000].length",
  ]) {
    assert.equal(failure(source).reason, "runtime error", source);
  }
});

/** Each reads a list of 100,000 members, in a loop. */
const COSTLY_ON_LISTS: readonly string[] = [
  ..."iterator stream asList toArray distinct sorted max min toString"
    .split(" ")
    .map((name) => `l.${name}()`),
  ..."limit(1) skip(1) subList(0,9) contains(1) indexOf(1) lastIndexOf(1) equals(o) containsAll(o) retainAll(o)"
    .split(" ")
    .map((call) => `l.${call}`),
  "l.join('')",
  "l.flatMap(x -> l)",
  "l == o",
  "'' + l",
  "m.get(l)",
  "m.equals(['a': l])",
  "s.iterator()",
  "s.contains(1)",
  "s.toString()",
  "for (x in l) { break }",
  "new ArrayList(l)",
  "new HashSet(l)",
  "new TreeSet(l)",
  "new StringBuilder(l)",
  "Arrays.asList(l)",
  "Arrays.sort(l)",
  "Arrays.toString(l)",
  "Collections.frequency(l, 1)",
  "Collections.max(l)",
  "Collections.reverse(l)",
  "String.join('', l)",
  "String.valueOf(l)",
  "String.format('%s', [l])",
  "Objects.equals(l, o)",
  "new StringBuilder().append(l)",
];

/** Each reads a text of a million characters, in a loop. */
const COSTLY_ON_TEXTS: readonly string[] = [
  "t.contains('y')",
  "t.indexOf(u)",
  "t.indexOf('y' + u.substring(500000))",
  "t.equals(u)",
  "t == u",
  "t.equalsIgnoreCase(u)",
  "t.compareTo(u)",
  "t.hashCode()",
  "t.toLowerCase()",
  "t.trim()",
  "b.trim()",
  "t.replace('y', 'z')",
  "t.splitOnToken('y')",
  "t.encodeBase64()",
  "t.startsWith(u)",
  "(t + 'y').charAt(0)",
  "Integer.parseInt(u)",
  "Double.parseDouble(d)",
  "ZonedDateTime.parse(t)",
  "new StringTokenizer(t, u)",
];

test("what reads long lists or texts costs by their length", () => {
  const list = Array.from({ length: 100_000 }, (_, at) => at + 2);
  const text = "x".repeat(999_000);
  const [u, b, d] = [`${text.slice(1)}x`, `x${" ".repeat(998_000)}x`, `${"1".repeat(998_000)}x`];
  const p = "y".repeat(992);
  const [o, s] = [[...list], new Set(list)];
  for (const call of [...COSTLY_ON_LISTS, ...COSTLY_ON_TEXTS]) {
    const turn = call.startsWith("for") ? call : `try { def r = ${call} } catch (Exception e) { }`;
    // Most of the budget is spent first, so that few turns spend the rest; at a step each they wouldn't.
    const source = `t.contains(p); for (int i = 0; i < 60; i++) { ${turn} }`;
    const { cause } = failure(source, { m: {}, l: list, o, s, t: text, p, u, b, d });
    assert.match((cause as { reason: string }).reason, /^The maximum number/, call);
  }
});

/** Each touches the 10,000 members of `l`, of a set or of a map at least this often, by steps that are counted. */
const STEPS_OF_CALLS: readonly (readonly [call: string, steps: number])[] = [
  ["new HashSet(l)", 1_250],
  ["new TreeSet(l)", 10_000],
  ["new HashMap(m)", 2_500],
  ["new TreeMap(m)", 10_000],
  ["Arrays.sort(l)", 10_000],
  ["Collections.sort(l)", 10_000],
  ["new ArrayList(s)", 1_250],
  ["l.containsAll(s)", 600],
  ["l.removeAll(s)", 600],
  ["for (x in s) { break }", 600],
  ["Collections.max(s)", 600],
  ["Collections.disjoint(['x', 'y'], l)", 2_500],
  ["def i = l.iterator(); for (int k = 0; k < 100; k++) { i.next(); i.remove() }", 8_000],
];

test("calls cost steps by the members that they touch", () => {
  const l = Array.from({ length: 10_000 }, (_, at) => at);
  const variables = { l, s: new Set(l), m: new Map(l.map((at) => [at, at])) };
  for (const [call, steps] of STEPS_OF_CALLS) {
    const script = compilePainless(call, Object.keys(variables));
    const limited = (): unknown => script.run([[...l], variables.s, variables.m], steps);
    assert.throws(limited, { code: "script_failed" }, call);
  }
});

test("keys of sorted collections cost by what they are compared with", () => {
  const [t, d] = ["x".repeat(999_000), "1".repeat(998_000)];
  for (const turn of ["s.add(t); s.add(d)", "m.put(t, 1); m.put(d, 1)", "m[t] = 1; m[d] = 1"]) {
    const source = `for (int i = 0; i < 30; i++) { def s = new TreeSet(); def m = new TreeMap(); ${turn} }`;
    const { cause } = failure(source, { t, d });
    assert.match((cause as { reason: string }).reason, /^The maximum number/, turn);
  }
  // Few short keys cost one step each, as in other collections.
  const source = "def m = new TreeMap(); for (int i = 0; i < 20000; i++) { m['k' + i] = i } m.firstKey()";
  assert.equal(run(source), "k0");
});

test("a list that holds another many times costs as its copies do", () => {
  const nested = "def a = [1]; def b = [1]; for (int i = 0; i < 60; i++) { a = [a, a]; b = [b, b] }";
  for (const call of ["a == b", "a.toString()", "'' + a", "'x'.contains(a)", "[b].contains(a)"])
    assert.match(
      (failure(`${nested} ${call}`).cause as { reason: string }).reason,
      /^The maximum number/,
      call,
    );
  assert.throws(() => run(`${nested} a`), { code: "request_invalid" });
});

test("a text is cut by an expression into as many parts as a list may have", () => {
  const cut = (source: string, text: string): unknown => compilePainless(source, ["t"], true).run([text]);
  assert.deepEqual(cut("/(,)\\s*/.split(t)", "a, b,,c,,"), ["a", "b", "", "c"]);
  assert.deepEqual(cut("/x*/.split(t)", "axxb"), ["a", "b"]);
  assert.deepEqual(cut("/,/.split(t)", ""), [""]);
  for (const text of [",".repeat(200_000), "ab".repeat(100_000)])
    assert.throws(() => cut("new int[990000]; /,|a(?:.*c)?/.split(t)", text), { code: "script_failed" });
});

test("regular expressions run where the context allows them, in linear time", () => {
  const run = (source: string): unknown => compilePainless(source, ["params"], true).run([{}]);
  assert.equal(run("'abc' ==~ /a.c/ && !('xabc' ==~ /a.c/) && 'xabc' =~ /a.c/"), true);
  assert.equal(
    run("Matcher m = /(\\d+)-([A-Z]+)/i.matcher('x 12-ab'); m.find(); m.group(1) + m.group(2)"),
    "12ab",
  );
  assert.equal(run("'a1b22'.replaceAll(/[0-9]+/, m -> '<' + m.group() + '>')"), "a<1>b<22>");
  assert.equal(run("/,\\s*/.split('a, b,c,,').length"), 3);
  assert.equal(run("'x QWORD 1' =~ /(?i)qword.1/"), true);
  assert.throws(() => run("'ab' =~ /a(?i)b/"), { code: "script_failed" });
  assert.equal(run(`'${"a".repeat(20_000)}!' ==~ /(a+)+$/`), false);
  assert.throws(() => run("'a' =~ /(?=a)/"), { code: "script_failed" });
  assert.throws(() => compilePainless("'a' =~ /a/", []), { code: "script_failed" });
});

test("a character or class of an expression may be repeated more often than the engine repeats it", () => {
  const run = (source: string): unknown => compilePainless(source, ["t"], true).run(["a".repeat(29)]);
  const found = (pattern: string): unknown => run(`Matcher m = /${pattern}/.matcher(t); m.find(); m.group()`);
  assert.equal(found("a{3,40}"), "a".repeat(29));
  assert.equal(found("[a-c]{3,28}"), "a".repeat(28));
  assert.equal(found("\\w{17,28}?"), "a".repeat(17));
  assert.deepEqual(
    [run("t ==~ /.{29,}/"), run("t ==~ /.{30,}/"), run("t ==~ /a{28}/")],
    [true, false, false],
  );
  assert.deepEqual([run("t ==~ /(?i)A{29}/"), run("'{17}' ==~ /\\{17\\}/")], [true, true]);
  assert.equal(run("t ==~ /\\x61{29}/"), true);
  assert.equal(run("t ==~ /\\u0061{29}/"), true);
  assert.equal(run(`'${")".repeat(20)}' ==~ /\\){20}/`), true);
  assert.equal(run(`'${"😀".repeat(20)}' ==~ /😀{20}/`), true);
  assert.equal(run(`'${"😀".repeat(20)}' ==~ /\\ud83d\\ude00{20}/`), true);
  for (const pattern of ["a{9000}b{9000}", `[${"a".repeat(100)}]{200}`, "(ab){20}"])
    assert.throws(() => run(`t =~ /${pattern}/`), { code: "script_failed" }, pattern);
});

test("an iterator removes entries of its map and members of its list", () => {
  const run = (source: string): unknown => compilePainless(source, []).run([]);
  const walk = "while (i.hasNext()) { def e = i.next(); if (REMOVED) i.remove() }";
  const map = `def m = [:]; m.a = 1; m.b = 2; def i = m.entrySet().iterator(); ${walk} return m.size() + '' + m.b`;
  assert.equal(run(map.replace("REMOVED", "e.value == 1")), "12");
  const list = `def l = [1, 2, 3, 4]; def i = l.iterator(); ${walk} return l.toString()`;
  assert.equal(run(list.replace("REMOVED", "e % 2 == 0")), "[1, 3]");
});

test("floats print as the fewest digits that mean them", () => {
  const run = (source: string): unknown => String(compilePainless(source, []).run([]));
  assert.equal(run("Float.parseFloat('0.001')"), "0.001");
  assert.equal(run("(float) 0.1 + (float) 0.2"), "0.3");
  assert.equal(run("(float) 0.1 + 0.2"), "0.30000000149011613");
});

test("scripts that join very many values are refused, or run, in time", () => {
  for (const source of [
    `${"1+".repeat(30_000)}1`,
    `ctx${".a".repeat(30_000)}`,
    `ctx${"[0]".repeat(20_000)}`,
    `''${".trim()".repeat(9_000)}`,
  ]) {
    const startMs = threadCpuMs();
    try {
      compilePainless(source, ["ctx"]).run([{}]);
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === "script_failed", String(error));
    }
    // Some milliseconds by itself; where each step read the whole path it was seconds.
    assert.ok(threadCpuMs() - startMs < 3_000);
  }
});

test("a stream of an array becomes one by the constructor of its class", () => {
  const source =
    "def l = Stream.of(ctx.text.splitOnToken(',')).filter(s -> !s.isEmpty()).toArray(String[]::new); l.length + l[1]";
  assert.equal(compilePainless(source, ["ctx"]).run([{ text: "a,,b" }]), "2b");
  assert.throws(() => compilePainless("Foo[]::new", ["ctx"]), { code: "script_failed" });
  const elsewhere = compilePainless("[1].stream().map(String[]::new)", ["ctx"]);
  assert.throws(() => elsewhere.run([{}]), { code: "script_failed" });
});

test("Debug.explain ends a script with what a value is, and can't be caught", () => {
  const data = (source: string): JsonObject => {
    try {
      run(source, { m: { a: [1, "x"] } });
    } catch (error) {
      assert.ok(error instanceof AppError);
      return error.data;
    }
    assert.fail("it ends the script");
  };
  const { script_stack, ...rest } = data("try { Debug.explain(m.a) } catch (Exception e) { return 1 }");
  assert.deepEqual(rest, {
    to_string: "[1, x]",
    painless_class: "java.util.ArrayList",
    java_class: "java.util.ArrayList",
    script: "try { Debug.explain(m.a) } catch (Exception e) { return 1 }",
    lang: "painless",
    caused_by: { type: "painless_explain_error", reason: null },
  });
  assert.ok(Array.isArray(script_stack));
  assert.equal(data("Debug.explain(null)")["painless_class"], undefined);
  assert.equal(data("Debug.explain(1)")["painless_class"], "java.lang.Integer");
});
