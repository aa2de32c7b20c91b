/** Makes a Debian package of a tree, with Debian's own tools. The same tree and time give the same bytes. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, globSync, lstatSync, lutimesSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEBIAN_ARCHITECTURES, type Part } from "./project.ts";

export interface DebianOptions {
  readonly part: Part;
  readonly tree: string;
  /** Folder for the package. */
  readonly out: string;
  readonly version: string;
  readonly arch: string;
  /** Time of all files, seconds. */
  readonly epochS: number;
  /** xz for a release; none is quick, for tests. */
  readonly compression: "xz" | "none";
}

interface Description {
  readonly summary: string;
  readonly text: string;
  readonly depends: string;
  readonly recommends: string;
}

/** Packages that the included Node is linked with, and that the scripts call. */
const DEPENDS =
  "libc6 (>= 2.28), libstdc++6 (>= 9), libgcc-s1, systemd | systemd-standalone-sysusers, ca-certificates";

const DESCRIPTIONS: Readonly<Record<Part, Description>> = {
  agent: {
    summary: "ships the log lines of this machine to a Tailrace hub, none lost",
    text: "The agent reads log files, keeps its place in each of them over restarts and\n rotations, and delivers every line at least once.",
    depends: DEPENDS,
    recommends: "logrotate",
  },
  hub: {
    summary: "processes, indexes, searches and shows logs",
    text: "The hub takes what agents deliver, turns lines into fields, indexes them and\n serves the search interface and the dashboard.",
    depends: `${DEPENDS}, procps`,
    recommends: "nats-server (>= 2.9.10)",
  },
};

const SCRIPTS = ["postinst", "prerm", "postrm"];

/** Writes `tailrace-<part>_<version>_<arch>.deb`; returns its path. Throws with the output of dpkg-deb. */
export function buildDebianPackage(options: DebianOptions): string {
  const { part, tree, out, version, arch, epochS, compression } = options;
  const architecture = DEBIAN_ARCHITECTURES[arch];
  if (architecture === undefined) throw new Error(`there is no Debian package for ${arch}`);
  writeControl(options, architecture);
  setTimes(tree, epochS);
  mkdirSync(out, { recursive: true });
  const path = join(out, `tailrace-${part}_${version}_${architecture}.deb`);
  const { status, stderr, error } = spawnSync(
    "dpkg-deb",
    ["--root-owner-group", `-Z${compression}`, "--build", tree, path],
    { encoding: "utf8", env: { ...process.env, SOURCE_DATE_EPOCH: String(epochS) } },
  );
  if (error !== undefined)
    throw new Error(`dpkg-deb can't be run (${error.message}); install the package dpkg`);
  if (status !== 0) throw new Error(`dpkg-deb failed: ${stderr.trim()}`);
  return path;
}

function writeControl({ part, tree, version }: DebianOptions, architecture: string): void {
  const folder = join(tree, "DEBIAN");
  const files = filesOf(tree).filter((path) => !path.startsWith("DEBIAN/"));
  mkdirSync(folder, { recursive: true });
  const { summary, text, depends, recommends } = DESCRIPTIONS[part];
  const sizeBytes = files.reduce((sum, path) => sum + lstatSync(join(tree, path)).size, 0);
  const control = [
    `Package: tailrace-${part}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: The Tailrace authors <maintainers@tailrace.invalid>",
    "Section: admin",
    "Priority: optional",
    `Installed-Size: ${Math.ceil(sizeBytes / 1_024)}`,
    `Depends: ${depends}`,
    `Recommends: ${recommends}`,
    `Description: ${summary}`,
    ` ${text}`,
  ];
  writeFileSync(join(folder, "control"), `${control.join("\n")}\n`);
  const settings = files.filter((path) => path.startsWith("etc/")).map((path) => `/${path}\n`);
  writeFileSync(join(folder, "conffiles"), settings.join(""));
  writeFileSync(join(folder, "md5sums"), files.map((path) => checksumLine(tree, path)).join(""));
  for (const script of SCRIPTS) {
    const template = readFileSync(join(import.meta.dirname, "debian", script), "utf8");
    const target = join(folder, script);
    writeFileSync(target, template.replaceAll("@part@", part));
    chmodSync(target, 0o755);
  }
}

/** dpkg --verify compares with these; links have none. */
function checksumLine(tree: string, path: string): string {
  if (lstatSync(join(tree, path)).isSymbolicLink()) return "";
  return `${createHash("md5")
    .update(readFileSync(join(tree, path)))
    .digest("hex")}  ${path}\n`;
}

function setTimes(tree: string, epochS: number): void {
  for (const path of globSync("**/*", { cwd: tree })) lutimesSync(join(tree, path), epochS, epochS);
  for (const path of [join(tree, "DEBIAN"), tree]) lutimesSync(path, epochS, epochS);
}

function filesOf(tree: string): string[] {
  return globSync("**/*", { cwd: tree })
    .filter((path) => !lstatSync(join(tree, path)).isDirectory())
    .sort();
}
