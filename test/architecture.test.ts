import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import {
  cycles,
  emptyNames,
  folderFaults,
  importsOf,
  layerFaults,
  loadedWith,
  namedExports,
  namedFiles,
  namedPaths,
  partOf,
  type Sources,
} from "./architecture.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** Beyond it a file surely holds two ideas; tables make tests longer. */
const MAX_LINES = 500;
const MAX_TEST_LINES = 800;
/** Beyond it somebody should look; listed, not refused. */
const LONG_LINES = 250;

const sources = readSources();

test("every import leads downward", () => {
  assert.deepEqual(layerFaults(sources), []);
});

test("inside a part every import leads downward", () => {
  assert.deepEqual(folderFaults(sources), []);
});

test("no file imports itself through others", () => {
  assert.deepEqual(cycles(sources), []);
});

test("a hub starts without the code that few requests need, and that of its threads", () => {
  const atStart = loadedWith(sources, [
    "hub/node/hub.ts",
    "hub/node/wiring/shards.ts",
    "hub/node/flow.ts",
    "hub/node/wiring/copy-healing.ts",
    "hub/node/wiring/placement-start.ts",
  ]);
  const later = [
    /^(?:oidc-provider|level|@platformatic\/kafka|quickjs-emscripten|snowball-stemmers|amqplib|ioredis|mysql2|pg|nodemailer)$/,
    /^hub\/(?:search\/(?:parse|execute|aggregations\/(?!kinds|tree))|host\/operations|engine\/(?:shard|merge))/,
  ];
  assert.deepEqual(
    [...atStart].filter((each) => later.some((pattern) => pattern.test(each))),
    [],
  );
  assert.ok(atStart.has("hub/api/server.ts"), "the search is blind");
});

test("what is loaded with a file leaves out types and what is imported later", () => {
  const files = new Map([
    ["hub/a.ts", 'import { b } from "#hub/b.ts";\nimport type { D } from "./d.ts";\nimport "./e.ts";\n'],
    ["hub/b.ts", 'import fastify from "fastify";\nexport const c = () => import("./c.ts");\n'],
  ]);
  assert.deepEqual([...loadedWith(files, ["hub/a.ts"])], ["hub/a.ts", "hub/b.ts", "hub/e.ts", "fastify"]);
});

test("no name hides what its file holds", () => {
  assert.deepEqual(emptyNames(sources.keys()), []);
});

test(`no file has more than ${MAX_LINES} lines, no test more than ${MAX_TEST_LINES}`, (t) => {
  const lengths = [...sources]
    .filter(([path]) => !path.startsWith("proto/gen/"))
    .map(([path, text]) => ({ path, lines: text.split("\n").length - 1 }));
  for (const { path, lines } of lengths.filter((each) => each.lines > LONG_LINES)) {
    t.diagnostic(`${path}: ${lines} lines; is it one idea?`);
  }
  const tooLong = ({ path, lines }: { path: string; lines: number }): boolean =>
    lines > (path.endsWith(".test.ts") ? MAX_TEST_LINES : MAX_LINES);
  assert.deepEqual(lengths.filter(tooLong), []);
});

test("ARCHITECTURE.md names every part, and no path that is missing", () => {
  const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const named = namedPaths(page);
  const parts = new Set([...sources.keys()].map((path) => `${partOf(path)}/`));
  assert.deepEqual(
    [...parts].filter((part) => !named.includes(part)),
    [],
    "parts without a section",
  );
  // What a build makes (dist/) need not be there yet.
  const written = named.filter((path) => !path.endsWith("/dist"));
  assert.deepEqual(
    written.filter((path) => !existsSync(join(ROOT, path))),
    [],
    "paths that aren't there",
  );
});

test("CONTRIBUTING.md and README.md name no path that is missing", () => {
  for (const page of ["CONTRIBUTING.md", "README.md"]) {
    const named = namedPaths(readFileSync(join(ROOT, page), "utf8"));
    const made = named.filter((path) => !/\/(?:dist|artefacts)\/?$/.test(path));
    assert.deepEqual(
      made.filter((path) => !existsSync(join(ROOT, path))),
      [],
      page,
    );
  }
});

test("names that ARCHITECTURE.md and CONTRIBUTING.md give with their file are in it", () => {
  for (const page of ["ARCHITECTURE.md", "CONTRIBUTING.md"]) {
    const named = namedExports(readFileSync(join(ROOT, page), "utf8"));
    assert.ok(named.length >= 10, "the search is blind");
    const missing = named.filter(
      ({ name, file }) =>
        !readFileSync(join(ROOT, file), "utf8")
          .split(/[^\w#]+/)
          .includes(name),
    );
    assert.deepEqual(missing, [], page);
  }
  const text = "`Shard.apply`\n(`hub/a.ts`), `Host.#follow` in `hub/b.ts`, `c` and `hub/d.ts`";
  const found = [
    { name: "apply", file: "hub/a.ts" },
    { name: "#follow", file: "hub/b.ts" },
  ];
  assert.deepEqual(namedExports(text), found);
});

test("comments and READMEs name no file that is missing", () => {
  const pages = globSync("{proto,agent,hub,ui,deploy,test}/**/{*.ts,README.md}", {
    cwd: ROOT,
    exclude: ["test/architecture.test.ts", "ui/dist/**", "test/artefacts/**"],
  });
  const files = pages.map((path) => `/${path}`);
  const found = new Map<string, boolean>();
  const isThere = (name: string): boolean => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const isPath = /^(?:proto|agent|hub|ui|deploy|test)\//.test(name);
    const isFound = isPath ? files.includes(`/${name}`) : files.some((path) => path.endsWith(`/${name}`));
    found.set(name, isFound);
    return isFound;
  };
  const missing = pages.flatMap((path) =>
    namedFiles(readFileSync(join(ROOT, path), "utf8"), path.endsWith(".md"))
      .filter((name) => !isThere(name))
      .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test("the files that comments name are found, not those of imports and texts", () => {
  const source = `/** See hub/a.ts, and b/c.test.ts. */\nimport "./d.ts"; // as e.ts\nconst f = "g.ts";`;
  assert.deepEqual(namedFiles(source, false), ["hub/a.ts", "b/c.test.ts", "e.ts"]);
  assert.deepEqual(namedFiles("In `h.ts` and `x/i.ts`", true), ["h.ts", "x/i.ts"]);
});

const PLANTED: readonly (readonly [what: string, files: Readonly<Record<string, string>>, fault: RegExp])[] =
  [
    [
      "an upward import",
      { "proto/kit/a.ts": 'import { b } from "#agent/b.ts";', "agent/b.ts": "" },
      /kit\/a\.ts imports #agent\/b\.ts: proto\/kit must not import agent/,
    ],
    [
      "an import of a sibling part",
      { "hub/engine/a.ts": 'import type { B } from "#hub/journal/b.ts";', "hub/journal/b.ts": "" },
      /hub\/engine must not import hub\/journal/,
    ],
    [
      "an upward export over several lines",
      { "hub/search/a.ts": 'export {\n  b,\n  c,\n} from "#hub/api/b.ts";', "hub/api/b.ts": "" },
      /hub\/search must not import hub\/api/,
    ],
    [
      "an upward dynamic import",
      { "hub/api/a.ts": 'const b = await import("#hub/node/hub.ts");', "hub/node/hub.ts": "" },
      /hub\/api must not import hub\/node$/,
    ],
    [
      "a worker in a part above",
      { "hub/engine/a.ts": 'new Worker(new URL("../api/b.ts", import.meta.url));', "hub/api/b.ts": "" },
      /hub\/engine must not import hub\/api/,
    ],
    [
      "a part above reached by a short path",
      { "hub/engine/a.ts": 'import { b } from "../api/b.ts";', "hub/api/b.ts": "" },
      /leaves its part/,
    ],
    ["a computed import", { "hub/engine/a.ts": "const b = await import(name);" }, /imports a computed path/],
    [
      "a product file that imports a test's part",
      { "agent/a.ts": 'import "#test/harness/b.ts";', "test/harness/b.ts": "" },
      /must not import its tests/,
    ],
    ["an import of a missing file", { "agent/a.ts": 'import "./b.ts";' }, /there is no such file/],
    [
      "a page that sees the engine's protocol",
      { "ui/a.ts": 'import { b } from "#proto/position.ts";', "proto/position.ts": "" },
      /ui must not import proto/,
    ],
    [
      "a climb over two folders",
      { "hub/api/routes/x/a.ts": 'import { b } from "../../b.ts";', "hub/api/b.ts": "" },
      /climbs out/,
    ],
  ];

test("the checker finds an import that leads upward inside a part", () => {
  const files = {
    "hub/search/query/a.ts": 'import type { B } from "#hub/search/execute/b.ts";',
    "hub/search/execute/b.ts": "",
    "hub/search/query/a.test.ts": 'import { B } from "#hub/search/execute/b.ts";',
    "hub/search/unlisted/c.ts": "",
  };
  assert.deepEqual(folderFaults(new Map(Object.entries(files))), [
    "hub/search/query/a.ts imports #hub/search/execute/b.ts: execute lies above query",
    "hub/search/unlisted/c.ts: the folder unlisted has no row in FOLDERS of hub/search",
  ]);
});

for (const [what, files, fault] of PLANTED) {
  test(`the checker finds ${what}`, () => {
    assert.match(layerFaults(new Map(Object.entries(files))).join("\n"), fault);
  });
}

test("the checker lets downward imports, the live protocol and a test's harness pass", () => {
  const files = {
    "hub/node/hub.ts": 'import { a } from "#hub/api/a.ts";\nimport { b } from "./b.ts";',
    "hub/node/b.ts": "",
    "hub/api/a.ts": 'import type { S } from "#hub/engine/s.ts";\nimport x from "fastify";',
    "hub/engine/s.ts": 'import { k } from "#proto/kit/k.ts";',
    "hub/engine/s.test.ts": 'import { h } from "#test/harness/h.ts";',
    "proto/kit/k.ts": "",
    "proto/live.ts": "",
    "ui/a.ts": 'import type { L } from "#proto/live.ts";',
    "test/harness/h.ts": 'import { s } from "#hub/engine/s.ts";',
  };
  assert.deepEqual(layerFaults(new Map(Object.entries(files))), []);
});

test("the checker finds circles, of types as well", () => {
  const value = new Map([
    ["agent/a.ts", 'import { b } from "./b.ts";'],
    ["agent/b.ts", 'import { a } from "./a.ts";'],
  ]);
  assert.deepEqual(cycles(value), ["agent/a.ts → agent/b.ts → agent/a.ts"]);
  const types = new Map([...value, ["agent/b.ts", 'import type { A } from "./a.ts";']]);
  assert.deepEqual(cycles(types), ["agent/a.ts → agent/b.ts → agent/a.ts"]);
});

test("the checker sees through quotes in code", () => {
  assert.deepEqual(importsOf("agent/a.ts", 'export const text = `from "./b.ts"`;\n// import "./c.ts"\n'), []);
});

test("the checker finds meaningless names", () => {
  assert.deepEqual(emptyNames(["hub/utils.ts", "hub/base64.ts", "hub/file-manager.ts", "common/x.ts"]), [
    "hub/utils.ts",
    "hub/file-manager.ts",
    "common/x.ts",
  ]);
});

/** All code of the project but this file, which quotes wrong imports. */
function readSources(): Sources {
  const paths = globSync("{proto,agent,hub,ui,deploy,test}/**/*.{ts,js}", {
    cwd: ROOT,
    exclude: [
      "test/architecture.test.ts",
      "ui/dist/**",
      "agent/lines/kernel/assembly/*.ts",
      "hub/engine/kernel/assembly/!(layout*).ts",
      "hub/engine/kernel/assembly/columnar/*.ts",
      "test/artefacts/**",
    ],
  });
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), "utf8")]));
}
