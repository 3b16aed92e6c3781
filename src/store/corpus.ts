/** How often each product is written in a corpus: the scanner behind `npm run corpus`. */
export * from "./corpus-counts.js";
export { PRODUCT_FORMS } from "./corpus-forms.js";
export { mergeCounts } from "./corpus-merge.js";
