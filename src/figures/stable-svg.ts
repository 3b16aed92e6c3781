/**
 * Plotly puts a random id into every drawing. Here ids are numbered in the order they appear, under a prefix, so that
 * the same figure gives the same bytes and several figures can stand in one page.
 */
export function stableSvg(svg: string, prefix: string): string {
  const names = new Map<string, string>();
  const safe = prefix.replace(/[^A-Za-z0-9_-]/g, "-");
  for (const match of svg.matchAll(/\sid="([^"]+)"/g)) {
    const id = match[1]!;
    if (!names.has(id)) names.set(id, `${safe}-${names.size}`);
  }
  const rename = (id: string): string => names.get(id) ?? id;
  return svg
    .replace(/(\sid=")([^"]+)(")/g, (_, open: string, id: string, close: string) => open + rename(id) + close)
    .replace(/(url\((?:&quot;|['"])?#)([^)'"&]+)/g, (_, open: string, id: string) => open + rename(id))
    .replace(
      /((?:xlink:)?href="#)([^"]+)(")/g,
      (_, open: string, id: string, close: string) => open + rename(id) + close,
    );
}
