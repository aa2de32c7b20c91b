/** A wall clock of their own for processes under test, by libfaketime: it is set while they run and while they are away. */

import { globSync, renameSync, writeFileSync } from "node:fs";

const LIBRARIES = "/usr/{lib,lib64,local/lib}/{*/,}faketime/libfaketimeMT.so.1";
const [LIBRARY] = globSync(LIBRARIES);

/** Why there are no such clocks here; false where there are. nats-server is static: its clock stays the system's. */
export const noFakeClock: string | false =
  LIBRARY === undefined ? "libfaketime is missing (apt install faketime)" : false;

export class FakeClock {
  readonly #file: string;

  /** `file`: where processes read what their clock is. It begins as the system's. */
  constructor(file: string) {
    this.#file = file;
    this.set("+0");
  }

  /** Sets the clock: "-1d", "+30s" from the system's on, "@1970-01-01 00:05:00" from that time on. Seen at once. */
  set(time: string): void {
    writeFileSync(`${this.#file}.new`, `${time}\n`);
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** Environment of a process with this clock. Its monotonic clock stays the system's, as where a clock is set. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** Program and arguments that run another program with this clock. */
  get wrapper(): readonly string[] {
    return ["env", ...Object.entries(this.env).map(([name, value]) => `${name}=${value}`)];
  }
}
