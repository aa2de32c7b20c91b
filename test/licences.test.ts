import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");

/** Licences that let us ship a package under Apache-2.0 with nothing but a notice. */
const SHIPPED = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "0BSD",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "CC-BY-3.0",
  "CC-BY-4.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Others for tools that never leave a developer's machine. */
const DEVELOPMENT = new Set([...SHIPPED, "MPL-2.0"]);

/** Packages whose package.json has no licence or an unclear one; each was looked up in its own text. */
const LOOKED_UP: Readonly<Record<string, string>> = {};

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
}

const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

test("every package of the lockfile has a compatible licence", () => {
  const faults: string[] = [];
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (path === "" || locked.link === true) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const licence = LOOKED_UP[name] ?? locked.license ?? installedLicence(path) ?? "none named";
    if (!fits(licence, locked.dev === true ? DEVELOPMENT : SHIPPED)) faults.push(`${name}: ${licence}`);
  }
  assert.deepEqual(faults, []);
});

test("the check refuses copyleft licences", () => {
  for (const licence of [
    "GPL-3.0",
    "AGPL-3.0-only",
    "LGPL-2.1-or-later",
    "(MIT AND GPL-2.0)",
    "none named",
  ]) {
    assert.equal(fits(licence, DEVELOPMENT), false, licence);
  }
  assert.equal(fits("MPL-2.0", SHIPPED), false);
  assert.equal(fits("(MIT OR GPL-3.0)", SHIPPED), true);
  assert.equal(fits("(MIT AND BSD-3-Clause)", SHIPPED), true);
});

/** Returns true where `licence` (an SPDX expression without nesting) can be met with `allowed`. */
function fits(licence: string, allowed: ReadonlySet<string>): boolean {
  const alternatives = licence.replace(/[()]/g, "").split(/\s+OR\s+/i);
  return alternatives.some((each) => each.split(/\s+AND\s+/i).every((part) => allowed.has(part.trim())));
}

/** Older packages write `licenses: [{type}]`, which the lockfile leaves out. */
function installedLicence(path: string): string | undefined {
  try {
    const text = readFileSync(join(ROOT, path, "package.json"), "utf8");
    const { license, licenses } = JSON.parse(text) as { license?: unknown; licenses?: { type?: string }[] };
    if (typeof license === "string") return license;
    return licenses?.map((each) => each.type).join(" OR ");
  } catch {
    return undefined;
  }
}
