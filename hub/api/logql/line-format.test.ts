import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import type { Entry } from "./entry.ts";
import { compileLineFormat } from "./line-format.ts";
import { TemplateFault } from "./template-values.ts";

/** Fills a template in for a line whose labels have a text, a whole number, a fraction and a path. */
function filled(template: string, line = "the line"): string {
  const labels = new Map([
    ["who", "Ann Lee"],
    ["n", "7"],
    ["took", "1.5s"],
    ["part", "0.25"],
    ["path", "/a b?c=d"],
  ]);
  const entry: Entry = {
    line,
    labels,
    stream: labels,
    extracted: new Set(),
    field: () => [],
    value: undefined,
    work: 0,
  };
  return compileLineFormat(template)(entry);
}

test("templates put labels, functions and conditions into a text", () => {
  const rows: [template: string, text: string][] = [
    ["{{.who}}: {{ __line__ }}{{.none}}", "Ann Lee: the line"],
    ["a {{- .n -}} b{{/* nothing */}}", "a7b"],
    ['{{ .who | lower | replace " " "-" | title }}', "Ann-Lee"],
    ['{{ Replace .who "n" "m" 1 }} {{ Replace .who "n" "m" -1 }}', "Amn Lee Amm Lee"],
    ['{{ TrimPrefix .who "Ann " }} {{ trimSuffix "Lee" .who }}| {{ trimAll "A" .who }}', "Lee Ann | nn Lee"],
    ["{{ trunc 3 .who }} {{ trunc -3 .who }} {{ substr 1 3 .who }}", "Ann Lee nn"],
    ["[{{ alignLeft 9 .who }}] [{{ alignRight 3 .who }}] [{{ alignRight 3 .n }}]", "[Ann Lee  ] [Lee] [  7]"],
    ['{{ "a\\nb" | indent 2 }}{{ `x` | repeat 3 }}', "  a\n  bxxx"],
    ['{{ regexReplaceAll "(\\\\w+) (\\\\w+)" .who "\\u0024{2}, $1" }} {{ count "e" .who }}', "Lee, Ann 2"],
    ['{{ regexReplaceAllLiteral "e+" .who "$1" }}', "Ann L$1"],
    ["{{ add .n 3 | mul 2 }} {{ div .n 2 }} {{ mod .n 4 }} {{ sub .n 9 }} {{ max .n 2 9 }}", "20 3 3 -2 9"],
    [
      "{{ addf .part 1 }} {{ divf 1 .part }} {{ round 2.346 2 }} {{ ceil .part }} {{ minf 2.5 .part }}",
      "1.25 4 2.35 1 0.25",
    ],
    [
      '{{ .took | duration }} {{ "3 kB" | bytes }} {{ "3MB" | bytes }} {{ "2.9" | float64 | int }}',
      "1.5 3000 3e+06 2",
    ],
    ["{{ .path | urlencode }} {{ .path | urlencode | urldecode }}", "%2Fa+b%3Fc%3Dd /a b?c=d"],
    ["{{ .who | b64enc | b64dec }} {{ len .who }}", "Ann Lee 7"],
    ['{{ .none | default "-" }}{{ .n | default "-" }}', "-7"],
    ["{{ if and .none (gt (duration .none) 1.0) }}a{{ end }}{{ or .n (div 1 0) }}", "7"],
    ['{{ if eq .n "7" }}seven{{ else }}other{{ end }}', "seven"],
    [
      '{{ if .none }}a{{ else if contains "Lee" .who }}b{{ if not .none }}c{{ end }}{{ else }}d{{ end }}',
      "bc",
    ],
    ['{{ if and .who (hasPrefix "Ann" .who) (gt (int .n) 5) }}yes{{ end }}', "yes"],
    [
      '{{ or .none "x" }} {{ "}}" }} {{ printf "%-4s|%5.2f|%q|%d%%" .n 1.239 .n 3 }}',
      'x }} 7   | 1.24|"7"|3%',
    ],
  ];
  for (const [template, text] of rows) assert.equal(filled(template), text, template);
});

test("functions that can't work with their values fail for the line", () => {
  for (const template of [
    "{{ div .n 0 }}",
    "{{ .who | duration }}",
    "{{ if eq .n 7 }}{{ end }}",
    "{{ .who .n }}",
    "{{ add }}",
    "{{ if minf }}{{ end }}",
  ])
    assert.throws(() => filled(template), TemplateFault, template);
});

test("templates that aren't offered, can't be read or get too long are refused", () => {
  const rows: [template: string, message: RegExp][] = [
    ["{{ .a | date }}", /\{\{\.a \| date\}\} isn't offered: use \{\{\.label\}\}/],
    ["{{ range .a }}{{ end }}", /isn't offered/],
    ["{{ if .a }}", /if without \{\{end\}\}/],
    ["{{ end }}", /unexpected \{\{end\}\}/],
    ["{{ .a", /unclosed action/],
    [`${"a".repeat(200)}{{ .b`, /unclosed action: \{\{ \.b/],
    [`{{${"/**/".repeat(4_000)}`, /unclosed action/],
    ["{{".repeat(8_000), /unclosed action/],
    [`{{${" ".repeat(16_000)}`, /unclosed action/],
    ["{{ (.a }}", /isn't offered/],
    ['{{ repeat 2000000 "a" }}', /more than 1048576 characters/],
    ["{{ alignLeft 2000000 .n }}", /more than 1048576 characters/],
    [`${"{{ if .a }}".repeat(40)}`, /at most 32 deep/],
    [`{{ ${"(".repeat(40)} .a }}`, /at most 32 deep/],
  ];
  for (const [template, message] of rows)
    assert.throws(
      () => filled(template),
      (error) => error instanceof AppError && message.test(error.message),
      template,
    );
});

test("half of a pair of surrogates is encoded as the character for unreadable text", () => {
  assert.equal(filled("{{ __line__ | urlencode }}", "a\ud83d"), "a%EF%BF%BD");
  assert.equal(filled('{{ printf "%.1s" __line__ }}', "😀b"), "😀");
});

test("functions that multiply a long text are refused before it fills the memory", () => {
  const rows: [template: string, line: string][] = [
    [`{{ print ${"__line__ ".repeat(600)} }}`, "a".repeat(1_000_000)],
    [`{{ printf "${"%s".repeat(600)}" ${"__line__ ".repeat(600)} }}`, "a".repeat(1_000_000)],
    [`{{ regexReplaceAll "a" __line__ "${"b".repeat(1_000)}" }}`, "a".repeat(1_000_000)],
    [`{{ regexReplaceAll "a" __line__ "${"$x".repeat(1_000)}" }}`, "a".repeat(100_000)],
    [`{{ __line__ ${"| b64enc".repeat(40)} }}`, "a".repeat(1_000)],
    [`{{ __line__ ${'| printf "%q"'.repeat(40)} }}`, '"'],
    [`{{ __line__ ${"| nindent 1".repeat(100)} }}`, "\n".repeat(10_000)],
    [`{{ __line__ ${"| upper".repeat(1_000)} }}`, "a".repeat(1_000_000)],
  ];
  for (const [template, line] of rows) {
    const startedMs = threadCpuMs();
    assert.throws(() => filled(template, line), AppError, template.slice(0, 40));
    assert.ok(threadCpuMs() - startedMs < 5_000, template.slice(0, 40));
  }
});

test("long texts are trimmed, and long numbers refused, in time linear in them", () => {
  const startedMs = threadCpuMs();
  assert.equal(filled('{{ Trim __line__ (print (repeat 500000 "a") "b") }}', "b".repeat(500_000)), "");
  assert.throws(() => filled(`{{ ${"1".repeat(16_000)}x }}`), AppError);
  assert.throws(() => filled("{{/*".repeat(4_000)), AppError);
  assert.ok(threadCpuMs() - startedMs < 500);
});
