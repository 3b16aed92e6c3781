/** Numbers as they stand in labels and captions. */

/** At most `digits` significant digits, thousands separated: `1,234`, `0.0482`. NaN is `–`. */
export function formatNumber(value: number, digits = 3): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const rounded =
    Math.abs(value) >= 10 ** (digits - 1) ? Math.round(value) : Number(value.toPrecision(digits));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 12 }).replace("-", "−");
}

/** A share of 1 in percent: `93.2 %`. Only 1 is 100 % and only 0 is 0 %: what would round to them says so. */
export function formatPercent(share: number, decimals = 1): string {
  if (Number.isNaN(share)) return "–";
  const step = 10 ** -decimals;
  const percent = 100 * share;
  if (share < 1 && percent > 100 - step / 2) return `>${(100 - step).toFixed(decimals)} %`;
  if (share > 0 && percent < step / 2) return `<${step.toFixed(decimals)} %`;
  return `${share === 0 || share === 1 ? percent : percent.toFixed(decimals)} %`;
}
