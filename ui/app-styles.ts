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
    background: #0d2a2a;
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
    stroke: #5fd6c6;
    stroke-width: 2.4;
  }
  nav {
    display: flex;
    align-self: stretch;
  }
  header .space {
    flex: 1;
  }
  header button.menu {
    display: none;
    color: #fff;
    font-size: var(--text-large);
  }
  nav a {
    display: flex;
    align-items: center;
    padding: 0 12px;
    border-bottom: 2px solid transparent;
    border-top: 2px solid transparent;
    color: #b5cbc8;
    font-weight: 500;
    text-decoration: none;
  }
  nav a:hover {
    color: #fff;
  }
  nav a[aria-current] {
    border-bottom-color: #5fd6c6;
    color: #fff;
  }
  header :focus-visible {
    outline-color: #9be8ff;
    outline-offset: -3px;
  }
  header button.plain {
    color: #b5cbc8;
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
  @media (width < 860px) {
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
      background: #0d2a2a;
      box-shadow: 0 16px 40px #0007;
    }
    nav.open {
      display: flex;
    }
    nav a {
      height: 42px;
      padding: 0 22px;
      border: 0;
      border-left: 3px solid transparent;
      font-size: var(--text-large);
    }
    nav a[aria-current] {
      border-left-color: #5fd6c6;
      background: #ffffff14;
    }
  }
`;
