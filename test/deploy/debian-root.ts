/**
 * A Debian machine of its own except for the kernel: a root made by mmdebstrap, with namespaces for network and mounts,
 * in which packages are installed and units' commands run as systemd would run them.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Child } from "#test/harness/child.ts";
import { until } from "#test/harness/until.ts";
import { type Outcome, run, without } from "./tools.ts";

/** The oldest Debian whose nats-server is new enough. */
const SUITE = "bookworm";
/** What units and maintainer scripts call; a machine with systemd has them anyway. */
const PACKAGES = [
  "ca-certificates",
  "libstdc++6",
  "nats-server",
  "procps",
  "systemd-standalone-sysusers",
  "systemd-standalone-tmpfiles",
];
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const TOOLS = ["mmdebstrap", "unshare", "nsenter", "ip", "dpkg-deb"];

/** Returns the reason why no such root can be made here, or false. */
export function cannotMakeRoot(): string | false {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "a Debian root needs root's rights on Linux";
  for (const tool of TOOLS) {
    const reason = without(tool);
    if (reason !== false) return reason;
  }
  const tried = run("unshare", ["--net", "--mount", "true"]);
  return tried.status === 0 ? false : `namespaces can't be made here: ${tried.said.trim()}`;
}

/** What a unit file says that matters for running its command. */
interface Unit {
  readonly command: readonly string[];
  readonly user: string;
  readonly folder: string;
  readonly environment: readonly string[];
  /** In the words of setpriv(1), "dac_read_search". */
  readonly capabilities: readonly string[];
}

export class DebianRoot {
  readonly folder: string;
  readonly #holder: ChildProcess;

  private constructor(folder: string, holder: ChildProcess) {
    this.folder = folder;
    this.#holder = holder;
  }

  /** Makes the root (half a minute, from Debian's mirror) and its namespaces. Throws with what the tools say. */
  static async make(folder: string): Promise<DebianRoot> {
    const made = run("mmdebstrap", ["--variant=minbase", `--include=${PACKAGES.join(",")}`, SUITE, folder]);
    if (made.status !== 0) throw new Error(`mmdebstrap: ${made.said}`);
    const script = [
      "ip link set lo up",
      `mount -t proc proc ${folder}/proc`,
      `mount --rbind /dev ${folder}/dev`,
      "echo made",
      "exec sleep infinity",
    ].join(" && ");
    const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
    const holder = spawn("unshare", ["--net", "--mount", "sh", "-c", script], { stdio });
    await once(holder.stdout, "data");
    return new DebianRoot(folder, holder);
  }

  /** Takes the namespaces away; what was started must have been stopped. */
  async close(): Promise<void> {
    this.#holder.kill("SIGKILL");
    if (this.#holder.exitCode === null && this.#holder.signalCode === null) await once(this.#holder, "exit");
  }

  /** Runs a command as root of the machine. */
  run(...command: string[]): Outcome {
    return run("nsenter", [...this.#enter(), ...clean(), ...command]);
  }

  /** Installs packages that lie on this machine, as `apt install ./x.deb`; nothing may be fetched. Throws with apt's words. */
  install(...debs: readonly string[]): void {
    mkdirSync(join(this.folder, "srv"), { recursive: true });
    for (const deb of debs) copyFileSync(deb, join(this.folder, "srv", basename(deb)));
    this.apt("install", "--no-install-recommends", ...debs.map((deb) => `/srv/${basename(deb)}`));
  }

  /** Runs apt-get without questions. Throws with its words. */
  apt(...args: string[]): void {
    const { status, said } = this.run(
      "env",
      "DEBIAN_FRONTEND=noninteractive",
      "apt-get",
      "-y",
      "-q",
      ...args,
    );
    if (status !== 0) throw new Error(`apt-get ${args.join(" ")}: ${said}`);
  }

  /** Starts a unit's command with its user, capabilities, folders and environment. */
  start(unit: string, logFile: string): Child {
    const { command, user, folder, environment, capabilities } = this.#unit(unit);
    this.#stateFolders(unit, user);
    const set = capabilities.map((name) => `+${name}`).join(",");
    const privileges = [
      `--reuid=${user}`,
      `--regid=${user}`,
      "--init-groups",
      "--no-new-privs",
      `--bounding-set=-all${set === "" ? "" : `,${set}`}`,
      `--inh-caps=-all${set === "" ? "" : `,${set}`}`,
      ...(set === "" ? [] : [`--ambient-caps=${set}`]),
    ];
    return new Child({
      name: unit,
      command: "nsenter",
      args: [...this.#enter(), "setpriv", ...privileges, ...clean(environment, folder), ...command],
      logFile,
    });
  }

  /** Ends a unit's command with SIGTERM, as systemd does; waits for its end. */
  async stop(child: Child): Promise<void> {
    // nsenter, setpriv and env have become the program, so the signal reaches it and nobody else.
    await child.end("SIGTERM", 60_000);
  }

  /** Asks over HTTP inside; returns the body, or null where nobody answers. */
  fetch(url: string): string | null {
    const script = "fetch(process.argv[1]).then((r) => r.text()).then((t) => process.stdout.write(t))";
    const entered = ["--target", String(this.#holder.pid), "--net", process.execPath, "-e", script, url];
    const { status, stdout } = run("nsenter", entered);
    return status === 0 ? stdout : null;
  }

  /** Waits until `url` answers with `text` in it. */
  async answers(url: string, text: RegExp): Promise<string> {
    return until(`${url} answering ${text}`, () => {
      const body = this.fetch(url);
      return body !== null && text.test(body) ? body : null;
    });
  }

  #enter(): string[] {
    return [
      "--target",
      String(this.#holder.pid),
      "--net",
      "--mount",
      `--root=${this.folder}`,
      `--wd=${this.folder}`,
    ];
  }

  #unit(name: string): Unit {
    const text = readFileSync(join(this.folder, `usr/lib/systemd/system/${name}.service`), "utf8");
    const all = (key: string): string[] =>
      [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map((match) => match[1] ?? "");
    const capabilities = (all("AmbientCapabilities")[0] ?? "").split(" ").filter((each) => each !== "");
    return {
      command: (all("ExecStart")[0] ?? "").split(" "),
      user: all("User")[0] ?? "",
      folder: all("WorkingDirectory")[0] ?? "/",
      environment: all("Environment"),
      capabilities: capabilities.map((each) => each.replace(/^CAP_/, "").toLowerCase()),
    };
  }

  /** StateDirectory and CacheDirectory, which systemd makes. */
  #stateFolders(unit: string, user: string): void {
    for (const folder of [`/var/lib/${unit}`, `/var/cache/${unit}`])
      this.run("install", "-d", "-m", "0700", "-o", user, "-g", user, folder);
  }
}

/** A service's surroundings: its folder, and no environment but what its unit names. */
function clean(environment: readonly string[] = [], folder = "/"): string[] {
  return ["env", "-i", "-C", folder, `PATH=${PATH}`, "LANG=C.UTF-8", ...environment];
}
