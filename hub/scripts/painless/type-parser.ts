/**
 * Reads names of types, and distinguishes casts and declarations from expressions. Scripts may name the listed types;
 * all others are refused when a script is compiled.
 */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import type { TypeName } from "./syntax.ts";
import { isSymbol, type TokenReader } from "./token-reader.ts";

const NAMES = `
def boolean byte short char int long float double void
Object String CharSequence Boolean Number Byte Short Character Integer Long Float Double Math StringBuilder
Iterable Collection List ArrayList LinkedList AbstractList Set HashSet LinkedHashSet TreeSet
Map HashMap LinkedHashMap TreeMap SortedMap AbstractMap Map.Entry Iterator ListIterator Collections Arrays Objects
Optional StringTokenizer StringJoiner Base64 UUID Comparator Collectors Stream IntStream
Function BiFunction Supplier Consumer BiConsumer Predicate BiPredicate UnaryOperator BinaryOperator ToIntFunction
ToLongFunction ToDoubleFunction IntFunction IntPredicate IntUnaryOperator Runnable
ZonedDateTime LocalDate LocalDateTime LocalTime Instant Duration Period Month ChronoUnit ChronoField ZoneId ZoneOffset DayOfWeek
DateTimeFormatter SimpleDateFormat TextStyle IsoFields TemporalAdjusters Year Date TimeZone Locale JodaCompatibleZonedDateTime
Exception RuntimeException IllegalArgumentException IllegalStateException NullPointerException ClassCastException
ArithmeticException IndexOutOfBoundsException ArrayIndexOutOfBoundsException StringIndexOutOfBoundsException
NumberFormatException UnsupportedOperationException NoSuchElementException DateTimeException DateTimeParseException
ConcurrentModificationException InputMismatchException
Pattern Matcher Processors CIDR GeoPoint Debug System MovingFunctions
`;

const TYPES: ReadonlySet<string> = new Set(NAMES.split(/\s+/).filter(Boolean));
/** Packages whose classes may be named in full. */
const PACKAGE =
  /^java\.(?:lang|util|util\.function|util\.stream|util\.regex|time|time\.temporal|time\.format|text)\./;

const PRIMITIVES: ReadonlySet<string> = new Set(
  "boolean byte short char int long float double def".split(" "),
);

/** Reads "int", "Map.Entry", "String[]". Throws where there is no such type. */
export function readType(tokens: TokenReader): TypeName {
  const { offset } = tokens.token;
  let name = tokens.expectName().text;
  while (tokens.is(".") && tokens.peek(1).kind === "name") {
    tokens.next();
    name += `.${tokens.next().text}`;
  }
  if (!isTypeName(name))
    throw new ScriptException("IllegalArgumentException", `Not a type [${name}].`, offset);
  let dimensions = 0;
  while (isBrackets(tokens, 0)) {
    tokens.next();
    tokens.next();
    dimensions++;
  }
  return { name, dimensions, offset };
}

/** Returns true where a type and a name are next: a declaration. */
export function isDeclaration(tokens: TokenReader): boolean {
  if (tokens.token.kind !== "name") return false;
  // "foo bar" is a declaration with an unknown type where a statement begins; the type is refused by name then.
  if (tokens.peek(1).kind === "name") return isTypeName(tokens.token.text);
  const length = typeLength(tokens, 0);
  return length > 0 && tokens.peek(length).kind === "name";
}

/** Returns true where the present "(" opens a cast: it contains only a type, and an operand follows. */
export function isCast(tokens: TokenReader): boolean {
  const length = typeLength(tokens, 1);
  if (length === 0 || !isSymbol(tokens.peek(1 + length), ")")) return false;
  const behind = tokens.peek(length + 2);
  if (behind.kind === "end") return false;
  if (behind.kind !== "operator") return !isSymbol(behind, "instanceof");
  if (["(", "[", "!", "~"].includes(behind.text)) return true;
  return PRIMITIVES.has(tokens.peek(1).text) && ["+", "-", "++", "--"].includes(behind.text);
}

/** Tokens of the longest name of a type with its points; a longer path is none, and isn't read to its end at each step. */
export const MAX_NAME_TOKENS = 15;

/** Returns how many tokens from `from` on name a known type; 0 for none. */
export function typeLength(tokens: TokenReader, from: number): number {
  const first = tokens.peek(from);
  if (first.kind !== "name") return 0;
  let name = first.text;
  let length = 1;
  while (isSymbol(tokens.peek(from + length), ".") && tokens.peek(from + length + 1).kind === "name") {
    if (length >= MAX_NAME_TOKENS) return 0;
    name += `.${tokens.peek(from + length + 1).text}`;
    length += 2;
  }
  if (!isTypeName(name)) return 0;
  while (isBrackets(tokens, from + length)) length += 2;
  return length;
}

function isBrackets(tokens: TokenReader, from: number): boolean {
  return isSymbol(tokens.peek(from), "[") && isSymbol(tokens.peek(from + 1), "]");
}

/** Returns true where scripts may name the type: "int", "List", "Map.Entry", "java.util.List". */
export function isTypeName(name: string): boolean {
  return TYPES.has(simpleName(name));
}

/** Returns a type's name without its package. */
export function simpleName(name: string): string {
  return name.replace(PACKAGE, "");
}
