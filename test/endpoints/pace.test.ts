import { describe, expect, it } from "vitest";
import { createPace } from "../../src/endpoints/pace.js";
import { backoff, isPassing, retryAfter } from "../../src/endpoints/retry.js";
import { readAnswer, requestBody } from "../../src/endpoints/wire.js";

const signal = new AbortController().signal;

describe("createPace", () => {
  /** Starts of `n` turns, in ms from the first. */
  async function starts(n: number, pace: ReturnType<typeof createPace>, used = 0): Promise<number[]> {
    const at: number[] = [];
    for (let i = 0; i < n; i++) {
      await pace.turn(signal);
      at.push(performance.now());
      if (used > 0) pace.used(used);
    }
    return at.map((t) => t - at[0]!);
  }

  it("spaces requests by their share of a minute", async () => {
    const at = await starts(5, createPace({ requestsPerMinute: 3000 }));
    expect(at[4]).toBeGreaterThan(75); // 4 x 20 ms, less the timer's own grain
  });

  it("puts the next turn off for the tokens used", async () => {
    const at = await starts(3, createPace({ tokensPerMinute: 60_000 }), 50);
    expect(at[2]).toBeGreaterThan(95); // 2 x 50 tokens at one a millisecond
  });

  it("has no limit by default, and stops waiting when told to", async () => {
    expect((await starts(100, createPace()))[99]).toBeLessThan(1000);
    const pace = createPace();
    pace.pause(60_000);
    const stop = new AbortController();
    const turn = pace.turn(stop.signal);
    stop.abort(new Error("stop"));
    await expect(turn).rejects.toThrow("stop");
  });
});

describe("backoff", () => {
  it("doubles within limits, never below what the server asked for, the same each time", () => {
    for (let attempt = 0; attempt < 12; attempt++) {
      const wait = backoff(attempt, 3, 500, 60_000);
      const full = Math.min(60_000, 500 * 2 ** attempt);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
      expect(backoff(attempt, 3, 500, 60_000)).toBe(wait);
    }
    expect(backoff(0, 1, 500, 60_000, 5000)).toBe(5000);
    expect(backoff(0, 1, 500, 60_000)).not.toBe(backoff(0, 2, 500, 60_000));
  });

  it("reads Retry-After as seconds or a date", () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    expect(retryAfter("2", now)).toBe(2000);
    expect(retryAfter("0.5", now)).toBe(500);
    expect(retryAfter("Thu, 01 Jan 2026 00:00:03 GMT", now)).toBe(3000);
    expect(retryAfter("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
    expect(retryAfter("soon", now)).toBeUndefined();
    expect(retryAfter(null, now)).toBeUndefined();
  });

  it("knows which statuses can pass", () => {
    expect([408, 409, 425, 429, 500, 502, 503, 529].every(isPassing)).toBe(true);
    expect([400, 401, 403, 404, 422].some(isPassing)).toBe(false);
  });
});

describe("wire", () => {
  it("asks as the paper's commands do", () => {
    const prompt = { system: "Answer with only the integer.", user: "127*82=" };
    const options = { model: "gpt-5.2-2025-12-11", maxTokens: 32, temperature: 0 };
    expect(requestBody("responses", prompt, options)).toEqual({
      model: "gpt-5.2-2025-12-11",
      instructions: "Answer with only the integer.",
      input: "127*82=",
      max_output_tokens: 32,
      temperature: 0,
    });
    const chat = requestBody("chat", { user: "x" }, { ...options, extra: { seed: 1, temperature: null } });
    expect(chat).toEqual({
      model: options.model,
      messages: [{ role: "user", content: "x" }],
      max_tokens: 32,
      seed: 1,
    });
  });

  it.each([
    null,
    3,
    "x",
    [],
    {},
    { choices: [] },
    { choices: [{}] },
    { choices: [{ message: { content: 5 } }] },
  ])("finds no chat answer in %j", (json) => {
    expect(readAnswer("chat", json)).toBeUndefined();
  });

  it("keeps refusals, parts and reasoning tokens", () => {
    const message = (content: unknown, more = {}) => ({ choices: [{ message: { content, ...more } }] });
    expect(readAnswer("chat", message(null, { refusal: "no" }))!.text).toBe("no");
    expect(readAnswer("chat", message([{ text: "1" }, { text: "2" }]))!.text).toBe("12");
    const usage = { input_tokens: 9, output_tokens: 50, output_tokens_details: { reasoning_tokens: 48 } };
    expect(readAnswer("responses", { status: "incomplete", output: [], usage })).toEqual({
      text: "",
      ended: false,
      inputTokens: 9,
      outputTokens: 50,
      reasoningTokens: 48,
    });
    expect(readAnswer("responses", { status: "completed", output: [] })).toBeUndefined();
    expect(readAnswer("responses", { output: "12" })).toBeUndefined();
  });
});
