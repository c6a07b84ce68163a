import { createHash } from 'node:crypto'
import { safeLine } from '../../core/safe-text.ts'
import type { Grid } from '../terminal/payload.ts'

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for a page, without markup, control characters or changes of direction. */
export const pageText = (text: string): string =>
  safeLine(text).replace(/[&<>"']/g, (char) => entities[char]!)

const style = `
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1f2430; --soft: #6b7280; --line: #dcd9d0; --card: #fff;
  --fence: #0f766e; --point: #c2410c }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e8e6e1; --soft: #9aa3af; --line: #2c323b;
  --card: #1a1e25; --fence: #2dd4bf; --point: #fb923c } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 1080px; margin: 0 auto; padding: clamp(16px, 4vw, 48px) }
h1 { font-size: clamp(1.4rem, 4vw, 2.1rem); line-height: 1.2; margin: 0 0 .25em; letter-spacing: -.01em;
  overflow-wrap: anywhere }
p { margin: .25em 0 1em; color: var(--soft) }
p.verdict { color: var(--ink); border-left: 4px solid var(--point); padding: .1em 0 .1em .75em; overflow-wrap: anywhere }
figure { margin: 1.25em 0; background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden }
svg { display: block; width: 100%; height: auto; font: 600 15px system-ui, sans-serif }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 14px; background: var(--card) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .55rem .9rem; border-bottom: 1px solid var(--line); white-space: nowrap }
td.name { white-space: normal; min-width: 9rem; overflow-wrap: anywhere }
tr:last-child td { border-bottom: 0 }
th { font-size: .78rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft) }
.off td { color: var(--soft) }
.grid { fill: none; stroke: var(--line); stroke-width: 1 }
.fence { fill: var(--fence); fill-opacity: .14; stroke: var(--fence); stroke-width: 2 }
.fence.off { fill-opacity: .03; stroke: var(--soft); stroke-dasharray: 3 6 }
.mark { fill: var(--ink); text-anchor: middle; dominant-baseline: central; paint-order: stroke; stroke: var(--card);
  stroke-width: 4px; stroke-linejoin: round }
.mark.off { fill: var(--soft) }
.near { fill: var(--point); fill-opacity: .16; stroke: var(--point); stroke-dasharray: 2 3 }
.here { fill: none; stroke: var(--point); stroke-width: 2.5 }
.bar { fill: none; stroke: var(--ink); stroke-width: 2 }
.small { fill: var(--ink); font-weight: 400; font-size: 13px }
.middle { text-anchor: middle }
.open { fill: var(--fence) }
.partly { fill: var(--fence); fill-opacity: .5 }
.organization, .user { fill: var(--soft); fill-opacity: .55 }
.user { fill-opacity: .3 }
.closed { fill: var(--line); fill-opacity: .6 }
h2 { font-size: 1.15rem; margin: 1.75em 0 .6em }
.legend { display: flex; flex-wrap: wrap; gap: .3em 1.4em; padding: 0; list-style: none; color: var(--soft) }
.legend li { display: flex; align-items: center; gap: .5em }
.legend svg { width: 1em; height: 1em }
.wide { overflow-x: auto }
.wide svg { min-width: 700px }
@media (max-width: 600px) { .mark, .small { font-size: 34px } .wide .small { font-size: 15px } .grid { stroke-width: 2 }
  .fence, .here, .bar { stroke-width: 4 } }
`

const hash = `sha256-${createHash('sha256').update(style).digest('base64')}`

/** A self-contained page: no script, no other file, and only this style, allowed by its hash. `body` is markup. */
export const pageOf = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${pageText(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${pageText(title)}</h1>
${body}
</main>
</body>
</html>
`

/** A table that scrolls on a narrow screen. */
export const pageTable = (
  label: string,
  { head = [], lines }: Grid,
  isOff: (row: number) => boolean = () => false,
): string => `<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${head.map((name) => `<th scope="col">${pageText(name)}</th>`).join('')}</tr></thead>
<tbody>
${lines.map((line, i) => `<tr${isOff(i) ? ' class="off"' : ''}>${line.map((text, column) => `<td${head[column] === 'name' ? ' class="name"' : ''}>${pageText(text)}</td>`).join('')}</tr>`).join('\n')}
</tbody></table></div>`
