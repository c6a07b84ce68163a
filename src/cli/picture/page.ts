import { createHash } from 'node:crypto'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
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
:root { color-scheme: light dark; --paper: #fbfaf7; --ink: #1f2430; --soft: #6b7280; --line: #dcd9d0; --fence: #0f766e }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e8e6e1; --soft: #9aa3af; --line: #2c323b;
  --fence: #2dd4bf } }
body { margin: 0 auto; max-width: 1080px; padding: clamp(16px, 4vw, 48px); background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
figure { margin: 1.25em 0; border: 1px solid var(--line) }
svg { display: block; width: 100%; height: auto; font: 600 15px system-ui, sans-serif }
.wide, .scroll { overflow-x: auto }
.wide svg { min-width: 700px }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .5rem .9rem; border-bottom: 1px solid var(--line) }
.grid { stroke: var(--line) }
.fence { fill: var(--fence); fill-opacity: .14; stroke: var(--fence); stroke-width: 2 }
.fence.off { stroke: var(--soft); stroke-dasharray: 3 6 }
.mark, .middle { text-anchor: middle }
.mark, .small { fill: var(--ink) }
.bar { fill: none; stroke: var(--ink); stroke-width: 2 }
.open { fill: var(--fence) }
.partly { fill: var(--fence); fill-opacity: .5 }
.organization, .user { fill: var(--soft); fill-opacity: .55 }
.user { fill-opacity: .3 }
.closed { fill: var(--line); fill-opacity: .6 }
.legend { display: flex; flex-wrap: wrap; gap: .3em 1.4em; padding: 0; list-style: none }
.legend li { display: flex; align-items: center; gap: .5em }
.legend svg { width: 1em }
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
<h1>${pageText(title)}</h1>
${body}
</body>
</html>
`

const cells = (name: string, line: readonly string[]): string =>
  `<tr>${line.map((text) => `<${name}>${pageText(text)}</${name}>`).join('')}</tr>`

/** A table that scrolls on a narrow screen. */
export const pageTable = (
  label: string,
  { head = [], lines }: Grid,
): string => `<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>
${[cells('th', head), ...lines.map((line) => cells('td', line))].join('\n')}
</table></div>`

/** A page in a terminal is of no use. Called before any request. */
export const requireFile = async ({ io, command }: Context): Promise<void> => {
  if (io.stdout.isTTY)
    throw usageError(`svc ${command!.words} prints an HTML page`, `${await command!.again({})} > page.html`)
}
