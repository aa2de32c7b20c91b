import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");

/** What `npm run lint` must find by types, by the rules of tsconfig.json: [what is wrong, code, its number or rule]. */
const PLANTED: [fault: string, code: string, found: RegExp][] = [
  ["a value of another type", 'export const size: number = "large";', /TS2322/],
  ["an element that may be missing", "export const first = (all: string[]): string => all[0];", /TS2322/],
  [
    "an undefined for what may only be left out",
    "export const at: { port?: number } = { port: undefined };",
    /TS2375/,
  ],
  [
    "a name that nobody uses",
    "export function twice(count: number, _by: number): number { const two = 2; return count + count; }",
    /TS6133/,
  ],
  ["what Node doesn't strip", "export enum Level { Low }", /TS1294/],
  [
    "a promise that nobody awaits",
    "export function begin(): void { Promise.resolve(1); }",
    /no-floating-promises/,
  ],
];

test("lint checks types: each planted fault is found, and correct code has none", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-types-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const project = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { types: [] },
    files: [],
    include: ["*.ts"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "sound.ts"), "export const size: number = 1;\n");
  for (const [place, [, code]] of PLANTED.entries()) writeFileSync(join(folder, `${place}.ts`), `${code}\n`);
  const { stdout, status } = spawnSync(
    join(ROOT, "node_modules/.bin/oxlint"),
    [
      "-c",
      join(ROOT, ".oxlintrc.json"),
      "--type-aware",
      "--type-check",
      "--deny-warnings",
      "-f",
      "unix",
      ".",
    ],
    { cwd: folder, encoding: "utf8" },
  );
  assert.equal(status, 1, stdout);
  for (const [place, [fault, , found]] of PLANTED.entries()) {
    const said = stdout.split("\n").filter((line) => line.startsWith(`${place}.ts:`));
    assert.ok(
      said.some((line) => found.test(line)),
      `${fault}: ${said.join("; ")}`,
    );
  }
  assert.doesNotMatch(stdout, /sound\.ts/);
});
