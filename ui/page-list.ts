/** Every page of the dashboard: its title, where the navigation shows it, and how it is loaded. */

import { msg } from "@lit/localize";
import { html, type TemplateResult } from "lit";
// The page where people begin: it is loaded with the shell.
import "#ui/pages/discover/discover.ts";

export interface Page {
  readonly title: string;
  /** "work": in the bar; "manage": in the menu of administration; "none": reached from other pages alone. */
  readonly place: "work" | "manage" | "none";
  /** Roles that can use it; the navigation hides it from others; undefined: all. */
  readonly roles?: readonly string[];
  load(): Promise<unknown>;
  view(parameters: URLSearchParams): TemplateResult;
}

/** Pages by the first part of their address. */
export const PAGES: Readonly<Record<string, Page>> = {
  discover: {
    title: msg("Discover"),
    place: "work",
    load: () => Promise.resolve(),
    view: (parameters) => html`<tr-page-discover .parameters=${parameters}></tr-page-discover>`,
  },
  compare: {
    title: msg("Compare"),
    place: "none",
    load: () => import("#ui/pages/discover/compare.ts"),
    view: (parameters) => html`<tr-page-compare .parameters=${parameters}></tr-page-compare>`,
  },
  live: {
    title: msg("Live"),
    place: "work",
    load: () => import("#ui/pages/live/live.ts"),
    view: (parameters) => html`<tr-page-live .parameters=${parameters}></tr-page-live>`,
  },
  tails: {
    title: msg("Live, side by side"),
    place: "none",
    load: () => import("#ui/pages/live/tails.ts"),
    view: (parameters) => html`<tr-page-tails .parameters=${parameters}></tr-page-tails>`,
  },
  visualise: {
    title: msg("Visualise"),
    place: "work",
    load: () => import("#ui/pages/visualise/visualise.ts"),
    view: (parameters) => html`<tr-page-visualise .parameters=${parameters}></tr-page-visualise>`,
  },
  dashboards: {
    title: msg("Dashboards"),
    place: "work",
    load: () => import("#ui/pages/dashboards/dashboards.ts"),
    view: (parameters) => html`<tr-page-dashboards .parameters=${parameters}></tr-page-dashboards>`,
  },
  console: {
    title: msg("Console"),
    place: "work",
    load: () => import("#ui/pages/console/console.ts"),
    view: (parameters) => html`<tr-page-console .parameters=${parameters}></tr-page-console>`,
  },
  alerts: {
    title: msg("Alerts"),
    place: "work",
    load: () => import("#ui/pages/alerts/alerts.ts"),
    view: (parameters) => html`<tr-page-alerts .parameters=${parameters}></tr-page-alerts>`,
  },
  agents: {
    title: msg("Agents"),
    place: "manage",
    load: () => import("#ui/pages/agents/agents.ts"),
    view: (parameters) => html`<tr-page-agents .parameters=${parameters}></tr-page-agents>`,
  },
  pipelines: {
    title: msg("Pipelines"),
    place: "manage",
    load: () => import("#ui/pages/pipelines/pipelines.ts"),
    view: (parameters) => html`<tr-page-pipelines .parameters=${parameters}></tr-page-pipelines>`,
  },
  indices: {
    title: msg("Indices"),
    place: "manage",
    load: () => import("#ui/pages/indices/indices.ts"),
    view: (parameters) => html`<tr-page-indices .parameters=${parameters}></tr-page-indices>`,
  },
  cluster: {
    title: msg("Cluster"),
    place: "manage",
    load: () => import("#ui/pages/cluster/cluster.ts"),
    view: () => html`<tr-page-cluster></tr-page-cluster>`,
  },
  status: {
    title: msg("Health"),
    place: "manage",
    load: () => import("#ui/pages/status/status.ts"),
    view: () => html`<tr-page-status></tr-page-status>`,
  },
  users: {
    title: msg("Users and keys"),
    place: "manage",
    roles: ["admin"],
    load: () => import("#ui/pages/access/users.ts"),
    view: () => html`<tr-page-users></tr-page-users>`,
  },
  enrolment: {
    title: msg("Connect servers"),
    place: "manage",
    roles: ["admin"],
    load: () => import("#ui/pages/access/enrolment.ts"),
    view: () => html`<tr-page-enrolment></tr-page-enrolment>`,
  },
  "oauth-clients": {
    title: msg("OAuth clients"),
    place: "manage",
    roles: ["admin"],
    load: () => import("#ui/pages/access/oauth-clients.ts"),
    view: () => html`<tr-page-oauth-clients></tr-page-oauth-clients>`,
  },
  connections: {
    title: msg("Connections"),
    place: "manage",
    roles: ["admin", "editor"],
    load: () => import("#ui/pages/access/connections.ts"),
    view: () => html`<tr-page-connections></tr-page-connections>`,
  },
  account: {
    title: msg("My account"),
    place: "none",
    load: () => import("#ui/pages/access/account.ts"),
    view: () => html`<tr-page-account></tr-page-account>`,
  },
  appearance: {
    title: msg("Appearance"),
    place: "manage",
    load: () => import("./pages/appearance.ts"),
    view: () => html`<tr-page-appearance></tr-page-appearance>`,
  },
};

/** Shown for an address without a page. */
export const NOT_FOUND: Page = {
  title: msg("Not found"),
  place: "none",
  load: () => import("./pages/not-found.ts"),
  view: () => html`<tr-page-not-found></tr-page-not-found>`,
};

/** Returns the names and pages that a role can use; all while it isn't known, or there is no sign-in. */
export function pagesFor(role: string | undefined): [name: string, page: Page][] {
  return Object.entries(PAGES).filter(
    ([, { roles }]) => role === undefined || roles === undefined || roles.includes(role),
  );
}
