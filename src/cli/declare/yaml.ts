import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
} from 'yaml'
import * as z from 'zod/mini'
import { placedIssuesOf } from '../../contract/issues.ts'
import { SvcError, usageError, type Issue } from '../../core/errors.ts'

/** What is wrong at a path. `field`: what to call it, if that is not the path. */
export type Problem = { path: PropertyKey[]; message: string; field?: string }

/** A parsed file. */
export type Parsed = {
  value: unknown
  /** The error for these problems, with the line and column of each, or of the closest parent that the file has. */
  invalid(problems: readonly Problem[]): SvcError
  /** The value, or what was made of it, as a schema reads it. Throws that error. */
  check<S extends z.ZodMiniType>(schema: S, value?: unknown): z.infer<S>
}

/** What errors say about a kind of file. */
export type FileKind = {
  /** `a file describes one organization` */
  single: string
  /** What did not happen: `nothing was sent` */
  nothing: string
  /** The command that prints the format. */
  schema: string
  /** How to get a file. */
  example: string
}

const organizationFile: FileKind = {
  single: 'a file describes one organization',
  nothing: 'nothing was sent',
  schema: 'svc export --schema',
  example: 'svc export --org acme > org.yaml',
}

const reserved = 'starts with * or another character of YAML: put it in quotes, such as "**" or "@sre"'

const words = ({ single }: FileKind): Record<string, string> => ({
  BAD_ALIAS: reserved,
  BAD_SCALAR_START: reserved,
  MULTIPLE_DOCS: `a second document starts here; ${single}`,
  TAB_AS_INDENT: 'this line is indented with a tab; YAML requires spaces',
})

const position = ({ field }: Issue): number => {
  const [, line, column] = /:(\d+):(\d+)(?: |$)/.exec(field) ?? []
  return Number(line) * 1e6 + Number(column)
}

/** Each issue starts with its position: `org.yaml:12:5 users[0].email`. */
const invalidFile = (file: string, issues: Issue[], kind: FileKind): SvcError => {
  const count = issues.length === 1 ? '1 error' : `${issues.length} errors`
  return new SvcError('usage', 'invalid_file', `${file}: ${count}; ${kind.nothing}`, {
    issues: issues.toSorted((a, b) => position(a) - position(b)).slice(0, 20),
    hint: `${kind.schema} prints the format of the file`,
  })
}

/**
 * Duplicate keys of a map, which the library finds too, but in quadratic time; and aliases of nothing, which it finds without a
 * place.
 */
const findMistakes = (document: Document): { message: string; offset: number }[] => {
  const found: { message: string; offset: number }[] = []
  const add = (message: string, { range }: Node): void =>
    void found.push({ message, offset: range?.[0] ?? 0 })
  const anchors = new Set<string | undefined>()
  const note = (_: unknown, { anchor }: { anchor?: string }): void => void anchors.add(anchor)
  visit(document, {
    Scalar: note,
    Seq: note,
    Alias: (_, alias) => (anchors.has(alias.source) ? undefined : add(reserved, alias)),
    Map: (_, map) => {
      anchors.add(map.anchor)
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : ''
        if (!isScalar(key)) add('has a key that is not text', key as Node)
        else if (seen.has(name)) add(`has a duplicate key "${name.slice(0, 80)}"`, key)
        seen.add(name)
      }
    },
  })
  return found
}

/** Keeps `mobile: +12025550101` as text. For YAML it is a number. */
const keepPlus = (document: Document): void =>
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'number' && scalar.source?.startsWith('+')) scalar.value = scalar.source
    },
  })

const offsetAt = (document: Document, path: readonly PropertyKey[]): number => {
  let node: unknown = document.contents
  let offset = 0
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
      if (!isPair(pair)) break
      offset = (pair.key as Node).range?.[0] ?? offset
      node = pair.value
    } else if (isSeq(node)) {
      node = node.items[Number(part)]
      offset = (node as Node | undefined)?.range?.[0] ?? offset
    } else break
  }
  return offset
}

/** Parses YAML or JSON, which is YAML too. Throws a usage error with line and column. */
export const parseYaml = (text: string, file: string, kind = organizationFile): Parsed => {
  const lines = new LineCounter()
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
    const wrong = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
      field: at(pos[0]),
      message: words(kind)[code] ?? `is not valid YAML: ${message.split('\n')[0]!.slice(0, 200)}`,
    }))
    // `0144` is 100 there, and `<<` merges maps: whoever reads the file takes it for something else.
    if (document.directives?.yaml.version === '1.1')
      wrong.push({ field: at(0), message: 'must be YAML 1.2: remove the line %YAML 1.1' })
    if (wrong.length > 0) throw invalidFile(file, wrong, kind)
    if (document.contents === null) throw usageError(`${file} is empty`, kind.example)
    const found = findMistakes(document).map(({ message, offset }) => ({ field: at(offset), message }))
    if (found.length > 0) throw invalidFile(file, found, kind)
    keepPlus(document)
    const whole: unknown = document.toJS({ maxAliasCount: 100 })
    const invalid = (problems: readonly Problem[]): SvcError => {
      const issues = problems.map(({ path, message, field = z.core.toDotPath(path) }) => ({
        field: `${at(offsetAt(document, path))} ${field}`,
        message,
      }))
      return invalidFile(file, issues, kind)
    }
    return {
      value: whole,
      invalid,
      check: (schema, value = whole) => {
        const checked = schema.safeParse(value)
        if (checked.success) return checked.data
        throw invalid(placedIssuesOf(checked.error, schema, value))
      },
    }
  } catch (error) {
    // ReferenceError: too many aliases. RangeError: nested too deeply for the stack.
    if (error instanceof ReferenceError)
      throw usageError(`${file}: its aliases (*name) are too large`, 'write the values out')
    if (error instanceof RangeError) throw usageError(`${file} is nested too deeply`, kind.schema)
    throw error
  }
}
