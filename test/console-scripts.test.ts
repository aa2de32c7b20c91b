import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_METHODS } from "#hub/scripts/library/collections.ts";
import { DateTime } from "#hub/scripts/library/dates.ts";
import { MAP_METHODS } from "#hub/scripts/library/maps.ts";
import { staticField, staticMethod } from "#hub/scripts/library/statics.ts";
import { Stream } from "#hub/scripts/library/streams.ts";
import { STRING_METHODS } from "#hub/scripts/library/strings.ts";
import type { Methods } from "#hub/scripts/values/values.ts";
import { METHODS, STATICS } from "#ui/services/console/script-completion.ts";

const OFFERED: Readonly<Record<string, Methods>> = {
  String: STRING_METHODS,
  List: new Map([...LIST_METHODS, ["stream", () => null]]),
  Map: MAP_METHODS,
  date: new DateTime(0).methods,
  stream: new Stream([]).methods,
};

test("what the console completes in scripts exists", () => {
  const missing: string[] = [];
  for (const [type, names] of Object.entries(STATICS))
    for (const name of names.split(" "))
      if (staticMethod(type, name) === undefined && staticField(type, name) === undefined)
        missing.push(`${type}.${name}`);
  for (const [type, methods] of Object.entries(OFFERED))
    for (const name of METHODS[type]!.split(" ")) if (!methods.has(name)) missing.push(`${type}#${name}`);
  assert.deepEqual(missing, []);
});
