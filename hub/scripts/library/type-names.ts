/** The types that scripts may name. All others are refused when a script is compiled. */

const NAMES = `
def boolean byte short char int long float double void
Object String CharSequence Boolean Number Byte Short Character Integer Long Float Double Math StringBuilder
Iterable Collection List ArrayList LinkedList AbstractList Set HashSet LinkedHashSet TreeSet
Map HashMap LinkedHashMap TreeMap SortedMap AbstractMap Map.Entry Iterator ListIterator Collections Arrays Objects
Optional StringTokenizer StringJoiner Base64 UUID Comparator Collectors Stream IntStream
Function BiFunction Supplier Consumer BiConsumer Predicate BiPredicate UnaryOperator BinaryOperator ToIntFunction
ToLongFunction ToDoubleFunction IntFunction IntPredicate IntUnaryOperator Runnable
ZonedDateTime LocalDate LocalDateTime LocalTime Instant Duration Period Month ChronoUnit ChronoField ZoneId ZoneOffset DayOfWeek
DateTimeFormatter SimpleDateFormat Date TimeZone Locale JodaCompatibleZonedDateTime
Exception RuntimeException IllegalArgumentException IllegalStateException NullPointerException ClassCastException
ArithmeticException IndexOutOfBoundsException ArrayIndexOutOfBoundsException StringIndexOutOfBoundsException
NumberFormatException UnsupportedOperationException NoSuchElementException DateTimeException DateTimeParseException
ConcurrentModificationException InputMismatchException
Pattern Matcher Processors GeoPoint Debug System
`;

const TYPES: ReadonlySet<string> = new Set(NAMES.split(/\s+/).filter(Boolean));
/** Packages whose classes may be named in full. */
const PACKAGE =
  /^java\.(?:lang|util|util\.function|util\.stream|util\.regex|time|time\.temporal|time\.format|text)\./;

/** Returns true where scripts may name the type: "int", "List", "Map.Entry", "java.util.List". */
export function isTypeName(name: string): boolean {
  return TYPES.has(simpleName(name));
}

/** Returns a type's name without its package. */
export function simpleName(name: string): string {
  return name.replace(PACKAGE, "");
}
