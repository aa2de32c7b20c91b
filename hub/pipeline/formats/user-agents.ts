/** Parses user agents: browsers, robots and tools, their systems and devices. */

export interface UserAgent {
  readonly name: string;
  /** Parts of the version, outermost first; empty without one. */
  readonly version: readonly string[];
  readonly os: string;
  readonly osVersion: readonly string[];
  readonly device: string;
}

/** A name and its expression; group 1 is the version, group `name` the name where it varies. */
type Rule = readonly [name: string, expression: RegExp];

/** The first that fits is taken: what imitates others is listed before them. */
const AGENTS: readonly Rule[] = [
  ["", /(?<name>aws-cli|aws-sdk-[a-z]+|Boto3)\/([\d.]+)/],
  ["", /(?<name>[A-Za-z]*(?:bot|Bot|crawler|Crawler|spider|Spider)[A-Za-z-]*)[/ ]?v?([\d.]+)?/],
  ["Baiduspider", /Baiduspider/],
  ["Slurp", /Yahoo! Slurp/],
  ["Facebook External Hit", /facebookexternalhit\/([\d.]+)/],
  [
    "Facebook Messenger",
    /\[(?:FBAN\/MessengerForiOS|FB_IAB\/(?:MESSENGER|Orca-Android));(?:[^\][]*?FBAV\/([\d.]+))?/,
  ],
  ["Facebook", /\[FB(?:AN|_IAB)\/[^;\][]*;(?:[^\][]*?FBAV\/([\d.]+))?/],
  ["MacOutlook", /^MacOutlook\/([\d.]+)/],
  ["WordPress", /^WordPress\/([\d.]+)/],
  ["curl", /^curl\/([\d.]+)/],
  ["Wget", /^Wget\/([\d.]+)/],
  [
    "",
    /^(?<name>python-requests|Python-urllib|Go-http-client|okhttp|Apache-HttpClient|axios|node-fetch|PostmanRuntime|libwww-perl|Java|Ruby|kube-probe|GoogleHC|ELB-HealthChecker)\/([\d.]+)/,
  ],
  ["Edge", /Edg(?:e|A|iOS)?\/([\d.]+)/],
  ["Opera Mini", /Opera Mini\/([\d.]+)/],
  ["Opera", /(?:OPR|Opera)[/ ]([\d.]+)/],
  ["Samsung Internet", /SamsungBrowser\/([\d.]+)/],
  ["Yandex Browser", /YaBrowser\/([\d.]+)/],
  ["UC Browser", /UCBrowser\/([\d.]+)/],
  ["Amazon Silk", /Silk\/([\d.]+)/],
  ["Vivaldi", /Vivaldi\/([\d.]+)/],
  ["Firefox iOS", /FxiOS\/([\d.]+)/],
  ["Firefox Mobile", /(?:Android|Mobile).*Firefox\/([\d.]+)/],
  ["Firefox Alpha", /Firefox\/(\d+\.\d+a\d+)/],
  ["Firefox", /Firefox\/([\d.]+)/],
  ["Chrome Mobile iOS", /CriOS\/([\d.]+)/],
  ["Chrome Mobile WebView", /; wv\).*Chrome\/([\d.]+)/],
  ["Chrome Mobile", /Chrome\/([\d.]+) Mobile/],
  ["HeadlessChrome", /HeadlessChrome\/([\d.]+)/],
  ["Chromium", /Chromium\/([\d.]+)/],
  ["Chrome", /Chrome\/([\d.]+)/],
  ["Google", / GSA\/([\d.]+) Mobile\//],
  ["Mobile Safari", /Version\/([\d.]+).*Mobile.*Safari\//],
  ["Android", /Android ([\d.]+).*Version\/[\d.]+ .*Safari/],
  ["Safari", /Version\/([\d.]+).*Safari\//],
  ["IE", /MSIE ([\d.]+)/],
  ["IE", /Trident\/.*rv:([\d.]+)/],
  ["Konqueror", /Konqueror\/([\d.]+)/],
  ["", /^(?<name>[A-Za-z][\w-]*)\/([\d.]+)(?: |$)(?!\()/],
];

/** IE 8 came with Trident 4. */
const IE_OVER_TRIDENT = 4;

/** Longest beginning of an agent that is read: it is a stranger's text, and each rule may look at it from each character on. */
const MAX_LENGTH = 2_048;

/** Marketing names of Windows NT versions. */
const WINDOWS: Readonly<Record<string, string>> = {
  "10.0": "10",
  "6.3": "8.1",
  "6.2": "8",
  "6.1": "7",
  "6.0": "Vista",
  "5.2": "XP",
  "5.1": "XP",
};

const SYSTEMS: readonly Rule[] = [
  ["Windows Phone", /Windows Phone(?: OS)? ([\d.]+)/],
  ["Windows", /Windows NT ([\d.]+)/],
  ["iOS", /(?:iPhone|CPU) OS ([\d_]+)/],
  ["Mac OS X", /Mac OS X (?:Version )?([\d_.]+)/],
  ["Android", /Android ([\d.]+)/],
  ["Android", /Android/],
  ["Chrome OS", /CrOS \S+ ([\d.]+)/],
  ["Ubuntu", /Ubuntu(?:\/([\d.]+))?/],
  ["Fedora", /Fedora(?:\/([\d.]+))?/],
  ["FreeBSD", /FreeBSD ?([\d.]+)?/],
  ["Windows", /Windows\/\d|\(Windows (\d+(?:\.\d+)?)\)/],
  ["Linux", /Linux(?:\/(\d+\.\d+(?:\.\d+)?))?/],
];

/** Returns what `text` says; unknown parts are "Other". */
export function parseUserAgent(agent: string): UserAgent {
  const text = agent.slice(0, MAX_LENGTH);
  const [name, version] = first(AGENTS, text);
  const [os, system] = first(SYSTEMS, text);
  const osVersion = os === "Windows" ? (WINDOWS[system] ?? system) : system.replaceAll("_", ".");
  return {
    name,
    version: version === "" ? [] : trueVersion(name, version, text).split(/\.|(?=a\d)/),
    os,
    osVersion: osVersion === "" ? [] : osVersion.split("."),
    device: deviceOf(text, name, os),
  };
}

/** A version of IE that claims to be 7.0 says which it is by its engine. */
function trueVersion(name: string, version: string, text: string): string {
  const [, engine] = /Trident\/(\d)\.0/.exec(text) ?? [];
  if (name !== "IE" || version !== "7.0" || engine === undefined) return version;
  return `${Number(engine) + IE_OVER_TRIDENT}.0`;
}

function first(rules: readonly Rule[], text: string): [name: string, version: string] {
  for (const [name, expression] of rules) {
    const match = expression.exec(text);
    if (match === null) continue;
    const version = match.slice(1).findLast((group) => group !== undefined && /^\d/.test(group)) ?? "";
    return [name === "" ? (match.groups?.["name"] ?? "Other") : name, version];
  }
  return ["Other", ""];
}

function deviceOf(text: string, name: string, os: string): string {
  if (/bot|crawler|spider|slurp|^WordPress$/i.test(name) || text.includes("botocore")) return "Spider";
  const apple = /iPhone|iPad|iPod|Macintosh/.exec(text)?.[0];
  if (apple !== undefined && apple !== "Macintosh") return apple;
  if (apple !== undefined || os === "Mac OS X") return "Mac";
  if (/; KF[A-Z]{2,6}\b/.test(text)) return "Kindle";
  if (os !== "Android") return "Other";
  return (
    /Android [^;)]*; (?:[a-z]{2}-[a-z]{2}; )?([^;)]+?)(?: Build\/[^;)]*)?[;)]/.exec(text)?.[1] ??
    "Generic Smartphone"
  );
}
