/** Formats with fields and times, as StringInterpolation.java of Logstash reads them. */

import type { PlainEvent } from "./plain-event.ts";
import { written } from "./times.ts";
import { isHash, jsonOf, textOf, Unspecified, type Value } from "./values.ts";

export function sprintf(event: PlainEvent, format: string): string {
  let [text, at] = ["", 0];
  for (;;) {
    const open = format.indexOf("%{", at);
    let close = open < 0 ? -1 : format.indexOf("}", open);
    if (close < 0) return text + format.slice(at);
    text += format.slice(at, open);
    const found = format.slice(open + 2, close);
    if (found === "+%s") text += Math.floor(event.time.ms / 1000);
    else if (found.startsWith("{") && format[close + 1] === "}") {
      close++;
      text += written(found.slice(1), event.time.ms);
    } else if (found.startsWith("+")) text += written(found.slice(1), event.time.ms);
    else text += shown(event.get(found)) ?? `%{${found}}`;
    at = close + 1;
  }
}

function shown(value: Value | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return joined(value);
  return isHash(value) ? jsonOf(value) : textOf(value);
}

/** Items with commas between them, those of inner lists too. */
function joined(list: readonly Value[]): string {
  return list
    .map((each) => {
      if (isHash(each)) throw new Unspecified("a hash in a list is written in Java's notation");
      return Array.isArray(each) ? joined(each) : textOf(each);
    })
    .join(",");
}
