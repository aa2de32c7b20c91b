import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const ROOT = resolve(import.meta.dirname, "..");

type Versions = Readonly<Record<string, string>>;

interface Locked {
  readonly version: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const manifest = read("package.json") as Readonly<
  Record<"dependencies" | "devDependencies" | "optionalDependencies", Versions>
>;
const lock = read("package-lock.json") as { readonly packages: Readonly<Record<string, Locked>> };
const direct = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };

/** Several versions of one package stand beside each other under names of ours: `npm:@scope/name@1.2.3`. */
const ALIAS = /^npm:@?[\w./-]+@/;

test("every dependency is pinned to one version, and the lockfile holds it", () => {
  for (const [name, wanted] of Object.entries(direct)) {
    const version = wanted.replace(ALIAS, "");
    assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
    assert.equal(lock.packages[`node_modules/${name}`]?.version, version, name);
  }
});

test("every locked package carries a hash", () => {
  const without = Object.entries(lock.packages).filter(
    ([path, { integrity }]) => path !== "" && integrity === undefined,
  );
  assert.deepEqual(without, []);
});

// npm leaves an optional package out without a word when its `engines` refuse the Node that npm runs on.
test("the packages made for this platform are installed", () => {
  const missing = Object.entries(lock.packages)
    .filter(([, locked]) => fitsHere(locked))
    .map(([path]) => path)
    .filter((path) => !existsSync(join(ROOT, path)));
  assert.deepEqual(missing, []);
});

test("the Node that the packages bring is the one that runs", {
  skip: process.platform !== "linux" && "the packages bring a Node for Linux",
}, () => {
  const version = manifest.optionalDependencies[`node-linux-${process.arch}`];
  assert.equal(process.versions.node, version);
});

/** True for a package that is for certain platforms only, this one among them. */
function fitsHere({ os, cpu, libc }: Locked): boolean {
  if (os === undefined || cpu === undefined) return false;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const ourLibc = report.header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
  return os.includes(process.platform) && cpu.includes(process.arch) && (libc?.includes(ourLibc) ?? true);
}

function read(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, name), "utf8"));
}
