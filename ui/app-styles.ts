/** Looks of the shell. */

import { css } from "lit";

export const appStyles = css`
  :host {
    display: grid;
    grid-template-rows: var(--bar-height) minmax(0, 1fr);
    grid-template-columns: minmax(0, 1fr);
    height: 100%;
  }
  header {
    display: flex;
    align-items: center;
    gap: 4px;
    padding: 0 10px 0 14px;
    background: var(--head);
    color: #e6f1ef;
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 9px;
    margin-right: 18px;
    color: #fff;
    font-size: var(--text-large);
    font-weight: 650;
    letter-spacing: 0.01em;
    text-decoration: none;
  }
  .logo {
    width: 24px;
    height: 24px;
    stroke: var(--head-mark);
    stroke-width: 2.4;
  }
  nav {
    display: flex;
    align-self: stretch;
  }
  .group {
    position: relative;
    display: flex;
    align-self: stretch;
    align-items: center;
  }
  .group > button {
    height: 100%;
    border-radius: 0;
  }
  .group > button svg {
    width: 13px;
    height: 13px;
  }
  .group.user > button svg {
    width: 16px;
    height: 16px;
  }
  .group > button[data-current] {
    border-bottom: 2px solid var(--head-mark);
    color: #fff;
  }
  .group .list {
    position: absolute;
    z-index: 30;
    top: 100%;
    left: 0;
    display: none;
    min-width: 13rem;
    padding: 6px 0;
    border-radius: 0 0 8px 8px;
    background: var(--head);
    box-shadow: 0 16px 40px #0007;
  }
  .group.user .list {
    left: auto;
    right: 0;
    padding: 8px;
  }
  .group.open .list {
    display: block;
  }
  .list a {
    height: 36px;
    padding: 0 18px;
    border: 0;
    border-left: 3px solid transparent;
  }
  .list a:hover {
    background: #ffffff14;
  }
  .list a[aria-current] {
    border-left-color: var(--head-mark);
    background: #ffffff14;
  }
  .list p {
    margin: 4px 10px 8px;
    overflow-wrap: anywhere;
  }
  header .space {
    flex: 1;
  }
  header button.menu {
    display: none;
    color: #fff;
    font-size: var(--text-large);
  }
  nav a,
  :where(.user) a {
    display: flex;
    align-items: center;
    padding: 0 12px;
    border-bottom: 2px solid transparent;
    border-top: 2px solid transparent;
    color: var(--head-ink);
    font-weight: 500;
    text-decoration: none;
  }
  nav a:hover {
    color: #fff;
  }
  nav a[aria-current] {
    border-bottom-color: var(--head-mark);
    color: #fff;
  }
  header :focus-visible {
    outline-color: #9be8ff;
    outline-offset: -3px;
  }
  header button.plain {
    color: var(--head-ink);
  }
  header button.new {
    position: relative;
  }
  header button.new::after {
    position: absolute;
    top: 4px;
    right: 4px;
    width: 7px;
    height: 7px;
    border-radius: 50%;
    background: var(--head-mark);
    content: "";
  }
  header button.plain:hover {
    background: #ffffff1a;
    color: #fff;
  }
  main {
    min-height: 0;
    min-width: 0;
    outline: 0;
  }
  .skip {
    position: absolute;
    left: -999px;
  }
  .skip:focus {
    z-index: 30;
    left: 10px;
    top: 8px;
    padding: 6px 12px;
    border-radius: var(--radius);
    background: var(--surface);
  }
  .failed {
    display: grid;
    place-content: center;
    height: 100%;
    gap: 10px;
    text-align: center;
  }
  @media (width < 900px) {
    .brand span {
      display: none;
    }
    .brand {
      margin-right: 4px;
    }
    header button.menu {
      display: inline-flex;
    }
    nav {
      position: absolute;
      z-index: 30;
      top: var(--bar-height);
      left: 0;
      display: none;
      flex-direction: column;
      min-width: 14rem;
      padding: 6px 0 10px;
      border-radius: 0 0 8px;
      background: var(--head);
      box-shadow: 0 16px 40px #0007;
    }
    nav.open {
      display: flex;
      max-height: calc(100dvh - var(--bar-height));
      overflow: auto;
    }
    nav .group,
    nav .group .list {
      position: static;
      display: block;
      padding: 0;
      box-shadow: none;
    }
    nav .group {
      margin-top: 6px;
      border-top: 1px solid #ffffff2e;
    }
    nav .group > button {
      display: none;
    }
    .group.user > button span {
      display: none;
    }
    nav a {
      height: 42px;
      padding: 0 22px;
      border: 0;
      border-left: 3px solid transparent;
      font-size: var(--text-large);
    }
    nav a[aria-current] {
      border-left-color: var(--head-mark);
      background: #ffffff14;
    }
  }
  @media print {
    :host {
      display: block;
      height: auto;
    }
    header {
      display: none;
    }
  }
`;
