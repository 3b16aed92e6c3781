/**
 * A printed PDF made repeatable: its dates fixed, and what the figure is and where it comes from appended to its
 * document information (an incremental update, as the PDF format provides for; the pages are not touched).
 */

const DATE = "D:20000101000000+00'00'";

/**
 * The PDF with fixed dates, its page cropped to exactly this size (browsers round a page up by up to 0.3 mm), and
 * `about` as its subject (the caption) and keywords (JSON).
 */
export function stablePdf(
  pdf: Buffer,
  size: { readonly widthMm: number; readonly heightMm: number },
  about: Readonly<Record<string, unknown>>,
): Buffer {
  // Latin-1 keeps every byte; replacements keep every offset.
  const text = pdf
    .toString("latin1")
    .replace(/\/(CreationDate|ModDate) ?\((D:[^)]*)\)/g, (whole, _key: string, date: string) =>
      whole.replace(date, DATE.slice(0, date.length).padEnd(date.length, "0")),
    )
    .replace(/\/ID ?\[ ?<[0-9A-Fa-f]*> ?<[0-9A-Fa-f]*> ?\]/g, (whole) =>
      whole.replace(/[0-9A-Fa-f]{8,}/g, (id) => "0".repeat(id.length)),
    );
  return Buffer.from(withInformation(cropped(text, size.widthMm, size.heightMm), about), "latin1");
}

/** The page's box reduced to the picture, which lies at its top left; no byte more, so that offsets stay. */
function cropped(pdf: string, widthMm: number, heightMm: number): string {
  const points = (mm: number): number => (mm / 25.4) * 72;
  return pdf.replace(/\/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]/, (whole, _width: string, top: string) => {
    const bottom = Math.max(0, Number(top) - points(heightMm));
    // As many decimals as the old box has room for; two are 4 micrometres.
    const boxes = [3, 2].map((decimals) => {
      const numbers = [bottom, points(widthMm), Number(top)].map((n) =>
        String(Number(n.toFixed(decimals))).replace(/^0\./, "."),
      );
      return `/MediaBox [0 ${numbers.join(" ")}]`;
    });
    return boxes.find((box) => box.length <= whole.length)?.padEnd(whole.length) ?? whole;
  });
}

function withInformation(pdf: string, about: Readonly<Record<string, unknown>>): string {
  const trailer = pdf.slice(pdf.lastIndexOf("trailer"));
  const size = Number(/\/Size (\d+)/.exec(trailer)?.[1]);
  const root = /\/Root (\d+ \d+ R)/.exec(trailer)?.[1];
  const information = /\/Info (\d+) 0 R/.exec(trailer)?.[1];
  const previous = /startxref\s+(\d+)/.exec(trailer)?.[1];
  const old =
    information && new RegExp(`\\n${information} 0 obj\\s*<<([\\s\\S]*?)>>\\s*endobj`).exec(pdf)?.[1];
  // A browser that writes its cross-reference another way keeps its own information: the picture is what matters.
  if (!pdf.includes("trailer") || !root || !old || previous === undefined || Number.isNaN(size)) return pdf;
  const start = pdf.endsWith("\n") ? pdf : `${pdf}\n`;
  const object = `${information} 0 obj\n<<${old.trimEnd()}\n/Subject ${hexText(String(about.caption ?? ""))}\n/Keywords ${hexText(JSON.stringify(about))}>>\nendobj\n`;
  const table =
    `xref\n${information} 1\n${String(start.length).padStart(10, "0")} 00000 n \n` +
    `trailer\n<</Size ${size}\n/Root ${root}\n/Info ${information} 0 R\n/Prev ${previous}>>\n`;
  return `${start}${object}${table}startxref\n${start.length + object.length}\n%%EOF\n`;
}

/** A PDF text string in UTF-16, as hexadecimal. */
function hexText(text: string): string {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le").swap16();
  return `<${bytes.toString("hex").toUpperCase()}>`;
}
