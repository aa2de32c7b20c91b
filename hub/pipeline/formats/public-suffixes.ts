/**
 * Domains under which names are registered. A domain of one label is a suffix; the table has the countries whose
 * registries register names below a second label, and large hosters that give each customer a subdomain.
 */

/** Second labels by country. */
const SECOND: Readonly<Record<string, string>> = {
  ae: "ac co gov mil net org sch",
  ar: "com edu gob gov int mil net org tur",
  at: "ac co gv or",
  au: "asn com csiro edu gov id net org",
  bd: "ac com edu gov mil net org",
  br: "adm adv agr am art b blog br com coop eco edu emp eng esp etc far flog fm gov ind inf jor jus leg mil net nom org ppg pro psc psi rec srv tmp tur tv vlog wiki",
  cn: "ac ah bj com cq edu fj gd gov gs gz ha hb he hi hl hn jl js jx ln mil net nm nx org qh sc sd sh sn sx tj xj xz yn zj",
  co: "com edu gov mil net nom org",
  cy: "ac com ekloges gov ltd net org press pro tm",
  eg: "com edu eun gov mil name net org sci",
  es: "com edu gob nom org",
  fr: "asso com gouv nom prd tm",
  gr: "com edu gov net org",
  hk: "com edu gov idv net org",
  hu: "co info org priv sport tm",
  id: "ac biz co desa go mil my net or ponpes sch web",
  il: "ac co gov idf k12 muni net org",
  in: "ac co edu firm gen gov ind mil net nic org res",
  it: "edu gov",
  jp: "ac ad co ed go gr lg ne or",
  ke: "ac co go info me mobi ne or sc",
  kr: "ac co es go hs kg mil ms ne or pe re sc",
  mx: "com edu gob net org",
  my: "biz com edu gov mil name net org",
  ng: "com edu gov i mil mobi name net org sch",
  nz: "ac co cri geek gen govt health iwi kiwi maori mil net org parliament school",
  pe: "com edu gob mil net nom org",
  ph: "com edu gov i mil net ngo org",
  pk: "ac com edu fam gob gok gon gop gos gov info net org web",
  pl: "com edu gov info mil net org waw",
  pt: "com edu gov int net nome org publ",
  rs: "ac co edu gov in org",
  ru: "ac edu gov int mil",
  sa: "com edu gov med net org pub sch",
  sg: "com edu gov net org per",
  th: "ac co go in mi net or",
  tr: "av bbs bel biz com dr edu gen gov info k12 kep mil name net org pol tel tsk tv web",
  tw: "club com ebiz edu game gov idv mil net org",
  ua: "com edu gov in kiev kyiv lviv net odessa org",
  uk: "ac co gov ltd me net nhs org plc police sch",
  uy: "com edu gub mil net org",
  ve: "co com edu gob gov info mil net org web",
  vn: "ac biz com edu gov health info int name net org pro",
  za: "ac co edu gov law mil net nom org school web",
};

const HOSTERS = [
  "appspot.com",
  "azurewebsites.net",
  "blogspot.com",
  "cloudfront.net",
  "github.io",
  "githubusercontent.com",
  "gitlab.io",
  "herokuapp.com",
  "netlify.app",
  "pages.dev",
  "s3.amazonaws.com",
  "vercel.app",
  "web.app",
  "workers.dev",
];

const SUFFIXES: ReadonlySet<string> = new Set([
  ...HOSTERS,
  ...Object.entries(SECOND).flatMap(([country, labels]) =>
    labels.split(" ").map((label) => `${label}.${country}`),
  ),
]);

/** Labels of the longest suffix. */
const MAX_LABELS = 3;

/** A domain in parts. `suffix`: what names are registered under. */
export interface DomainParts {
  readonly suffix: string;
  readonly registered: string | undefined;
  readonly subdomain: string | undefined;
}

/** Returns the parts of a domain; undefined for an address, one label or no domain. */
export function splitDomain(domain: string): DomainParts | undefined {
  const labels = domain.toLowerCase().split(".");
  if (labels.length < 2 || labels.some((label) => label === "") || /^\d+$/.test(labels.at(-1)!))
    return undefined;
  let size = 1;
  for (let count = 2; count <= Math.min(MAX_LABELS, labels.length); count++)
    if (SUFFIXES.has(labels.slice(-count).join("."))) size = count;
  const given = domain.split(".");
  const suffix = given.slice(-size).join(".");
  if (given.length === size) return { suffix, registered: undefined, subdomain: undefined };
  const below = given.slice(0, -size - 1).join(".");
  return {
    suffix,
    registered: given.slice(-size - 1).join("."),
    subdomain: below === "" ? undefined : below,
  };
}
