import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Analysis } from "../analysis/analysis.ts";
import { dateFormat, givenFormat, localized } from "./date-format.ts";
import { Mapping, type MappingOptions } from "./mapping.ts";

const options: MappingOptions = { index: "test", analysis: new Analysis() };

function parse(properties: unknown, rest: object = {}, more: Partial<MappingOptions> = {}): Mapping {
  return Mapping.parse({ properties, ...rest }, { ...options, ...more });
}

function dynamic(document: string, mapping: Mapping = Mapping.parse({}, options), lenient = false): unknown {
  return mapping.dynamicUpdate(Buffer.from(document), lenient)?.["properties"] ?? null;
}

const TEXT = { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } };

suite("a mapping", () => {
  test("prints what differs from the defaults", () => {
    const mapping = parse({
      b: { type: "keyword", index: true, ignore_above: 10, doc_values: true },
      a: { type: "text", fields: { raw: { type: "keyword", index: "false" } } },
      t: { type: "date", format: "strict_date_optional_time||epoch_millis" },
      o: { properties: { n: { type: "long", coerce: false } } },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(mapping)), {
      properties: {
        a: { type: "text", fields: { raw: { type: "keyword", index: false } } },
        b: { type: "keyword", ignore_above: 10 },
        o: { properties: { n: { type: "long", coerce: false } } },
        t: { type: "date" },
      },
    });
  });

  test("makes no fields of documents where it isn't enabled", () => {
    assert.equal(dynamic('{"a":1,"b":{"c":["x",{"d":1}]}}', parse({}, { enabled: false })), null);
  });

  test("takes nested objects as objects, and ranges as objects of their bounds", () => {
    const properties = {
      n: { type: "nested", properties: { a: { type: "long" } } },
      r: { type: "date_range", format: "yyyy" },
    };
    const mapping = parse(properties);
    assert.deepEqual(JSON.parse(JSON.stringify(mapping)), { properties });
    assert.equal(mapping.field("n.a")?.type, "long");
    assert.equal(mapping.field("r.gte")?.format, "yyyy");
    assert.equal(mapping.objectKind("r")?.type, "date_range");
    assert.throws(
      () => mapping.merge({ properties: { r: { type: "ip_range" } } }),
      /current_type \[date_range\]/,
    );
  });

  test("takes a geo_shape as an object whose shape type can be queried", () => {
    const shape = { type: "geo_shape", precision: "1m" };
    const mapping = parse({ area: shape });
    assert.deepEqual(JSON.parse(JSON.stringify(mapping)), { properties: { area: shape } });
    assert.deepEqual(
      mapping.match("area.*").map(({ path }) => path),
      ["area.type"],
    );
    assert.equal(dynamic('{"area":{"type":"point","coordinates":[1,2]}}', mapping), null);
    assert.throws(
      () => mapping.merge({ properties: { area: { type: "keyword" } } }),
      /current_type \[geo_shape\]/,
    );
  });

  test("reads back what it prints", () => {
    const mapping = parse(
      { a: TEXT, g: { type: "geo_point" }, s: { type: "scaled_float", scaling_factor: 100 } },
      {
        dynamic: "strict",
        date_detection: false,
      },
    );
    assert.deepEqual(Mapping.parse(mapping.toJSON(), options).toJSON(), mapping.toJSON());
  });

  test("finds fields, multi-fields, aliases and objects by path", () => {
    const mapping = parse({ a: TEXT, "o.n": { type: "long" }, al: { type: "alias", path: "o.n" } });
    assert.equal(mapping.field("a.keyword")?.type, "keyword");
    assert.equal(mapping.resolve("al")?.path, "o.n");
    assert.equal(mapping.isObject("o"), true);
    assert.deepEqual(
      mapping.match("a*").map((field) => field.path),
      ["a", "a.keyword", "al"],
    );
  });

  test("merging what it has gives itself, anything else a higher version", () => {
    const mapping = parse({ a: { type: "long" } });
    assert.equal(mapping.merge({ properties: { a: { type: "long" } } }), mapping);
    assert.equal(mapping.merge({ properties: { b: { type: "long" } } }).version, mapping.version + 1);
  });

  const refused: readonly (readonly [what: string, update: object, message: RegExp])[] = [
    [
      "another type",
      { a: { type: "text" } },
      /^mapper \[a\] of different type, current_type \[long\], merged_type \[text\]$/,
    ],
    [
      "an object for a field",
      { a: { properties: { b: { type: "long" } } } },
      /^Can't merge a non object mapping \[a\]/,
    ],
    ["a field for an object", { o: { type: "long" } }, /^object mapping \[o\] can't be changed/],
    ["another doc_values", { a: { type: "long", doc_values: false } }, /has different \[doc_values\] values/],
    ["an unknown type", { x: { type: "strin" } }, /^No handler for type \[strin\] declared on field \[x\]/],
    ["an unknown parameter", { x: { type: "long", fooo: 1 } }, /unsupported parameters: {2}\[fooo : 1\]/],
    [
      "an unknown analyzer",
      { x: { type: "text", analyzer: "no" } },
      /^analyzer \[no\] not found for field \[x\]$/,
    ],
    ["an alias to nowhere", { x: { type: "alias", path: "no" } }, /^Invalid \[path\] value \[no\]/],
    ["a bad date format", { x: { type: "date", format: "qqq" } }, /^Invalid format: \[qqq\]/],
  ];
  for (const [what, update, message] of refused) {
    test(`refuses ${what}`, () => {
      const mapping = parse({ a: { type: "long" }, o: { properties: {} } });
      assert.throws(() => mapping.merge({ properties: update }), { message });
    });
  }

  test("has limits of fields and depth", () => {
    assert.throws(() => parse({ a: { type: "long" }, b: { type: "long" } }, {}, { totalFieldsLimit: 1 }), {
      message: "Limit of total fields [1] in index [test] has been exceeded",
    });
    const deep = { a: { properties: { b: { properties: { c: { type: "long" } } } } } };
    assert.throws(() => parse(deep, {}, { depthLimit: 2 }), { message: /Limit of mapping depth \[2\]/ });
  });
});

suite("dynamic mapping", () => {
  const rows: readonly (readonly [document: string, properties: unknown])[] = [
    ['{"a":"x"}', { a: TEXT }],
    [
      '{"a":1,"b":1.5,"c":1.0,"d":true,"e":null,"f":[]}',
      { a: { type: "long" }, b: { type: "float" }, c: { type: "float" }, d: { type: "boolean" } },
    ],
    ['{"a":"2024-01-31T10:00:00Z"}', { a: { type: "date" } }],
    [
      '{"a":"2024/01/31 10:00:00"}',
      { a: { type: "date", format: "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis" } },
    ],
    ['{"a":"2024","b":"1d","c":"NaN"}', { a: TEXT, b: TEXT, c: TEXT }],
    ['{"a":[null,[2,"x"]]}', { a: { type: "long" } }],
    [
      '{"a":{"b":{"c":1}},"a.b.d":"x"}',
      { a: { properties: { b: { properties: { c: { type: "long" }, d: TEXT } } } } },
    ],
    ['{"a":[{"b":1},{"c":2}]}', { a: { properties: { b: { type: "long" }, c: { type: "long" } } } }],
    ['{"a":{}}', { a: { type: "object" } }],
    [
      '{"toString":"x","valueOf":{"constructor":1},"hasOwnProperty.a":true}',
      {
        toString: TEXT,
        valueOf: { properties: { constructor: { type: "long" } } },
        hasOwnProperty: { properties: { a: { type: "boolean" } } },
      },
    ],
  ];
  for (const [document, properties] of rows) {
    test(`makes fields of ${document}`, () => assert.deepEqual(dynamic(document), properties));
  }

  test("returns nothing where all fields are known", () => {
    const mapping = parse({ a: { type: "keyword" }, o: { properties: { n: { type: "long" } } } });
    assert.equal(dynamic('{"a":"x","o":{"n":1},"o.n":2}', mapping), null);
  });

  test("leaves fields out under dynamic false and refuses them under strict", () => {
    assert.equal(dynamic('{"a":1}', parse({}, { dynamic: false })), null);
    const strict = parse({ o: { type: "object", dynamic: "strict" } });
    assert.throws(() => dynamic('{"o":{"x":1}}', strict), {
      code: "mapping_strict",
      message: "mapping set to strict, dynamic introduction of [x] within [o] is not allowed",
    });
    assert.equal(dynamic('{"o":{"x":1}}', strict, true), null);
  });

  test("follows templates before its own rules", () => {
    const mapping = parse(
      {},
      {
        dynamic_templates: [
          { ids: { match: "*_id", mapping: { type: "keyword" } } },
          {
            strings: {
              match_mapping_type: "string",
              path_match: "labels.*",
              mapping: { type: "keyword", copy_to: "{name}_copy" },
            },
          },
        ],
      },
    );
    assert.deepEqual(dynamic('{"user_id":5,"labels":{"x":"y"}}', mapping), {
      user_id: { type: "keyword" },
      labels: { properties: { x: { type: "keyword", copy_to: "x_copy" } } },
      x_copy: TEXT,
    });
  });

  test("a template maps matching objects as one field, and leaves other objects alone", () => {
    const places = {
      path_match: "*geo.location",
      match_mapping_type: "object",
      mapping: { type: "geo_point" },
    };
    const any = { match_mapping_type: "*", mapping: { type: "keyword" } };
    const mapping = parse({}, { dynamic_templates: [{ places }, { any }] });
    const point = '{"lat":1.5,"lon":2}';
    assert.deepEqual(dynamic(`{"geo":{"location":${point},"other":${point}}}`, mapping, true), {
      geo: {
        properties: {
          location: { type: "geo_point" },
          other: { properties: { lat: { type: "keyword" }, lon: { type: "keyword" } } },
        },
      },
    });
    assert.deepEqual(dynamic(`{"client.geo":{"location":[${point},${point}]}}`, mapping), {
      client: { properties: { geo: { properties: { location: { type: "geo_point" } } } } },
    });
  });

  test("numeric detection reads numbers in strings", () => {
    const mapping = parse({}, { numeric_detection: true });
    assert.deepEqual(dynamic('{"a":"12","b":"1.5"}', mapping), { a: { type: "long" }, b: { type: "float" } });
  });

  test("stops at the field limit only where documents must get through", () => {
    const mapping = parse({ a: { type: "long" } }, {}, { totalFieldsLimit: 2 });
    assert.deepEqual(dynamic('{"b":1,"c":2}', mapping, true), { b: { type: "long" } });
    const update = mapping.dynamicUpdate(Buffer.from('{"b":1,"c":2}'));
    assert.throws(() => mapping.merge(update), { message: /Limit of total fields \[2\]/ });
  });

  test("refuses whole numbers beyond a long, leniently leaves them out", () => {
    assert.throws(() => dynamic('{"a":9223372036854775808}'), { code: "mapping_parse" });
    assert.equal(dynamic('{"a":9223372036854775808}', Mapping.parse({}, options), true), null);
    assert.deepEqual(dynamic('{"a":9223372036854775807}'), { a: { type: "long" } });
  });
});

suite("date formats", () => {
  const rows: readonly (readonly [format: string, text: string, iso: string | null])[] = [
    ["strict_date_optional_time", "2024", "2024-01-01T00:00:00.000Z"],
    ["strict_date_optional_time", "2024-02-29T23:59:59.123456+02:00", "2024-02-29T21:59:59.123Z"],
    ["strict_date_optional_time", "2024-01-28T10:11:12.345Z", "2024-01-28T10:11:12.345Z"],
    ["strict_date_optional_time", "2024-01-31T10:11:12.345Z", "2024-01-31T10:11:12.345Z"],
    ["strict_date_optional_time", "1969-12-28T10:11:12.345Z", "1969-12-28T10:11:12.345Z"],
    ["strict_date_optional_time", "2023-02-29", null],
    ["strict_date_optional_time", "2024-1-1", null],
    ["date_optional_time", "2024-1-1", "2024-01-01T00:00:00.000Z"],
    ["epoch_millis", "1500000000000", "2017-07-14T02:40:00.000Z"],
    ["epoch_second", "1500000000", "2017-07-14T02:40:00.000Z"],
    ["epoch_millis", "1.5E12", "2017-07-14T02:40:00.000Z"],
    ["epoch_millis", "-1e3", "1969-12-31T23:59:59.000Z"],
    ["epoch_millis", "1.5E16", null],
    ["epoch_millis", "1.5E", null],
    ["epoch_second", "1.5E9", "2017-07-14T02:40:00.000Z"],
    ["epoch_second", "1.5E13", null],
    ["yyyy-MM-dd||epoch_millis", "0", "1970-01-01T00:00:00.000Z"],
    ["dd/MMM/yyyy:HH:mm:ss Z", "17/May/2015:10:05:03 +0200", "2015-05-17T08:05:03.000Z"],
    ["8yyyy-MM-dd HH:mm:ss", "2018-02-18 17:47:17", "2018-02-18T17:47:17.000Z"],
    ["8YYYY-ww", "2020-32", "2020-08-03T00:00:00.000Z"],
    ["xxxx-'W'ww HH", "2020-W53 06", "2020-12-28T06:00:00.000Z"],
    ["xxxx-'W'ww", "2021-W01", "2021-01-04T00:00:00.000Z"],
    ["yyyy-MM-dd'T'HH:mm", "2024-03-04T05:06", "2024-03-04T05:06:00.000Z"],
    ["hh:mm a", "12:30 am", "1970-01-01T00:30:00.000Z"],
    ["basic_date", "20240304", "2024-03-04T00:00:00.000Z"],
    ["basic_week_date_time", "2024W106T050607.8Z", "2024-03-09T05:06:07.800Z"],
    ["basic_ordinal_date", "2024064", "2024-03-04T00:00:00.000Z"],
    ["basic_t_time_no_millis", "T050607+0100", "1970-01-01T04:06:07.000Z"],
    ["ordinal_date", "2024-64", "2024-03-04T00:00:00.000Z"],
    ["strict_ordinal_date", "2024-64", null],
    ["week_date", "2024-W9-7", "2024-03-03T00:00:00.000Z"],
    ["strict_week_date", "2024-W9-7", null],
    ["weekyear", "2017", "2017-01-02T00:00:00.000Z"],
    ["strict_weekyear_week", "2024-W09", "2024-02-26T00:00:00.000Z"],
    ["date_time", "24-3-4T5:6:7.123456789+01:00", "0024-03-04T04:06:07.123Z"],
    ["strict_date_time", "2024-03-04T05:06:07.12Z", "2024-03-04T05:06:07.120Z"],
    ["strict_date_time", "2024-3-04T05:06:07.12Z", null],
    ["hour_minute_second_fraction", "5:06:07.1234", "1970-01-01T05:06:07.123Z"],
    ["hour_minute_second_millis", "5:06:07.1234", null],
    ["tTime", "T5:06:07.1Z", "1970-01-01T05:06:07.100Z"],
    ["yearMonthDay||epoch_millis", "2024-3-4", "2024-03-04T00:00:00.000Z"],
  ];
  for (const [format, text, iso] of rows) {
    test(`${format} reads ${text}`, () => {
      const timeMs = dateFormat(format).parse(text);
      assert.equal(Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString(), iso);
    });
  }

  for (const [locale, text] of [
    ["de", "Mi, 06 Dez 2000 02:55:00 -0800"],
    ["de", "Mi., 6 Dezember 2000 02:55:00 -0800"],
    ["fr_FR", "mer., 06 déc. 2000 02:55:00 -0800"],
    ["en", "Wed, 06 Dec 2000 02:55:00 -0800"],
    ["ROOT", "Wed, 06 Dec 2000 02:55:00 -0800"],
  ] as const) {
    test(`a date of the locale ${locale} reads ${text}`, () => {
      const format = localized("E, d MMM yyyy HH:mm:ss Z||epoch_millis", locale);
      assert.equal(dateFormat(format).parse(text), Date.UTC(2000, 11, 6, 10, 55));
      assert.equal(dateFormat(format).parse("1000"), 1000);
      assert.equal(givenFormat(format), "E, d MMM yyyy HH:mm:ss Z||epoch_millis");
    });
  }

  test("a locale that there can't be is refused", () => {
    assert.throws(() => dateFormat(localized("d MMM", "no locale")), { code: "mapping_parse" });
  });

  test("the first format prints", () => {
    assert.equal(dateFormat("dd/MM/yyyy||epoch_millis").print(0), "01/01/1970");
    assert.equal(dateFormat("strict_date_optional_time").print(0), "1970-01-01T00:00:00.000Z");
  });
});

suite("fields that values are copied to", () => {
  const copying = (rest: object = {}): Mapping =>
    parse({ a: { type: "text", copy_to: ["all", "deep.er"] }, n: { type: "long", copy_to: "sum" } }, rest);

  test("are mapped by the value where no mapping names them", () => {
    assert.deepEqual(dynamic('{"a":["x",null],"n":[null,5]}', copying()), {
      all: TEXT,
      deep: { properties: { er: TEXT } },
      sum: { type: "long" },
    });
    const merged = copying().merge({ properties: dynamic('{"a":"x"}', copying()) });
    assert.equal(dynamic('{"a":"x"}', merged), null);
  });

  test("are left out or refused as other unknown fields are", () => {
    assert.equal(dynamic('{"a":"x"}', copying({ dynamic: false })), null);
    assert.throws(() => dynamic('{"a":"x"}', copying({ dynamic: "strict" })), { code: "mapping_strict" });
    const closed = { dynamic: false, properties: {} };
    assert.equal(dynamic('{"c":"x"}', parse({ c: { type: "text", copy_to: "o.t" }, o: closed })), null);
  });

  test("are mapped beside new fields of their object, and for fields that a template maps", () => {
    const inner = parse({ o: { properties: { a: { type: "text", copy_to: "o.all" } } } });
    assert.deepEqual(dynamic('{"o":{"a":"x","n":1}}', inner), {
      o: { properties: { n: { type: "long" }, all: TEXT } },
    });
    const mapping = { type: "keyword", copy_to: "all" };
    const templates = { dynamic_templates: [{ t: { match: "a*", unmatch: "all", mapping } }] };
    assert.deepEqual(dynamic('{"ab":"x","all":1}', parse({}, templates)), {
      ab: mapping,
      all: { type: "long" },
    });
    assert.deepEqual(dynamic('{"o":{"ab":"x"}}', parse({}, templates)), {
      o: { properties: { ab: mapping } },
      all: TEXT,
    });
  });
});

test("a value for an alias is refused, and passed over leniently", () => {
  const mapping = parse({ k: { type: "keyword" }, "o.also": { type: "alias", path: "k" } });
  for (const source of ['{"o":{"also":"x"}}', '{"o.also":["x"]}']) {
    assert.throws(() => dynamic(source, mapping), {
      code: "mapping_parse",
      data: {
        caused_by: {
          type: "illegal_argument_exception",
          reason: "Cannot write to a field alias [o.also].",
        },
      },
    });
    assert.equal(mapping.dynamicUpdate(Buffer.from(source), true), null);
  }
});

suite("regular expressions of dynamic templates", () => {
  const template = (match: string): object => ({
    dynamic_templates: [{ t: { match_pattern: "regex", match, mapping: { type: "keyword" } } }],
  });

  test("take time linear in the name", () => {
    const name = `${"a".repeat(2_000)}!`;
    assert.deepEqual(dynamic(`{"${name}":"x","aa":"y"}`, parse({}, template("(a+)+"))), {
      [name]: TEXT,
      aa: { type: "keyword" },
    });
  });

  test("are refused if they can't, or if they are none, but load with an index that has them", () => {
    for (const match of ["(?=a)a+", "("])
      assert.throws(() => parse({}, template(match)), { code: "mapping_parse" }, match);
    const stored = parse({}, template("(?=a)a+"), { analysis: new Analysis({}, { isStored: true }) });
    assert.deepEqual(dynamic('{"aa":"y"}', stored), { aa: { type: "keyword" } });
    assert.throws(() => stored.merge(template("(?=b)b+")), { code: "mapping_parse" });
  });
});
