import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { repeated, run } from "#test/support/pipeline/run-filter.ts";

/** What the filter makes of `m`, without it. */
type Row = [filter: string, value: unknown, expected: Record<string, unknown>];

const ROWS: Record<string, Row[]> = {
  json: [
    ['json { source => "m" }', '{"a":[[1]]}', { a: [[1]] }],
    [
      'json { source => "m" }',
      `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
      { tags: ["_jsonparsefailure"] },
    ],
  ],
  date: [
    [
      'date { match => ["m", "dd/MMM/yyyy:HH:mm:ss Z"] }',
      "17/May/2015:10:05:03 +0200",
      { "@timestamp": "2015-05-17T08:05:03.000Z" },
    ],
    [
      'date { match => ["m", "MMM dd HH:mm:ss", "MMM  d HH:mm:ss"] timezone => "UTC" }',
      "Dec  9 01:02:03",
      { "@timestamp": "2023-12-09T01:02:03.000Z" },
    ],
    [
      'date { match => ["m", "yyyyMMddHHmmssSSS"] timezone => "Europe/Berlin" }',
      "20240701120000123",
      { "@timestamp": "2024-07-01T10:00:00.123Z" },
    ],
    [
      'date { match => ["m", "ISO8601"] timezone => "+01:00" }',
      "2024-01-02 03:04:05,678",
      { "@timestamp": "2024-01-02T02:04:05.678Z" },
    ],
    ['date { match => ["m", "UNIX"] }', 1700000000.5, { "@timestamp": "2023-11-14T22:13:20.500Z" }],
    ['date { match => ["m", "UNIX_MS"] target => "t" }', "1700000000123", { t: "2023-11-14T22:13:20.123Z" }],
    [
      'date { match => ["m", "UNIX", "UNIX_MS"] }',
      "1700000000123",
      { "@timestamp": "2023-11-14T22:13:20.123Z" },
    ],
    [
      'date { match => ["m", "TAI64N"] }',
      "@4000000050d506482dbdf024",
      { "@timestamp": "2012-12-22T01:00:46.767Z" },
    ],
    [
      'date { match => ["m", "EEE MMM dd HH:mm:ss.SSSSSS yyyy"] timezone => "UTC" }',
      "Wed Oct 11 14:32:52.123456 2000",
      { "@timestamp": "2000-10-11T14:32:52.123Z" },
    ],
    [
      'date { match => ["m", "dd MMMM yyyy hh:mm a"] locale => "fr" timezone => "UTC" }',
      "14 février 2024 03:30 PM",
      { "@timestamp": "2024-02-14T15:30:00.000Z" },
    ],
    [
      'date { match => ["m", "yyyy-MM-dd HH:mm:ss ZZZ"] }',
      "2024-03-31 03:30:00 Europe/Berlin",
      { "@timestamp": "2024-03-31T01:30:00.000Z" },
    ],
    ['date { match => ["m", "yyyy-MM-dd"] }', "2024-02-30", { tags: ["_dateparsefailure"] }],
    // Summer time skips the hour from 02:00.
    ...[
      ["01:59:59", { "@timestamp": "2016-03-27T00:59:59.000Z" }],
      ["02:00:01", { tags: ["_dateparsefailure"] }],
      ["03:00:01", { "@timestamp": "2016-03-27T01:00:01.000Z" }],
    ].flatMap(([time, expected]): Row[] => [
      [
        'date { match => ["m", "yyyy-MM-dd HH:mm:ss"] timezone => "CET" }',
        `2016-03-27 ${time as string}`,
        expected as Record<string, unknown>,
      ],
      [
        'date { match => ["m", "ISO8601"] timezone => "CET" }',
        `2016-03-27T${time as string}`,
        expected as Record<string, unknown>,
      ],
    ]),
    ['date { match => ["m", "ISO8601"] }', "161209 13:08:33", { tags: ["_dateparsefailure"] }],
    [
      'date { match => ["m", "ISO8601"] target => "t" }',
      "0001-01-01T00:00:00Z",
      { t: "0001-01-01T00:00:00.000Z" },
    ],
    ['date { match => ["m", "ISO8601"] }', "2024-00-15T12:00:00Z", { tags: ["_dateparsefailure"] }],
    ['date { match => ["m", "ISO8601"] }', "2024-01-15T12:00:60Z", { tags: ["_dateparsefailure"] }],
    ['date { match => ["m", "yyyy-MM-dd"] }', "2024-02-03 x", { tags: ["_dateparsefailure"] }],
  ],
  kv: [
    [
      'kv { source => "m" }',
      "a=1 b=\"two words\" c='x y' d=[in brackets] e= f",
      { e: "f", a: "1", b: "two words", c: "x y", d: "in brackets" },
    ],
    [
      'kv { source => "m" field_split => "&?" target => "q" }',
      "?x=1&y=2&x=3",
      { q: { x: ["1", "3"], y: "2" } },
    ],
    ['kv { source => "m" value_split => ":" whitespace => "lenient" }', "a : 1 b:2", { a: "1", b: "2" }],
    [
      'kv { source => "m" include_keys => ["b"] prefix => "" default_keys => { "z" => "d" } }',
      "a=1 b=2",
      { b: "2", z: "d" },
    ],
    [
      'kv { source => "m" trim_value => "<>" transform_key => "uppercase" include_brackets => false }',
      "a=<1>",
      { A: "1" },
    ],
    ['kv { source => "m" allow_duplicate_values => false }', "a=1 a=1 a=2", { a: ["1", "2"] }],
    ['kv { source => "m" }', "nothing here", {}],
    ['kv { source => "m" }', String.raw`a=cruel\ world b=2`, { a: String.raw`cruel\ world`, b: "2" }],
    [
      String.raw`kv { source => "m" field_split_pattern => "\?\?" value_split_pattern => "\+\+" }`,
      'a++1??b++"x y"??c++(in brackets)',
      { a: "1", b: "x y", c: "in brackets" },
    ],
    [
      'kv { source => "m" field_split_pattern => "!!" }',
      'a=1!!b="quoted" and more!!c="!!"!!d=""',
      { a: "1", b: '"quoted" and more', c: "!!" },
    ],
    ['kv { source => "m" include_keys => ["b"] prefix => "p_" }', "a=1 b=2", { p_b: "2" }],
    ['kv { source => "m" allow_empty_values => true whitespace => "strict" }', "a= b=[]", { a: "", b: "" }],
    [
      'mutate { add_field => { "[t][x]" => "1" } } kv { source => "m" target => "t" }',
      "a=1",
      { t: { a: "1" } },
    ],
  ],
  csv: [
    [
      'csv { source => "m" }',
      'a,"b ""q"", c",,d',
      { column1: "a", column2: 'b "q", c', column3: null, column4: "d" },
    ],
    [
      'csv { source => "m" columns => ["x","y"] convert => { "y" => "integer" } skip_empty_columns => true }',
      "a,7,",
      { x: "a", y: 7 },
    ],
    ['csv { source => "m" separator => ";" target => "t" }', "1;2", { t: { column1: "1", column2: "2" } }],
    ['csv { source => "m" }', 'a,"open', { tags: ["_csvparsefailure"] }],
    ['csv { source => "m" separator => "" }', "a,b", { column1: "a,b" }],
  ],
  dissect: [
    [
      'dissect { mapping => { "m" => "%{a} %{+a} [%{b}] %{?k}=%{&k}" } }',
      "x y [z] key=value",
      { a: "x y", b: "z", key: "value" },
    ],
    [
      'dissect { mapping => { "m" => "%{a->} %{b}" } convert_datatype => { "b" => "int" } }',
      "x    7",
      { a: "x", b: 7 },
    ],
    ['dissect { mapping => { "m" => "%{+t/2} %{+t/1} %{+t/4} %{+t/3}" } }', "1 2 3 go", { t: "2 1 go 3" }],
    ['dissect { mapping => { "m" => "%{a}-%{b}" } }', "none", { tags: ["_dissectfailure"] }],
  ],
  translate: [
    [
      'translate { source => "m" target => "t" dictionary => { "200" => "OK" } fallback => "no %{m}" }',
      200,
      { t: "OK" },
    ],
    [
      'translate { source => "m" target => "t" dictionary => { "200" => "OK" } fallback => "no %{m}" }',
      "300",
      { t: "no 300" },
    ],
    [
      'translate { source => "m" target => "t" regex => true dictionary => { "^2\\d\\d$" => "ok" } }',
      "204",
      { t: "ok" },
    ],
    [
      'translate { source => "m" target => "t" exact => false dictionary => { "foo" => "bar" } }',
      "a foo b",
      { t: "a bar b" },
    ],
    ['translate { source => "m" dictionary => { "x" => "y" } }', "x", { translation: "y" }],
    [
      'translate { source => "m" iterate_on => "m" target => "t" dictionary => { "a" => "A" } }',
      ["a", "b"],
      { t: ["A", null] },
    ],
    [
      'mutate { add_field => { "t" => "kept" } } translate { source => "m" iterate_on => "m" target => "t" dictionary => { "a" => "A" } }',
      ["a"],
      { t: "kept" },
    ],
    [
      'json { source => "m" target => "l" } translate { source => "k" iterate_on => "l" target => "v" dictionary => { "a" => "A" } }',
      '[{"k":"a"},{"k":"b"},1]',
      { l: [{ k: "a", v: "A" }, { k: "b" }, 1] },
    ],
  ],
  fingerprint: [
    [
      'fingerprint { source => "m" method => "SHA256" }',
      "x",
      { fingerprint: "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" },
    ],
    // RFC 2202 §2, test case 2.
    [
      'fingerprint { source => "m" method => "MD5" key => "Jefe" }',
      "what do ya want for nothing?",
      { fingerprint: "750c783e6ab0b503eaa86e310a5db738" },
    ],
    ['fingerprint { source => "m" method => "MURMUR3" }', "123.52.122.33", { fingerprint: 1541804874 }],
    [
      'fingerprint { source => "m" method => "IPV4_NETWORK" key => 24 }',
      "233.255.13.44",
      { fingerprint: "233.255.13.0" },
    ],
    [
      'fingerprint { source => "m" method => "PUNCTUATION" }',
      'PHP Warning:  json_encode() [<a href="f">]',
      { fingerprint: ':_()[<="">]' },
    ],
    ['fingerprint { source => "m" method => "PUNCTUATION" }', "Größe: 3 €", { fingerprint: ":€" }],
    ['fingerprint { source => "m" method => "MURMUR3" }', 123, { fingerprint: 823512154 }],
    [
      'fingerprint { source => "m" method => "MURMUR3_128" }',
      "123.123.123.123",
      { fingerprint: "41cbc4056eed401d091dfbeabf7ea9e0" },
    ],
    [
      'fingerprint { source => "m" method => "MURMUR3_128" base64encode => true }',
      2148483647,
      { fingerprint: "/cdpmoJVbIxYQTHwEz7piQ==" },
    ],
    // SHA1 of |a|k|v|w|m|x|
    [
      'json { source => "m" target => "a" } mutate { replace => { "m" => "x" } } fingerprint { source => ["m", "a"] concatenate_sources => true remove_field => ["a"] }',
      '[{"k":"v"},"w"]',
      { m: "x", fingerprint: "414cab0dc57d59df2fd4691342e83a798679e7b2" },
    ],
  ],
  grok: [
    [
      'grok { match => { "m" => "%{IP:ip} %{NUMBER:n:int} %{NUMBER:f:float}" } }',
      "10.0.0.1 42 1.5",
      { ip: "10.0.0.1", n: 42, f: 1.5 },
    ],
    ['grok { match => { "m" => ["^A%{DATA:x}$", "^B%{DATA:x}$"] } }', "Bee", { x: "ee" }],
    [
      'grok { match => { "m" => "(?<[a][b]>\\w+) %{OWN=\\d{3}:code}" } }',
      "x 1",
      { tags: ["_grokparsefailure"] },
    ],
    [
      'grok { match => { "m" => "%{ID:id}" } pattern_definitions => { "ID" => "[A-F0-9]{4}" } target => "t" }',
      "x ABCD",
      { t: { id: "ABCD" } },
    ],
    ['grok { match => { "m" => "(?i)ERROR (?>a+)(?<n>\\d++)" } }', "error aaa12", { n: "12" }],
    ['grok { match => { "m" => "^(?:(?<k>\\w)=(?<v>\\d);)+$" } }', "a=1;b=2;", { k: "b", v: "2" }],
    [
      'grok { match => { "m" => "%{INT:n:int}" } } mutate { replace => { "n" => "%{n}" } }',
      "-1700000000123456789",
      { n: "-1700000000123456789" },
    ],
    ['grok { match => { "m" => "%{WORD:a:int} %{WORD:b:int}" } }', "1e3 12e400", { a: 1, b: 12 }],
    ['grok { match => { "m" => "%{WORD:m}" } overwrite => ["m"] }', "first second", { m: "first" }],
    [
      'grok { match => { "m" => "%{WORD:a}(?:=%{INT:b:int})?(?:,(?<c>\\w))*%{DATA:d}$" } keep_empty_captures => true }',
      "x",
      { a: "x", b: null, c: null, d: "" },
    ],
    [
      'grok { match => { "m" => "(?:%{INT:n:int}|%{WORD:w}|%{DATA:n})$" } keep_empty_captures => true }',
      "7",
      { n: 7, w: null },
    ],
    [
      'mutate { add_field => { "a" => "t" } } grok { match => { "m" => "%{WORD:w}(?:=%{INT:[a][b]})?$" } keep_empty_captures => true }',
      "x",
      { a: "t", w: "x" },
    ],
    ['grok { match => { "m" => "%{WORD:a}(?:=%{INT:b})?" } }', "x", { a: "x" }],
  ],
  useragent: [
    [
      'useragent { source => "m" target => "ua" ecs_compatibility => v1 }',
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36",
      {
        ua: {
          original:
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36",
          name: "Chrome",
          version: "32.0.1700.77",
          os: { name: "Mac OS X", version: "10.9.1", full: "Mac OS X 10.9.1" },
          device: { name: "Mac" },
        },
      },
    ],
    [
      'useragent { source => "m" target => "u" } mutate { add_field => { "o" => "%{[u][os_name]} %{[u][os_version]}" } remove_field => ["u"] }',
      "Corporate-Client/9.1 (Windows 10) Agent/9.1",
      { o: "Windows 10" },
    ],
    ...(
      [
        ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", "Spider"],
        [
          "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36 Edg/120.0",
          "Edge",
          "Other",
        ],
        [
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1",
          "Mobile Safari",
          "iPhone",
        ],
        [
          "Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/290.1 Mobile/15E148 Safari/604.1",
          "Google",
          "iPhone",
        ],
        ["WordPress/6.4.2; https://blog.example", "WordPress", "Spider"],
        ["curl/8.5.0", "curl", "Other"],
        [
          "Mozilla/5.0 (iPhone; CPU iPhone OS 13_3_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBDV/iPhone11,8;FBSN/iOS]",
          "Facebook",
          "iPhone",
        ],
        [
          "Mozilla/5.0 (iPad; CPU OS 12_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/16A366 [FBAN/MessengerForiOS;FBAV/200.0.0.43.118;FBSN/iOS]",
          "Facebook Messenger",
          "iPad",
        ],
        [
          "Mozilla/5.0 (Linux; Android 9; SM-G960F; wv) AppleWebKit/537.36 Version/4.0 Mobile Safari/537.36 [FB_IAB/Orca-Android;FBAV/250.1.0;]",
          "Facebook Messenger",
          "SM-G960F",
        ],
        [`${"[FBAN/".repeat(400)} curl/8.5.0`, "Other", "Other"],
        ["MacOutlook/16.24.0.190414 (Intelx64 Mac OS X Version 10.14.4 (Build 18E226))", "MacOutlook", "Mac"],
        ["aws-cli/1.16.248 Python/3.4.7 Linux/4.9.184-0.1.x86_64 botocore/1.12.239", "aws-cli", "Spider"],
        ["aws-cli/1.3.2 Python/2.7.5 Windows/7", "aws-cli", "Other"],
        ["-", "Other", "Other"],
      ] as const
    ).map(
      ([agent, name, device]): Row => [
        'useragent { source => "m" target => "u" } mutate { add_field => { "n" => "%{[u][name]}" "d" => "%{[u][device]}" } remove_field => ["u"] }',
        agent,
        { n: name, d: device },
      ],
    ),
  ],
  mutate: [
    ['mutate { split => { "m" => " " } }', "  Nov  5\t10:00  ", { m: ["Nov", "5", "10:00"] }],
    ['mutate { split => { "m" => "," } }', ",a,,b,,", { m: ["", "a", "", "b"] }],
    ['mutate { split => { "m" => "" } }', "a😀", { m: ["a", "😀"] }],
    [
      'json { source => "m" target => "l" } mutate { merge => { "l" => "l2" "[l]" => "m" } }',
      "[1,1]",
      { l: [1, 1, "[1,1]"] },
    ],
    [
      'json { source => "m" target => "o" } mutate { gsub => ["o", "a", "b", "m", "1", "2"] uppercase => ["m"] add_tag => "t" }',
      '{"a":1}',
      { m: '{"A":2}', o: { a: 1 }, tags: ["t"] },
    ],
    [
      'json { source => "m" target => "o" } mutate { convert => { "o" => "integer" } uppercase => ["m"] }',
      '{"a":1}',
      { m: '{"A":1}', o: { a: 1 } },
    ],
  ],
  others: [
    ['truncate { length_bytes => 4 add_tag => "cut" }', "abcd", {}],
    [
      'mutate { rename => { "m" => "[o][l]" } } truncate { length_bytes => 4 add_tag => "cut" }',
      ["abcde", "a"],
      { o: { l: ["abcd", "a"] }, tags: ["cut"] },
    ],
    ['split { field => "m" target => "t" add_tag => "split" }', "a", {}],
    ['split { field => "m" target => "t" add_tag => "split" }', "a\n", { t: "a", tags: ["split"] }],
    [
      'syslog_pri { syslog_pri_field_name => "m" add_tag => "read" }',
      "193",
      { syslog_facility_code: 24, syslog_severity_code: 1, tags: ["_syslogpriparsefailure", "read"] },
    ],
    [
      'syslog_pri { syslog_pri_field_name => "m" use_labels => false }',
      "193",
      { syslog_facility_code: 24, syslog_severity_code: 1 },
    ],
    ['truncate { fields => ["m"] length_bytes => 4 }', "aäöü", { m: "aä" }],
    ['prune { blacklist_names => ["^m$"] }', "x", {}],
    [
      'mutate { rename => { "m" => "l" } } prune { whitelist_values => { "l" => "^[12]" } }',
      ["100", "200", "300"],
      { l: ["100", "200"] },
    ],
    [
      'mutate { rename => { "m" => "l" } } prune { blacklist_values => { "l" => "^[12]" } }',
      ["100", "200", "300"],
      { l: ["300"] },
    ],
    ['mutate { rename => { "m" => "l" } } prune { blacklist_values => { "l" => "0$" } }', ["10", "20"], {}],
    [
      'mutate { add_field => { "o" => "x" } } prune { interpolate => true blacklist_names => ["%{o}", "^o$"] blacklist_values => { "%{o}" => "%{m}" } }',
      "k",
      {},
    ],
    [
      'syslog_pri { syslog_pri_field_name => "m" }',
      "165",
      {
        syslog_facility_code: 20,
        syslog_facility: "local4",
        syslog_severity_code: 5,
        syslog_severity: "notice",
      },
    ],
    ['mutate { rename => { "m" => "[a][b]" } } de_dot { nested => true }', "x", { a: { b: "x" } }],
    [
      'mutate { rename => { "m" => "[a][b.c]" } add_field => { "d.e" => "1" } } de_dot { fields => ["[a][b.c]"] }',
      "x",
      { a: { b_c: "x" }, "d.e": "1" },
    ],
    [
      'mutate { rename => { "m" => "[a.b][c.d]" } } de_dot { nested => true recursive => true }',
      "x",
      { a: { b: { c: { d: "x" } } } },
    ],
    [
      'mutate { rename => { "m" => "[a.b][c.d]" } } de_dot { fields => ["[a.b][c.d]"] }',
      "x",
      { a_b: { c_d: "x" } },
    ],
    [
      'mutate { add_field => { "a.b" => "1" } rename => { "m" => "a" } } de_dot { nested => true }',
      "x",
      { a: "x", "a.b": "1", tags: ["_de_dot_error"] },
    ],
    [
      'mutate { convert => { "m" => "integer" } } mutate { replace => { "m" => "%{m}" } }',
      "-1,700,000,000,123,456,789",
      { m: "-1700000000123456789" },
    ],
    [
      'dissect { mapping => { "m" => "%{a} %{b}" } convert_datatype => { "b" => "int" } } mutate { replace => { "b" => "%{b}" } }',
      "x 01700000000123456789",
      { a: "x", b: "1700000000123456789" },
    ],
    ['dissect { mapping => { "none" => "%{a} %{b}" } }', "x", { m: "x" }],
    [
      'dissect { mapping => { "m" => "%{a} %{b}" } convert_datatype => { "a" => "int" "z" => "float" } }',
      "1 2",
      { a: 1, b: "2", tags: ["_dataconversionnullvalue_z_float"] },
    ],
    [
      'dissect { mapping => { "m" => "%{a} %{b}" } convert_datatype => { "a" => "int" "b" => "float" } }',
      "0x1f Infinity",
      {
        a: "0x1f",
        b: "Infinity",
        tags: ["_dataconversionuncoercible_a_int", "_dataconversionuncoercible_b_float"],
      },
    ],
    [
      'dissect { mapping => { "m" => "%{a} %{b}" "t" => "%{c}-%{d}" } add_field => { "t2" => "y" } }',
      "1 2",
      { a: "1", b: "2", t2: "y" },
    ],
    [
      'mutate { add_field => { "a.b" => "1" "new-%{m}" => "%{m}!" } remove_field => ["m"] } de_dot { nested => true }',
      "x",
      { a: { b: "1" }, "new-x": "x!" },
    ],
    [
      'cidr { address => ["%{m}"] network => ["2001:db8::/32"] add_tag => ["in"] }',
      "2001:db8::1",
      { tags: ["in"] },
    ],
    ['uuid { target => "m" }', "x", { m: "x" }],
  ],
};

test("a number that a filter makes a decimal stays one without a fraction", () => {
  for (const [filter, value, expected] of [
    ['mutate { convert => { "m" => "float" } }', "7", "7.0"],
    ['mutate { convert => { "m" => "float" } }', true, "1.0"],
    ['mutate { convert => { "m" => "float_eu" } }', "1.234,0", "1234.0"],
    ['mutate { convert => { "m" => "float" } } mutate { convert => { "m" => "integer_eu" } }', "7", "7"],
    ['mutate { convert => { "m" => "float" } } mutate { convert => { "m" => "string" } }', "7", "7.0"],
    ['grok { match => { "m" => "%{NUMBER:m:float}" } overwrite => ["m"] }', "7", "7.0"],
    ['dissect { mapping => { "m" => "%{m} %{}" } convert_datatype => { "m" => "float" } }', "7 x", "7.0"],
    ['csv { source => "m" columns => ["m"] convert => { "m" => "float" } }', "7", "7.0"],
    ['json { source => "m" }', '{"m":7.0}', "7.0"],
  ] as const)
    assert.equal(
      run(`${filter} mutate { add_field => { "t" => "%{m}" } }`, { m: value })[0]?.["t"],
      expected,
      filter,
    );
});

test("filters take a number that stays as it was written for a number", () => {
  for (const [filter, expected] of [
    ['kv { source => "l" }', { a: "b" }],
    ['mutate { gsub => ["l", "=", ":"] }', { l: ["a:b", 30] }],
    ['mutate { add_field => { "[n][x]" => "1" } }', { tags: ["_mutate_error"] }],
  ] as const) {
    const [event] = run(`json { source => "m" } ${filter}`, { m: '{"n":30.0,"l":["a=b",30.0]}' });
    assert.partialDeepStrictEqual(event, { n: 30, ...expected }, filter);
  }
});

for (const [group, rows] of Object.entries(ROWS)) {
  test(`${group}: each row gives the expected event`, () => {
    for (const [filter, value, expected] of rows) {
      const [result] = run(filter, { m: value });
      assert.ok(result !== undefined, filter);
      if (!("m" in expected)) delete result["m"];
      assert.deepEqual(result, expected, `${filter} on ${JSON.stringify(value)}`);
    }
  });
}

test("drop ends a share of the events by the random number", () => {
  assert.equal(run("drop { percentage => 51 }", {}).length, 0);
  assert.equal(run("drop { percentage => 50 }", {}).length, 1);
});

test("an expression that doesn't end is stopped in careful mode, and the event is tagged", () => {
  const guard = new RegexpGuard({ careful: true });
  const filter = 'grok { match => { "m" => "^(?:a+)+$" } timeout_millis => 20 }';
  assert.deepEqual(run(filter, { m: `${"a".repeat(40)}b` }, guard), [
    { m: `${"a".repeat(40)}b`, tags: ["_groktimeout"] },
  ]);
});

test("kv gathers many values of one key in linear time", () => {
  for (const option of ["", "allow_duplicate_values => false"]) {
    const text = Array.from({ length: 50_000 }, (_, index) => `a=${index}`).join(" ");
    const before = process.cpuUsage();
    const [fields] = run(`kv { source => "m" ${option} remove_field => ["m"] }`, { m: text });
    const { user, system } = process.cpuUsage(before);
    assert.equal((fields!["a"] as string[]).length, 50_000);
    // In quadratic time it takes more than ten seconds.
    assert.ok(user + system < 2_000_000, `${user + system} µs`);
  }
});

test("kv passes a long text without pairs in linear time", () => {
  const guard = new RegexpGuard({ careful: true });
  const long = "a".repeat(100_000);
  for (const option of ["", 'field_split_pattern => " "']) {
    const filter = `kv { source => "m" timeout_millis => 1000 remove_field => ["m"] ${option} }`;
    assert.deepEqual(run(filter, { m: `${long} b=1` }, guard), [{ b: "1" }]);
  }
});

test("a fingerprint of all fields takes their names as they are", () => {
  const filter = "fingerprint { concatenate_all_fields => true }";
  // SHA1 of |@timestamp|2024-01-05T00:00:00.000Z|[b]|1|a[0]|2|b|3|
  assert.deepEqual(run(filter, { "[b]": 1, "a[0]": 2, b: 3 }), [
    { "[b]": 1, "a[0]": 2, b: 3, fingerprint: "6006ae1d48b6abe99c3618413da0ecc1c0003589" },
  ]);
});

test("a csv filter whose first batch is done again takes the same event for the names of its columns", () => {
  let place = 7;
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const apply = repeated(
    "csv { autodetect_column_names => true remove_field => [message] }",
    clock,
    () => place,
  );
  assert.deepEqual(apply({ message: "a,b" }), {});
  assert.deepEqual(apply({ message: "a,b" }), {});
  place++;
  assert.deepEqual(apply({ message: "a,b" }), { a: "a", b: "b" });
  assert.deepEqual(apply({ message: "1,2" }), { a: "1", b: "2" });
});

test("date sets no tag where its field is absent: a line without a match has the tag of grok alone", () => {
  const filters =
    'grok { match => { "m" => "%{INT:n} %{GREEDYDATA:t}" } } date { match => ["t", "ISO8601"] }';
  assert.deepEqual(run(filters, { m: "no number" }), [{ m: "no number", tags: ["_grokparsefailure"] }]);
  assert.deepEqual(run(filters, { m: "5 no time" }), [
    { m: "5 no time", n: "5", t: "no time", tags: ["_dateparsefailure"] },
  ]);
});
