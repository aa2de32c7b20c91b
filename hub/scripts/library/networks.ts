/** Networks of scripts: `new CIDR("10.0.0.0/8").contains(address)`. */

import { BlockList, isIP } from "node:net";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Method, type Methods, print, ScriptObject } from "#hub/scripts/values/values.ts";

/** A network, or one address. */
export class Cidr extends ScriptObject {
  readonly type = "CIDR";
  readonly methods = CIDR_METHODS;
  readonly list = new BlockList();

  /** `given`: "192.0.2.0/24", "2001:db8::/32" or an address. Throws IllegalArgumentException, NullPointerException. */
  constructor(given: unknown) {
    super();
    if ((given ?? null) === null) throw new ScriptException("NullPointerException", null);
    const range = print(given);
    const [address = "", bits, ...rest] = range.split("/");
    const family = familyOf(address);
    const size = family === "ipv4" ? 32 : 128;
    const prefix = bits === undefined ? size : /^\d{1,3}$/.test(bits) ? Number(bits) : size + 1;
    if (prefix > size || rest.length > 0)
      throw new ScriptException(
        "IllegalArgumentException",
        `Expected [ip/prefix] with a prefix from 0 to ${size} but was [${range}]`,
      );
    this.list.addSubnet(address, prefix, family);
  }
}

/** Throws IllegalArgumentException for what isn't an address. */
function familyOf(address: string): "ipv4" | "ipv6" {
  const version = isIP(address);
  if (version === 0)
    throw new ScriptException("IllegalArgumentException", `'${address}' is not an IP string literal.`);
  return version === 4 ? "ipv4" : "ipv6";
}

const CIDR_METHODS: Methods = new Map<string, Method>([
  [
    "contains",
    (self: Cidr, [given]) => {
      const address = (given ?? null) === null ? "" : print(given);
      return address !== "" && self.list.check(address, familyOf(address));
    },
  ],
]);
