/** Style of the report page: plain, readable, light and dark. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--ink:#1f2328;--muted:#59636e;--grid:#e2e5e9;--ground:#fff;--panel:#f6f8fa;--accent:#0072b2;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--muted:#9da7b1;--grid:#30363d;--ground:#0d1117;--panel:#161b22;--accent:#6cb6e8;--bad:#ff8b82}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:58rem;padding:3rem 1.25rem 5rem;background:var(--ground);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:2rem;line-height:1.2;margin:0 0 .5rem;letter-spacing:-.015em}
h2{font-size:1.35rem;line-height:1.3;margin:0;letter-spacing:-.01em}
h3{font-size:1.15rem;line-height:1.35;margin:0 0 .75rem}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
.lead{color:var(--muted);max-width:42rem;margin:0}
nav{margin:2.5rem 0 0;border-top:1px solid var(--grid);border-bottom:1px solid var(--grid);padding:.75rem 0}
nav ol,nav ul{list-style:none;margin:0;padding:0}
nav ol>li{display:grid;grid-template-columns:minmax(11rem,1fr) 2.4fr;gap:.25rem 1.5rem;padding:.3rem 0}
nav ul>li{display:grid;grid-template-columns:minmax(9rem,1fr) 1.6fr;gap:0 1rem;font-size:.92rem}
nav span{color:var(--muted)}
nav .notebook{color:var(--ink);font-weight:600;font-size:.95rem}
section{margin-top:4rem}
article{margin:2rem 0 3rem}
figure{margin:0}
figure svg{display:block;width:100%;height:auto;overflow:visible}
figure svg[data-width=single]{max-width:30rem}
figcaption{color:var(--muted);font-size:.92rem;line-height:1.5;margin:.75rem 0 0;max-width:46rem}
.live,.scroll{overflow-x:auto}
.facts{color:var(--muted);font-size:.85rem;margin:.4rem 0 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th{font-weight:600}
th,td{padding:.25rem 1rem .25rem 0;border-bottom:1px solid var(--grid);white-space:nowrap}
details{margin:.4rem 0 0;font-size:.85rem}
summary{cursor:pointer;color:var(--muted)}
dl{margin:.5rem 0 0;font-size:.85rem}
dl div{display:grid;grid-template-columns:11rem 1fr;gap:1rem;padding:.15rem 0}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.8rem}
pre.error,nav .error{color:var(--bad)}
pre.error{background:var(--panel);padding:.75rem 1rem;overflow-x:auto;font-size:.85rem;white-space:pre-wrap}
footer{margin-top:5rem;border-top:1px solid var(--grid);padding-top:1.5rem}
@media (max-width:40rem){nav ol>li,nav ul>li,dl div{grid-template-columns:1fr}}
@media print{nav,details{display:none}section,article{break-inside:avoid}}
`;
