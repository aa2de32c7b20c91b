/** Debug.explain: ends a script with what a value is. */

import { ScriptLimit } from "#hub/scripts/values/script-error.ts";
import { Decimal, print, typeOf } from "#hub/scripts/values/values.ts";

const PACKAGES: readonly (readonly [prefix: string, names: RegExp])[] = [
  ["java.lang.", /^(?:String|Boolean|Character|Byte|Short|Integer|Long|Float|Double|StringBuilder)$/],
  ["java.time.temporal.", /^Chrono/],
  ["java.time.", /^(?:ZonedDateTime|Duration|Period|DayOfWeek|Month|ZoneId)$/],
  ["java.util.regex.", /^(?:Pattern|Matcher)$/],
  ["java.util.stream.", /^(?:Stream|Collector)$/],
  ["org.elasticsearch.script.", /^JodaCompatible/],
  ["org.elasticsearch.index.fielddata.", /^ScriptDocValues/],
  ["org.elasticsearch.common.geo.", /^GeoPoint$/],
  ["org.elasticsearch.painless.api.", /^CIDR$/],
  ["org.elasticsearch.search.lookup.", /^LeafDocLookup$/],
];

/** What the error of an explained value says of it besides its position. */
export class Explanation extends ScriptLimit {
  override readonly details: Readonly<Record<string, string>>;

  constructor(details: Readonly<Record<string, string>>) {
    super("PainlessExplainError", null);
    this.details = details;
  }
}

/** Always throws: scripts can't catch it. */
export function explain(value: unknown): never {
  if ((value ?? null) === null) throw new Explanation({ to_string: "null" });
  const type = value instanceof Decimal && value.isFloat ? "Float" : typeOf(value);
  const [prefix] = PACKAGES.find(([, names]) => names.test(type)) ?? ["java.util."];
  const name = `${prefix}${type}`;
  throw new Explanation({ to_string: print(value), painless_class: name, java_class: name });
}
