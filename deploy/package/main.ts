/**
 * `npm run package [-- COMMAND …]`: makes the packages for other machines: Debian packages with their own Node, the agent as
 * a single file, and the tree for images and `deploy/systemd/install.sh`.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { MIB } from "#proto/kit/units.ts";
import { bundleAgent } from "./agent-bundle.ts";
import { buildDebianPackage } from "./debian.ts";
import { bundledPackages, thirdPartyNotices } from "./packages.ts";
import { PARTS, type Part, projectVersion, sourceEpoch } from "./project.ts";
import { stage } from "./tree.ts";

const HELP = `Usage: npm run package [-- [deb] [agent|hub]]   Debian packages of both parts, or of one
       npm run package -- single               the agent as one file for other Linuxes (needs Node 24 there)
       npm run package -- stage agent|hub      the tree of a part, for images

Options
  --out DIR             where it goes (default: dist)
  --arch x64|arm64      processor (default: this machine's)
  --node FILE           Node to bring along (default: that of the packages)
  --compression xz|none of Debian packages (default: xz)

The same commit gives the same bytes; SOURCE_DATE_EPOCH sets the time of all files.
`;

const WRONG_USAGE = 2;
const OPTIONS = {
  out: { type: "string", default: "dist" },
  arch: { type: "string", default: process.arch as string },
  node: { type: "string" },
  compression: { type: "string", default: "xz" },
  help: { type: "boolean", short: "h" },
} as const;

type Options = ReturnType<typeof parse>["values"];

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  if (values.help === true) return void process.stdout.write(HELP);
  const [first = "deb", ...rest] = positionals;
  const command = isPart(first) ? "deb" : first;
  const parts = isPart(first) ? [first, ...rest] : rest;
  const wrong = parts.find((part) => !isPart(part));
  if (wrong !== undefined) usage(`there is no part ${wrong}; there are ${PARTS.join(" and ")}`);
  if (command === "deb") await debs(parts.length === 0 ? PARTS : parts.filter(isPart), values);
  else if (command === "single" && parts.length === 0) await single(values);
  else if (command === "stage" && parts.length === 1) await stageInto(parts[0] as Part, values);
  else usage(`"${[first, ...rest].join(" ")}" isn't a command`);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  } catch (error) {
    return usage((error as Error).message);
  }
}

async function debs(parts: readonly Part[], { out, arch, node, compression }: Options): Promise<void> {
  if (compression !== "xz" && compression !== "none") usage("--compression is xz or none");
  for (const part of parts) {
    const folder = mkdtempSync(join(tmpdir(), "tailrace-package-"));
    const tree = join(folder, "tree");
    try {
      mkdirSync(tree, { mode: 0o755 });
      await stage({ part, out: tree, arch, ...(node === undefined ? {} : { node }) });
      const version = projectVersion();
      const epochS = sourceEpoch(process.env);
      say(buildDebianPackage({ part, tree, out: resolve(out), version, arch, epochS, compression }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** Notices go into the file, as it travels alone. */
async function single({ out }: Options): Promise<void> {
  const name = `tailrace-agent-${projectVersion()}.mjs`;
  const folder = mkdtempSync(join(tmpdir(), "tailrace-package-"));
  try {
    const outfile = join(folder, name);
    const packages = bundledPackages(await bundleAgent({ outfile, native: "embedded" }));
    const notices = thirdPartyNotices(packages).replaceAll("*/", "* /");
    const banner =
      "#!/usr/bin/env -S node --disable-proto=delete --max-old-space-size=48 --max-semi-space-size=2 --no-maglev --max-inlined-bytecode-size-cumulative=200\n";
    await bundleAgent({ outfile, native: "embedded", banner, footer: `/*\n${notices}*/` });
    chmodSync(outfile, 0o755);
    mkdirSync(out, { recursive: true });
    cpSync(outfile, join(out, name));
    say(join(resolve(out), name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function stageInto(part: Part, { out, arch, node }: Options): Promise<void> {
  if (existsSync(out) && readdirSync(out).length > 0) usage(`--out ${out} isn't empty`);
  await stage({ part, out: resolve(out), arch, ...(node === undefined ? {} : { node }) });
}

function isPart(text: string): text is Part {
  return (PARTS as readonly string[]).includes(text);
}

function say(path: string): void {
  const size = (statSync(path).size / MIB).toFixed(1);
  process.stdout.write(`package: ${relative(process.cwd(), path)} (${size} MiB)\n`);
}

function usage(problem: string): never {
  process.stderr.write(`package: ${problem}\n\n${HELP}`);
  process.exit(WRONG_USAGE);
}

ignoreClosedOutput();
process.umask(0o022); // what is installed is read by others, whoever packages it
try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`package: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
