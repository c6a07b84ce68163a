import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

export const root = fileURLToPath(new URL('..', import.meta.url))

export type Import = { from: string; to: string; dynamic: boolean }
export type Regex = { file: string; source: string; flags: string }
export type Source = { file: string; text: string; lines: number; imports: Import[]; regexes: Regex[] }

type Node = { type: string; [key: string]: unknown }
// Neither loads anything before it is reached; a type never does.
const lazy = new Set(['ImportExpression', 'TSImportType'])
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const visit = (node: Node, see: (node: Node) => void): void => {
  see(node)
  for (const value of Object.values(node).flat()) if (isNode(value)) visit(value, see)
}

/** What one file imports (a path from the root of the project, or a package) and its regular expressions. */
export const readSource = (file: string, text: string): Source => {
  const imports: Import[] = []
  const regexes: Regex[] = []
  const resolve = (specifier: string): string =>
    specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
  visit(parseAst(text, { lang: 'ts' }, file) as unknown as Node, (node) => {
    if (node.regex) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string }
      regexes.push({ file, source: pattern, flags })
    }
    const specifier = isNode(node.source) ? node.source.value : undefined
    if (/^(?:Import|Export|TSImport)/.test(node.type) && specifier !== undefined)
      imports.push({ from: file, to: resolve(String(specifier)), dynamic: lazy.has(node.type) })
  })
  return { file, text, lines: text.split('\n').length, imports, regexes }
}

export const sourceTree = (): Source[] =>
  readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .toSorted()
    .map((file) => readSource(file, readFileSync(`${root}${file}`, 'utf8')))
