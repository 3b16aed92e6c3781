import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findBrowser, NO_BROWSER } from "../../src/figures/browser.js";

describe("findBrowser", () => {
  it("takes COUNTLENS_CHROME first, and throws where it names nothing", () => {
    expect(findBrowser({ COUNTLENS_CHROME: process.execPath, PATH: "" })).toBe(process.execPath);
    expect(() => findBrowser({ COUNTLENS_CHROME: "/no/such/chrome" })).toThrow(
      "findBrowser: COUNTLENS_CHROME is /no/such/chrome",
    );
  });

  it("finds the usual names on the PATH, chromium before the others", () => {
    const folder = mkdtempSync(join(tmpdir(), "countlens-path-"));
    writeFileSync(join(folder, "google-chrome"), "");
    expect(findBrowser({ PATH: `/nowhere:${folder}` }, "linux")).toBe(join(folder, "google-chrome"));
    writeFileSync(join(folder, "chromium"), "");
    expect(findBrowser({ PATH: folder }, "linux")).toBe(join(folder, "chromium"));
    rmSync(folder, { recursive: true });
  });

  it("knows the places of macOS and Windows", () => {
    const home = mkdtempSync(join(tmpdir(), "countlens-home-"));
    expect(findBrowser({ PATH: "", HOME: home }, "darwin")).toBeUndefined();
    expect(findBrowser({ PATH: "", PROGRAMFILES: home }, "win32")).toBeUndefined();
    rmSync(home, { recursive: true });
  });

  it("has a word for who has none", () => {
    expect(NO_BROWSER).toContain("apt-get install chromium");
    expect(NO_BROWSER).toContain("COUNTLENS_CHROME");
  });
});
