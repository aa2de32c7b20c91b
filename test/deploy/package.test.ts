import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { reachable, thirdPartyNotices } from "#deploy/package/packages.ts";
import { MIB } from "#proto/kit/units.ts";
import { Child } from "#test/harness/child.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { ROOT, run, text, without } from "./tools.ts";

const { version } = JSON.parse(text("package.json")) as { version: string };
/** The whole agent and its native parts for three platforms; what is beyond came in by mistake. */
const SINGLE_FILE_MAX_BYTES = 2.5 * 1_024 ** 2;
const workspace = new Workspace();
/** Stands for Node in packages that tests make: the real one takes a second to copy. */
const node = workspace.path("node");

before(() => {
  writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
});

after(() => workspace.close());

const skip = without("dpkg-deb");

for (const part of ["agent", "hub"] as const) {
  const name = `tailrace-${part}`;

  describe(`the Debian package of the ${part}`, { skip }, () => {
    let deb = "";
    const tree = join(workspace.folder, part);

    before(() => {
      deb = makeDeb(part, workspace.path("debs", "x"));
      const { status, said } = run("dpkg-deb", ["-x", deb, tree]);
      assert.equal(status, 0, said);
    });

    test("has its name, dependencies and configuration files", () => {
      const field = (key: string) => run("dpkg-deb", ["-f", deb, key]).stdout.trim();
      assert.deepEqual([field("Package"), field("Version")], [name, version]);
      assert.match(field("Depends"), /libstdc\+\+6/);
      assert.equal(run("dpkg-deb", ["-I", deb, "conffiles"]).stdout, `/etc/tailrace/${part}.yml\n`);
      const listed = run("dpkg-deb", ["-c", deb]).stdout;
      for (const path of [
        `/usr/bin/${name}`,
        `/usr/lib/systemd/system/${name}.service`,
        `/usr/lib/sysusers.d/${name}.conf`,
        `/usr/share/doc/${name}/copyright`,
        `/usr/share/doc/${name}/third-party-notices`,
        `/usr/share/man/man8/${name}.8.gz`,
        `/node_modules/node-linux-${process.arch}/bin/node`,
      ]) {
        assert.ok(listed.includes(path), path);
      }
      assert.doesNotMatch(listed, /\.test\.ts|\/binaryen\/|\/typescript\//);
      assert.doesNotMatch(listed, /^.{10} (?!root\/root)/m, "everything is root's");
    });

    test("brings a manual page and a bill of all it holds", () => {
      const manual = run("gzip", ["-dc", join(tree, `usr/share/man/man8/${name}.8.gz`)]).stdout;
      assert.match(manual, new RegExp(`^\\.TH ${name.toUpperCase()} 8[\\s\\S]*path\\.data`));
      const bill = JSON.parse(readFileSync(join(tree, `usr/share/doc/${name}/bom.cdx.json`), "utf8")) as {
        readonly components: readonly { readonly name: string; readonly licenses?: unknown }[];
      };
      const notices = readFileSync(join(tree, `usr/share/doc/${name}/third-party-notices`), "utf8");
      assert.ok(bill.components.some((each) => each.name === "pino"));
      for (const each of bill.components.slice(1)) {
        assert.ok(notices.includes(`${each.name} `), each.name);
        assert.ok(each.licenses !== undefined, each.name);
      }
    });

    test("runs from anywhere, with what it brings", () => {
      const program = join(tree, "usr/bin", name);
      const { status, said } = run(program, ["--version"], { cwd: "/", env: environment() });
      assert.equal(status, 0, said);
      assert.ok(said.startsWith(`${name} ${version}`), said);
    });

    test("uses the settings and data of its service by default", () => {
      const program = join(tree, "usr/bin", name);
      const help = run(program, ["--help"], { cwd: "/", env: environment() }).said;
      assert.ok(help.includes(`/etc/tailrace/${part}.yml`) && help.includes(`/var/lib/${name})`), help);
      const chosen = { ...environment(), [`TAILRACE_${part.toUpperCase()}_DATA`]: "/srv/own" };
      assert.match(run(program, ["--help"], { cwd: "/", env: chosen }).said, /default: \/srv\/own\)/);
    });
  });
}

test("the same sources give the same bytes", { skip }, () => {
  const [first, second] = ["once", "again"].map((folder) =>
    hash(makeDeb("agent", workspace.path(folder, "x"))),
  );
  assert.equal(first, second);
});

test("the packaged agent takes its settings and opens its registry", { skip }, () => {
  const program = join(workspace.folder, "agent/usr/bin/tailrace-agent");
  const settings = ["-c", join(workspace.folder, "agent/etc/tailrace/agent.yml")];
  const tested = run(program, ["test", "config", ...settings], { env: environment() });
  assert.equal(tested.status, 0, tested.said);
  openRegistry(program, settings);
});

test("the packaged hub starts, prints its address, and stops", {
  skip: skip || without("nats-server"),
}, async () => {
  const hub = new Child({
    name: "hub",
    command: join(workspace.folder, "hub/usr/bin/tailrace-hub"),
    args: [
      "--ready-json",
      "--path.data",
      join(workspace.folder, "hub-data"),
      ...["http", "dashboard", "transport", "nats"].flatMap((each) => ["-E", `${each}.port=0`]),
    ],
    logFile: workspace.path("hub.log"),
    env: environment(),
  });
  workspace.defer(() => hub.end("SIGKILL"));
  assert.match(String((await hub.ready())["http"]), /^http:\/\/127\.0\.0\.1:\d+/);
  assert.equal(await hub.end("SIGTERM"), 0);
});

describe("installed by dpkg", { skip: skip || without("systemd-sysusers") }, () => {
  const root = join(workspace.folder, "root");
  const state = join(root, "var/lib/tailrace-agent/state");
  const settings = join(root, "etc/tailrace/agent.yml");

  test("the agent gets its user and its folder", () => {
    for (const folder of ["var/lib/dpkg/info", "var/lib/dpkg/updates", "etc"])
      mkdirSync(join(root, folder), { recursive: true });
    for (const file of ["status", "available"]) writeFileSync(join(root, "var/lib/dpkg", file), "");
    dpkg("--install", makeDeb("agent", workspace.path("first", "x")));
    assert.match(readFileSync(join(root, "etc/passwd"), "utf8"), /^tailrace-agent:/m);
    assert.ok(existsSync(settings));
  });

  test("an upgrade keeps state and settings", () => {
    mkdirSync(join(root, "var/lib/tailrace-agent"), { recursive: true });
    writeFileSync(state, "registry");
    writeFileSync(settings, "name: mine\n");
    dpkg("--install", makeDeb("agent", workspace.path("second", "x")));
    assert.equal(readFileSync(state, "utf8"), "registry");
    assert.equal(readFileSync(settings, "utf8"), "name: mine\n");
  });

  test("removal keeps them too, purge takes them away", () => {
    dpkg("--remove", "tailrace-agent");
    assert.deepEqual([existsSync(state), existsSync(settings)], [true, true]);
    assert.ok(!existsSync(join(root, "usr/bin/tailrace-agent")));
    dpkg("--purge", "tailrace-agent");
    assert.deepEqual([existsSync(state), existsSync(settings)], [false, false]);
  });

  /** A root of its own; the scripts see it as DPKG_ROOT. */
  function dpkg(...args: string[]): void {
    const options = [`--root=${root}`, "--force-script-chrootless", "--force-depends", "--force-confold"];
    const asUser = process.getuid?.() === 0 ? [] : ["--force-not-root"];
    const { status, said } = run("dpkg", [...options, ...asUser, ...args]);
    assert.equal(status, 0, said);
  }
});

describe("the agent as a single file", () => {
  const single = join(workspace.folder, "single", `tailrace-agent-${version}.mjs`);

  before(() => {
    packager("single", "--out", join(workspace.folder, "single"));
  });

  test("is small and carries the licences of its contents", (t) => {
    const { size } = statSync(single);
    t.diagnostic(`${basename(single)}: ${(size / MIB).toFixed(2)} MiB`);
    assert.ok(size < SINGLE_FILE_MAX_BYTES, `${size} bytes`);
    const code = readFileSync(single, "utf8");
    assert.match(code, /classic-level \d+\.\d+\.\d+ \(MIT\)/);
    assert.match(code, /^#!\/usr\/bin\/env -S node/);
    assert.ok(!code.includes(ROOT), "no path of the machine it was made on");
  });

  test("runs where there is nothing else", () => {
    const settings = join(ROOT, "deploy/examples/agent.yml");
    openRegistry(process.execPath, [], [single, "-c", settings]);
  });

  test("leaves no file where it unpacks its native part", () => {
    const temporary = join(workspace.folder, "tmp");
    mkdirSync(temporary);
    const settings = join(ROOT, "deploy/examples/agent.yml");
    openRegistry(process.execPath, [], [single, "-c", settings], { TMPDIR: temporary });
    assert.deepEqual(readdirSync(temporary), []);
  });
});

test("the installer lays a part out, keeps settings at the next run, and is undone", () => {
  const dest = join(workspace.folder, "dest");
  const env = { ...environment(), DESTDIR: dest };
  const install = (...args: string[]) => {
    const outcome = run("bash", [join(ROOT, "deploy/systemd/install.sh"), ...args], { env });
    assert.equal(outcome.status, 0, outcome.said);
    return outcome.said;
  };
  install("agent");
  const unit = readFileSync(join(dest, "etc/systemd/system/tailrace-agent.service"), "utf8");
  assert.match(unit, /^ExecStart=\/usr\/local\/bin\/tailrace-agent run /m);
  assert.equal(run(join(dest, "usr/local/bin/tailrace-agent"), ["--version"], { env }).status, 0);
  writeFileSync(join(dest, "etc/tailrace/agent.yml"), "name: mine\n");
  assert.match(install("agent"), /agent\.yml is kept/);
  assert.equal(readFileSync(join(dest, "etc/tailrace/agent.yml"), "utf8"), "name: mine\n");
  const uninstall = (...args: string[]) =>
    run("bash", [join(ROOT, "deploy/systemd/uninstall.sh"), "agent", ...args], { env });
  assert.equal(uninstall().status, 0);
  assert.ok(!existsSync(join(dest, "usr/local/lib/tailrace-agent")));
  assert.ok(existsSync(join(dest, "etc/tailrace/agent.yml")));
  // As `tailrace-agent enroll` leaves them.
  for (const name of ["agent.nkey", "hub-ca.pem"])
    writeFileSync(join(dest, "etc/tailrace", name), "secret\n");
  assert.equal(uninstall("--purge").status, 0);
  assert.ok(!existsSync(join(dest, "etc/tailrace")));
});

test("the packager refuses unknown arguments", () => {
  for (const args of [["debs"], ["deb", "ui"], ["--outt", "x"], ["--compression", "zip"]]) {
    const { status, said } = run(process.execPath, [join(ROOT, "deploy/package/main.ts"), ...args]);
    assert.equal(status, 2, args.join(" "));
    assert.match(said, /Usage: npm run package/);
  }
});

test("packages are found as Node finds them, nested ones first", () => {
  // Folders of the real lockfile: optional ones that aren't installed are left out.
  const lock = {
    "node_modules/accepts": { dependencies: { "mime-db": "1" } },
    "node_modules/accepts/node_modules/mime-db": { dependencies: { ws: "1" } },
    "node_modules/mime-db": {},
    "node_modules/ws": { peerDependencies: { "not-installed": "1" } },
  };
  assert.deepEqual(reachable(["accepts"], lock), [
    "node_modules/accepts",
    "node_modules/accepts/node_modules/mime-db",
    "node_modules/ws",
  ]);
  assert.throws(() => reachable(["nowhere"], lock), /package nowhere is needed/);
});

test("every package that is given on has a licence text or names its licence", () => {
  assert.match(thirdPartyNotices(["node_modules/pino"]), /^pino \d+\.\d+\.\d+ \(MIT\)\n\n.*MIT/s);
});

function packager(...args: string[]): void {
  const { status, said } = run(process.execPath, [join(ROOT, "deploy/package/main.ts"), ...args]);
  assert.equal(status, 0, said);
}

/** Returns the path of a new package in the folder of `path`. */
function makeDeb(part: string, path: string): string {
  const out = join(path, "..");
  packager("deb", part, "--compression", "none", "--node", node, "--out", out);
  const architecture = { x64: "amd64", arm64: "arm64" }[process.arch as "x64"];
  return join(out, `tailrace-${part}_${version}_${architecture}.deb`);
}

/** Runs `registry`, which loads LevelDB's native part. */
function openRegistry(
  program: string,
  settings: readonly string[],
  before: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): void {
  const data = join(workspace.folder, "registry", String(process.hrtime.bigint()));
  const outcome = run(program, [...before, "registry", ...settings, "--path.data", data], {
    cwd: workspace.folder,
    env: { ...environment(), ...env },
  });
  assert.equal(outcome.status, 0, outcome.said);
  assert.match(outcome.stdout, /^0 files$/m);
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: workspace.folder };
}

function hash(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
