/**
 * Lays a part out as it is installed on a machine: program, Node, launcher, unit, user, settings, licences. The Debian package,
 * the container image and `deploy/systemd/install.sh` are all made of this tree.
 */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { addonFile, bundleAgent } from "./agent-bundle.ts";
import { bundleHub, HUB_BUNDLE, UNBUNDLED } from "./hub-bundle.ts";
import { ADDON_FILE } from "./native-addon.ts";
import {
  billOfMaterials,
  bundledPackages,
  reachable,
  readLock,
  runtimeFiles,
  thirdPartyNotices,
} from "./packages.ts";
import { installedPlaces, nodeFolder, nodeVersion, type Part, projectVersion, ROOT } from "./project.ts";

/** What a part does, for its manual page. */
const PURPOSES: Readonly<Record<Part, string>> = {
  agent: "ships the log lines of a machine to a Tailrace hub",
  hub: "processes, indexes and serves logs",
};

export interface TreeOptions {
  readonly part: Part;
  /** Folder that becomes the machine's root; it must be empty or not there. */
  readonly out: string;
  /** Processor in Node's words: x64 or arm64. */
  readonly arch: string;
  /** The Node to include; by default that of the packages for `arch`. */
  readonly node?: string;
}

const PROGRAM_MODE = 0o755;
const FILE_MODE = 0o644;
/** What the hub reads at run time besides its bundle. */
const HUB_FILES = ["hub/engine/kernel/kernel.wasm", "hub/engine/analysis/*/*.txt", "ui/dist/**/*"];

/** Writes the tree. Throws where something of it is missing, saying what to run. */
export async function stage(options: TreeOptions): Promise<void> {
  const { part } = options;
  const library = `usr/lib/tailrace-${part}`;
  const packages = part === "agent" ? await stageAgent(options, library) : await stageHub(options, library);
  stageNode(options, library);
  stageSystem(options, packages);
}

/** The agent is one bundle: it starts in a third of the memory that loading its packages takes. */
async function stageAgent({ out, arch }: TreeOptions, library: string): Promise<string[]> {
  const outfile = join(out, library, "agent/main.mjs");
  const metafile = await bundleAgent({ outfile, native: "beside" });
  put(out, `${library}/agent/${ADDON_FILE}`, readFileSync(addonFile(arch)));
  launcher(out, library, "agent", "main.mjs");
  return bundledPackages(metafile);
}

/** The hub is a bundle with an entry for each of its threads, beside the packages that can't be part of one. */
async function stageHub({ out, arch }: TreeOptions, library: string): Promise<string[]> {
  if (!existsSync(join(ROOT, "ui/dist/index.html")))
    throw new Error("the dashboard isn't built; run npm run build first");
  const metafile = await bundleHub(join(out, library, HUB_BUNDLE));
  for (const path of globSync(HUB_FILES, { cwd: ROOT }))
    put(out, `${library}/${path}`, readFileSync(join(ROOT, path)));
  put(out, `${library}/package.json`, readFileSync(join(ROOT, "package.json")));
  launcher(out, library, "hub", "dist/main.mjs");
  const packages = reachable(UNBUNDLED, readLock());
  for (const folder of packages) {
    for (const file of runtimeFiles(folder)) {
      if (isOfOtherPlatform(file, arch)) continue;
      put(out, `${library}/${folder}/${file}`, readFileSync(join(ROOT, folder, file)));
    }
  }
  return [...new Set([...packages, ...bundledPackages(metafile)])].sort();
}

/** Packages with native parts include them for every platform. */
function isOfOtherPlatform(file: string, arch: string): boolean {
  const platform = /^prebuilds\/([^/]+)\//.exec(file)?.[1];
  return platform !== undefined && platform !== `linux-${arch}`;
}

function launcher(out: string, library: string, part: Part, main: string): void {
  const text = readFileSync(join(ROOT, part, "bin", `tailrace-${part}`), "utf8");
  if (!text.includes("main.ts")) throw new Error(`${part}/bin/tailrace-${part} starts no main.ts`);
  const started = text.lastIndexOf("\nexec ") + 1;
  const installed = text.slice(0, started) + placesOf(part) + text.slice(started);
  put(out, `${library}/${part}/bin/tailrace-${part}`, installed.replaceAll("main.ts", main), PROGRAM_MODE);
  mkdirSync(join(out, "usr/bin"), { recursive: true });
  symlinkSync(`../lib/tailrace-${part}/${part}/bin/tailrace-${part}`, join(out, `usr/bin/tailrace-${part}`));
}

/** Commands without options use the service's settings and data. */
function placesOf(part: Part): string {
  const { config, data } = installedPlaces(part);
  const names = [`TAILRACE_${part.toUpperCase()}_CONFIG`, `TAILRACE_${part.toUpperCase()}_DATA`];
  const [first = "", second = ""] = names;
  return `: "\${${first}=${config}}" "\${${second}=${data}}"\nexport ${first} ${second}\n`;
}

function stageNode({ out, arch, node }: TreeOptions, library: string): void {
  const source = node ?? join(nodeFolder(arch), "bin/node");
  if (!existsSync(source)) {
    throw new Error(
      `${source} is missing; install it with npm ci --cpu=${arch}, or name another Node with --node FILE`,
    );
  }
  const target = join(out, library, `node_modules/node-linux-${arch}/bin/node`);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, PROGRAM_MODE);
}

function stageSystem({ part, out, arch }: TreeOptions, packages: readonly string[]): void {
  const name = `tailrace-${part}`;
  const from = (path: string) => readFileSync(join(ROOT, "deploy", path));
  put(out, `usr/lib/systemd/system/${name}.service`, from(`systemd/${name}.service`));
  put(out, `usr/lib/sysusers.d/${name}.conf`, from(`systemd/${name}.sysusers`));
  put(out, `usr/lib/tmpfiles.d/${name}.conf`, from(`systemd/${name}.tmpfiles`));
  put(out, `etc/tailrace/${part}.yml`, from(`examples/${part}.yml`));
  if (part === "hub") {
    put(out, "usr/lib/sysctl.d/60-tailrace-hub.conf", from("systemd/tailrace-hub.sysctl"));
    mkdirSync(join(out, "etc/tailrace/pipelines"), { recursive: true });
  } else put(out, `usr/share/doc/${name}/examples/logrotate`, from("systemd/logrotate.example"));
  put(out, `usr/share/doc/${name}/copyright`, copyright());
  put(out, `usr/share/doc/${name}/third-party-notices`, thirdPartyNotices(packages));
  put(
    out,
    `usr/share/doc/${name}/bom.cdx.json`,
    billOfMaterials(part, projectVersion(), packages, nodeVersion(arch)),
  );
  put(out, `usr/share/man/man8/${name}.8.gz`, manualPage(part, projectVersion()));
  const nodeLicence = join(nodeFolder(arch), "LICENSE");
  if (existsSync(nodeLicence)) put(out, `usr/share/doc/${name}/node-licence`, readFileSync(nodeLicence));
}

/** Debian's machine-readable form (copyright-format/1.0). */
function copyright(): string {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tailrace

Files: *
Copyright: the Tailrace authors
License: Apache-2.0
 On Debian systems the text of this licence is in /usr/share/common-licenses/Apache-2.0.
Comment: third-party-notices and node-licence hold the licences of what is brought along.
`;
}

function put(out: string, path: string, content: string | Uint8Array, mode = FILE_MODE): void {
  const target = join(out, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
  chmodSync(target, mode);
}

/** Returns the manual page (man-pages(7)) of a part from its `--help`, section 8, gzipped as dpkg wants it. Throws where the program prints nothing. */
function manualPage(part: Part, version: string): Uint8Array {
  const { config, data } = installedPlaces(part);
  const { stdout, status, stderr } = spawnSync(process.execPath, [join(ROOT, part, "main.ts"), "--help"], {
    cwd: ROOT,
    encoding: "utf8",
    env: {
      ...process.env,
      [`TAILRACE_${part.toUpperCase()}_CONFIG`]: config,
      [`TAILRACE_${part.toUpperCase()}_DATA`]: data,
    },
  });
  if (status !== 0 || stdout === "") throw new Error(`tailrace-${part} --help failed: ${stderr}`);
  return gzipSync(manualText(part, version, stdout), { level: 9 });
}

/** Returns the page's source in roff. */
function manualText(part: Part, version: string, help: string): string {
  const name = `tailrace-${part}`;
  const { config, data } = installedPlaces(part);
  return [
    `.TH ${name.toUpperCase()} 8 "" "Tailrace ${version}" "System administration"`,
    ".SH NAME",
    `${name} \\- ${PURPOSES[part]}`,
    ".SH DESCRIPTION",
    ".nf",
    ...help.trimEnd().split("\n").map(literal),
    ".fi",
    ".SH FILES",
    ".TP",
    `.I ${config}`,
    "settings",
    ".TP",
    `.I ${data}`,
    "state",
    ".SH SEE ALSO",
    `.BR tailrace-${part === "hub" ? "agent" : "hub"} (8)`,
    "",
  ].join("\n");
}

/** A line at whose start roff would see a request, and backslashes and minus signs, which mean something else in roff. */
function literal(line: string): string {
  return line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}
