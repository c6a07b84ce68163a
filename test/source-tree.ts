import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

export const root = fileURLToPath(new URL('..', import.meta.url))

export type Import = { from: string; to: string; dynamic: boolean }
export type Regex = { file: string; source: string; flags: string }
export type Source = {
  file: string
  text: string
  lines: number
  imports: Import[]
  regexes: Regex[]
  /** Its string literals and templates. Texts joined by `+` are one. A value in a text is `unknownValue`. */
  strings: string[]
  /** Its casts (`x as T`), as written. */
  casts: string[]
  /** Its variables, with what each is declared from. */
  variables: { names: string[]; from: string }[]
  /** The values in its templates, with the text before and after each. */
  values: { before: string; value: string; after: string }[]
}

type Node = { type: string; [key: string]: unknown }
// Types and lazy imports load nothing by themselves.
const lazy = new Set(['ImportExpression', 'TSImportType'])
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const eachChild = (node: Node, see: (child: Node) => void): void => {
  for (const name in node) {
    const value = node[name]
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) see(one)
    } else if (isNode(value)) see(value)
  }
}

const visit = (node: Node, see: (node: Node) => void): void => {
  see(node)
  eachChild(node, (child) => visit(child, see))
}

/** Stands for a value that is known only at run time. */
export const unknownValue = '\uFFFC'

type Placed = Node & { start: number; end: number }
const textAt = (text: string, { start, end }: Placed): string => text.slice(start, end)

/** The names that a declaration binds: one, or those of a pattern. */
const boundNames = (pattern: Node): string[] => {
  const names: string[] = []
  visit(pattern, (node) => {
    if (node.type === 'Identifier') names.push(String(node.name))
  })
  return names
}

const cooked = (node: Node): string[] =>
  (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked)

/** The text of a literal, a template or a sum of them. */
const textOf = (node: Node): string | undefined => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined
  if (node.type === 'TemplateLiteral') return cooked(node).join(unknownValue)
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined
  const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)]
  return left === undefined && right === undefined
    ? undefined
    : `${left ?? unknownValue}${right ?? unknownValue}`
}

const stringsIn = (node: Node, found: string[] = []): string[] => {
  const text = textOf(node)
  if (text !== undefined) found.push(text)
  // The parts of a sum are contained in it. The values of a template may contain other texts.
  if (node.type === 'BinaryExpression' && text !== undefined) return found
  eachChild(node, (child) => void stringsIn(child, found))
  return found
}

const valuesIn = (node: Node, text: string): Source['values'] => {
  const texts = cooked(node)
  return (node.expressions as (Node & { start: number; end: number })[]).map(({ start, end }, i) => ({
    before: texts.slice(0, i + 1).join(unknownValue),
    value: text.slice(start, end),
    after: texts[i + 1]!,
  }))
}

/** The imports of a file (paths from the root of the project, or packages) and its regular expressions. */
export const readSource = (file: string, text: string): Source => {
  const imports: Import[] = []
  const regexes: Regex[] = []
  const values: Source['values'] = []
  const casts: string[] = []
  const variables: Source['variables'] = []
  const resolve = (specifier: string): string =>
    specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier
  const tree = parseAst(text, { lang: 'ts' }, file) as unknown as Node
  visit(tree, (node) => {
    if (node.type === 'TSAsExpression') casts.push(textAt(text, node.expression as Placed))
    if (node.type === 'VariableDeclarator' && isNode(node.init))
      variables.push({ names: boundNames(node.id as Node), from: textAt(text, node.init as Placed) })
    if (node.type === 'ForOfStatement')
      variables.push({ names: boundNames(node.left as Node), from: textAt(text, node.right as Placed) })
    if (node.type === 'TemplateLiteral') values.push(...valuesIn(node, text))
    if (node.regex) {
      const { pattern, flags } = node.regex as { pattern: string; flags: string }
      regexes.push({ file, source: pattern, flags })
    }
    const specifier = isNode(node.source) ? node.source.value : undefined
    if (/^(?:Import|Export|TSImport)/.test(node.type) && specifier !== undefined)
      imports.push({ from: file, to: resolve(String(specifier)), dynamic: lazy.has(node.type) })
  })
  return {
    file,
    text,
    lines: text.split('\n').length,
    imports,
    regexes,
    strings: stringsIn(tree),
    casts,
    variables,
    values,
  }
}

const readTree = (): Source[] =>
  readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .toSorted()
    .map((file) => readSource(file, readFileSync(`${root}${file}`, 'utf8')))

let tree: readonly Source[] | undefined

/** Every source, parsed once a worker. */
export const sourceTree = (): readonly Source[] => (tree ??= readTree())
