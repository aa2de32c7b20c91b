/** Checks the documents: commands run, links resolve, names exist. */

import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { buildSite, findPages } from "#deploy/docs/site.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, run, text } from "./tools.ts";

/** A fenced block of commands; above one that isn't run stands a comment that says why. */
const BLOCK =
  /^( *)(?:<!-- (not run by the tests.*: \S.*) -->\n *)?```(?:sh|bash|shell|console)\n([\s\S]*?)^ *```/gm;

interface Block {
  readonly file: string;
  /** "README.md:17" */
  readonly place: string;
  readonly commands: string;
  /** Why it isn't run here. */
  readonly excuse: string | undefined;
}

const workspace = new Workspace();
after(() => workspace.close());

/** Returns the fenced shell blocks of the project's documents. */
function shellBlocks(): Block[] {
  return findPages().flatMap(({ file, text: page }) =>
    [...page.matchAll(BLOCK)].map(({ index, 1: indent = "", 2: excuse, 3: commands = "" }) => ({
      file,
      place: `${file}:${page.slice(0, index).split("\n").length}`,
      commands: commands.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      excuse,
    })),
  );
}

/** What runs these for certain; making a machine ready once more would take minutes. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "bash deploy/setup.sh": ".ci/run",
  "bash deploy/setup.sh --with-browser": ".ci/run",
  "npm test": ".ci/run",
  "npm start": "test/e2e/start.test.ts",
};

describe("the commands of the documents", () => {
  for (const { file, place, commands, excuse } of shellBlocks()) {
    // Each page as a whole: test/e2e/tours.test.ts.
    if (file.startsWith("docs/tours/")) continue;
    const reason = excuse ?? provenElsewhere(commands);
    test(`${place} ${reason === false ? "runs" : "is not run here"}`, { skip: reason }, () => {
      const { status, said } = run("bash", ["-euo", "pipefail", "-c", commands], checkout());
      assert.equal(status, 0, `${commands}\n${said}`);
    });
  }
});

/** Returns which files run all of `commands`, or false. */
function provenElsewhere(commands: string): string | false {
  const each = commands.trim().split(" && ");
  const proofs = each.map((command) => {
    const proof = ELSEWHERE[command];
    return proof !== undefined && text(proof).includes(command) ? proof : undefined;
  });
  return proofs.includes(undefined) ? false : `${[...new Set(proofs)].join(" and ")} runs it`;
}

test("the site is built, and every link leads somewhere", () => {
  const out = workspace.path("site");
  assert.deepEqual(buildSite(out), []);
  const index = readFileSync(join(out, "index.html"), "utf8");
  assert.match(index, /<a href="docs\/backup\.html">/);
  assert.ok(existsSync(join(out, "docs/discover.png")));
  const { version } = JSON.parse(text("package.json")) as { version: string };
  assert.ok(index.includes(`<span>${version}</span>`), "the version");
  const grok = readFileSync(join(out, "docs/plugins/filter-grok.html"), "utf8");
  assert.match(grok, /Example[\s\S]*grok \{ match/);
  assert.ok(grok.includes('src="../../search.js"'));
  assert.match(readFileSync(join(out, "search.js"), "utf8"), /"title":"filter grok"/);
});

test("the newest version of the changelog is the project's", () => {
  const { version } = JSON.parse(text("package.json")) as { version: string };
  assert.equal(/^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/m.exec(text("CHANGELOG.md"))?.[1], version);
});

test("the runbook has every error code, and no other", () => {
  const catalogue = text("proto/kit/errors.ts");
  const codes = [...catalogue.matchAll(/^ {2}([a-z_]+): \{ status/gm)].map((match) => match[1]);
  const told = [...text("docs/runbook.md").matchAll(/^\| `([a-z_]+)` \|/gm)].map((match) => match[1]);
  assert.ok(codes.length > 30);
  assert.deepEqual(new Set(told), new Set(codes));
});

test("every metric of the alert rules and of the dashboard exists", () => {
  const sources = run("git", [
    "grep",
    "-h",
    "tailrace_",
    "--",
    "agent/**.ts",
    "hub/**.ts",
    "proto/**.ts",
  ]).stdout;
  const watch = ["hub", "agent"].map((part) => `tailrace_${part}_memory_limit_share`);
  for (const file of ["alerts.yml", "grafana-dashboard.json"]) {
    const names = new Set(text(`deploy/monitoring/${file}`).match(/tailrace_[a-z_]+/g));
    assert.ok(names.size > 8);
    for (const name of names)
      assert.ok(sources.includes(`"${name}"`) || watch.includes(name), `${file}: ${name}`);
  }
});

/** A folder in which the commands find the project and leave nothing behind in it. */
function checkout(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const cwd = join(workspace.folder, "checkout");
  if (!existsSync(cwd)) {
    mkdirSync(cwd);
    for (const name of ["agent", "hub", "proto", "deploy", "ui", "node_modules"])
      symlinkSync(join(ROOT, name), join(cwd, name));
    copyFileSync(join(ROOT, "package.json"), join(cwd, "package.json"));
    writeFileSync(join(cwd, "agent.yml"), "shipper.inputs: []\n");
    mkdirSync(join(cwd, "data/hub/engine"), { recursive: true });
  }
  const path = [join(ROOT, "agent/bin"), join(ROOT, "hub/bin"), process.env["PATH"] ?? ""].join(":");
  return { cwd, env: { ...process.env, PATH: path, HOME: workspace.folder } };
}
