import { findBrowser } from "../../src/figures/browser.js";

/** Title of a group of tests that need a browser; says why they are skipped where there is none. */
export const hasBrowser = findBrowser() !== undefined;
export const reason = hasBrowser ? "" : " (skipped: no Chrome or Chromium on this machine)";

export const HOSTILE = "<img src=x onerror=alert(1)>";
