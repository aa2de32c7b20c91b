/**
 * Which packages of npm a part needs at run time, and what has to go with them: the notices, and a bill of materials,
 * CycloneDX 1.6 as JSON, which is the same bytes for the same sources.
 */

import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { type Part, ROOT } from "./project.ts";

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** package-lock.json's `packages`: "node_modules/pino" → what it needs. */
export type Lock = Readonly<Record<string, LockedPackage>>;

/** Node is downloaded separately. */
const RUNTIME = /^node_modules\/node-linux-/;

/**
 * Returns the folders ("node_modules/pino") of `names` and of all they need, sorted. A nested package is found as Node
 * finds it, from the one that needs it upwards. Optional ones that aren't installed are left out.
 */
export function reachable(names: readonly string[], lock: Lock): string[] {
  const found = new Set<string>();
  const open = names.map((name) => resolvePackage(name, "", lock) ?? fail(name));
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (found.has(folder) || RUNTIME.test(folder)) continue;
    found.add(folder);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[folder]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = resolvePackage(name, folder, lock);
      if (next !== undefined && existsSync(join(ROOT, next))) open.push(next);
      else if (name in dependencies && !(name in optionalDependencies)) fail(name);
    }
  }
  return [...found].sort();
}

/** Returns the project's lockfile. */
export function readLock(): Lock {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Lock;
  };
  return packages;
}

/** Returns the folders of the packages that went into a bundle, sorted. */
export function bundledPackages(metafile: Metafile): string[] {
  const folders = Object.keys(metafile.inputs).flatMap((path) => {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return match === null ? [] : [match[1]!];
  });
  return [...new Set(folders)].sort();
}

/** Returns the licence texts of `folders` as one text. Throws where a package has no licence at all. */
export function thirdPartyNotices(folders: readonly string[]): string {
  const notices = folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as {
      name: string;
      version: string;
      license?: string;
    };
    const files = readdirSync(join(ROOT, folder)).filter((file) =>
      /^(licen[cs]e|copying|notice)/i.test(file),
    );
    const texts = files.sort().map((file) => readFileSync(join(ROOT, folder, file), "utf8").trim());
    if (manifest.license === undefined && texts.length === 0) throw new Error(`${folder} has no licence`);
    return [`${manifest.name} ${manifest.version} (${manifest.license ?? "see below"})`, ...texts].join(
      "\n\n",
    );
  });
  return `${notices.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** Returns the files of `folder` (in the project) that run or are read at run time. */
export function runtimeFiles(folder: string): string[] {
  const dropped =
    /\.([cm]?ts|map|md|markdown|flow|tsbuildinfo)$|(^|\/)(test|tests|docs|examples?|benchmarks?|\.github)\//i;
  const kept = /(^|\/)(licen[cs]e|notice|copying)[^/]*$/i;
  return globSync("**/*", {
    cwd: join(ROOT, folder),
    withFileTypes: true,
    exclude: (entry) => entry.name === "node_modules",
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, folder).length + 1))
    .filter((path) => kept.test(path) || !dropped.test(path))
    .sort();
}

function resolvePackage(name: string, from: string, lock: Lock): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    const folder = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (folder in lock) return folder;
    if (at === "") return undefined;
  }
}

function fail(name: string): never {
  throw new Error(
    `package ${name} is needed, but package-lock.json has none of that name, or it isn't installed`,
  );
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Returns the bill of `part`, which holds the packages in `folders` ("node_modules/pino") and a Node. */
export function billOfMaterials(
  part: Part,
  version: string,
  folders: readonly string[],
  nodeVersion: string,
): string {
  const packages = folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as Manifest;
    return component(
      "library",
      manifest,
      `pkg:npm/${manifest.name.replace(/^@/, "%40")}@${manifest.version}`,
    );
  });
  const node = { name: "node", version: nodeVersion, license: "MIT" };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: component("application", { name: `tailrace-${part}`, version, license: "Apache-2.0" }),
    },
    components: [component("platform", node, `pkg:generic/node@${nodeVersion}`), ...packages],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Licences are expressions of SPDX, as npm has them. */
function component(type: string, { name, version, license }: Manifest, purl?: string): object {
  return {
    type,
    name,
    version,
    ...(purl !== undefined && { purl, "bom-ref": purl }),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
  };
}
