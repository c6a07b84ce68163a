import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type JSONPath,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import { SvcError } from '../../core/errors.ts'
import { replaceFile } from '../../core/replace-file.ts'
import { safeLine } from '../../core/safe-text.ts'

// The configuration file of another program: only what svc owns in it changes. Comments, order and layout stay.

export type ForeignConfig = {
  path: string
  /** What the file contains; undefined if it does not exist. */
  text: string | undefined
  /** The value at a path; undefined if it is absent. */
  at(path: JSONPath): unknown
  /** Throws if the value at a path is there and is not an object. */
  requireObject(path: JSONPath): void
  /** What the file contains, or `fresh` as JSON if that is nothing. */
  textOr(fresh: object): string
  /** An error that names the line and column of a path, or of the closest parent. */
  wrong(path: JSONPath, problem: string): SvcError
}

const damaged = (path: string, where: string, problem: string): SvcError =>
  new SvcError('failed', 'damaged_file', `${safeLine(path)}${where} ${problem}; nothing was written`, {
    hint: 'Correct the file, then repeat the command',
  })

const unusable = (path: string, error: unknown): SvcError => {
  const { code } = error as NodeJS.ErrnoException
  const denied = code === 'EACCES' || code === 'EPERM'
  return new SvcError('failed', 'file', `Cannot use ${safeLine(path)} (${code ?? 'unknown error'})`, {
    hint: denied ? 'Run the command as the owner of the file: sudo for --managed' : 'Check the folder',
  })
}

const position = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split('\n')
  return `:${before.length}:${before.at(-1)!.length + 1}`
}

/** `InvalidSymbol` as `invalid symbol`. */
const inWords = (code: string): string =>
  code.replaceAll(/(?<=[a-z])[A-Z]|^[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim()

/** The second of two members with one name: programs differ in which of them they use. */
const repeated = (node: Node): Node | undefined => {
  const seen = new Set<unknown>()
  for (const member of node.children ?? []) {
    const [name] = member.children ?? []
    if (name && seen.has(name.value)) return name
    seen.add(name?.value)
  }
  return undefined
}

const parse = (path: string, text: string): Node => {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false })
  const [first] = errors
  if (first)
    throw damaged(
      path,
      position(text, first.offset),
      `is not valid JSON (${inWords(printParseErrorCode(first.error))})`,
    )
  if (root?.type !== 'object') throw damaged(path, ':1:1', 'is not a JSON object')
  const hooks = findNodeAtLocation(root, ['hooks'])
  for (const node of [root, ...(hooks?.type === 'object' ? [hooks] : [])]) {
    const second = repeated(node)
    if (second) throw damaged(path, position(text, second.offset), `repeats ${JSON.stringify(second.value)}`)
  }
  return root
}

/** The text of a configuration file; undefined if it does not exist. */
export const readForeignText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(path, error)
  }
}

/** Reads a configuration file in JSON. Throws if it is damaged. */
export const readForeignConfig = (path: string): ForeignConfig => {
  const text = readForeignText(path)
  const content = text === undefined || text.trim() === '' ? '{}' : text
  const root = parse(path, content)
  const nodeAt = (at: JSONPath): Node => findNodeAtLocation(root, at) ?? nodeAt(at.slice(0, -1))
  const wrong: ForeignConfig['wrong'] = (at, problem) =>
    damaged(path, position(content, nodeAt(at).offset), problem)
  return {
    path,
    text,
    at: (at) => {
      const node = findNodeAtLocation(root, at)
      // Its objects have no prototype.
      return node && JSON.parse(JSON.stringify(getNodeValue(node)))
    },
    requireObject: (at) => {
      const node = findNodeAtLocation(root, at)
      if (node && node.type !== 'object') throw wrong(at, 'must be an object')
    },
    textOr: (fresh) => (text?.trim() ? text : `${JSON.stringify(fresh, null, 2)}\n`),
    wrong,
  }
}

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** The white space before the first token of the line at this offset; undefined if another token stands before it. */
const indentAt = (text: string, offset: number): string | undefined =>
  /(?:^|\n)([ \t]*)$/.exec(text.slice(0, offset))?.[1]

/** A value as JSON, on lines of its own below `indent`. */
const block = (text: string, value: unknown, indent: string): string => {
  const [, unit = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  return JSON.stringify(value, null, unit).replaceAll('\n', eolOf(text) + indent)
}

const splice = (text: string, at: number, length: number, by: string): string =>
  text.slice(0, at) + by + text.slice(at + length)

/** Replaces the value of a node; no other text changes. */
const replaced = (text: string, { offset, length }: Node, value: unknown): string => {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  const [indent = ''] = /^[ \t]*/.exec(line) ?? []
  return splice(text, offset, length, block(text, value, indent))
}

/** Adds a last member to an object, or a last element to a list; no other text changes. */
const appended = (
  text: string,
  { offset, length, children = [] }: Node,
  name: string,
  value: unknown,
): string => {
  const label = name === '' ? '' : `${JSON.stringify(name)}: `
  const last = children.at(-1)
  if (last) {
    const indent = indentAt(text, last.offset)
    const next =
      indent === undefined
        ? `, ${label}${JSON.stringify(value)}`
        : `,${eolOf(text)}${indent}${label}${block(text, value, indent)}`
    return splice(text, last.offset + last.length, 0, next)
  }
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  const [outer = ''] = /^[ \t]*/.exec(line) ?? []
  const [, unit = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  const indent = outer + unit
  const inside = text.slice(offset + 1, offset + length - 1)
  const end = inside.includes('\n') ? '' : eolOf(text) + outer
  return splice(text, offset + 1, 0, eolOf(text) + indent + label + block(text, value, indent) + end)
}

/**
 * The text with a value at a path, and with the parents of it that are missing. The element -1 of a list is a new one at its end.
 */
export const withValue = (text: string, at: JSONPath, value: unknown): string => {
  const root = parseTree(text, [], { allowTrailingComma: true })!
  const [parents, last] = [at.slice(0, -1), at.at(-1)]
  const isMember = typeof last === 'string'
  const parent = findNodeAtLocation(root, parents)
  if (!parent) return withValue(text, parents, isMember ? { [last]: value } : [value])
  const node = last === -1 ? undefined : findNodeAtLocation(root, at)
  return node ? replaced(text, node, value) : appended(text, parent, isMember ? last : '', value)
}

/** The text without the member or element at a path, and without the comma that belongs to it. */
export const without = (text: string, at: JSONPath): string => {
  const found = findNodeAtLocation(parseTree(text, [], { allowTrailingComma: true })!, at)!
  const node = found.parent?.type === 'property' ? found.parent : found
  const siblings = node.parent!.children!
  const index = siblings.indexOf(node)
  const [before, after] = [siblings[index - 1], siblings[index + 1]]
  const start = after || !before ? node.offset : before.offset + before.length
  const end = after ? after.offset : node.offset + node.length
  return splice(text, start, end - start, '')
}

/** Replaces the file as a whole, or not at all. Keeps its mode, and a link to it. */
export const writeForeignConfig = (
  { path, text: before }: Pick<ForeignConfig, 'path' | 'text'>,
  text: string,
  mode: number,
): void => {
  try {
    mkdirSync(dirname(path), { recursive: true })
    const target = before === undefined ? path : realpathSync(path)
    replaceFile(target, text, {
      mode: before === undefined ? mode : statSync(target).mode & 0o777,
      check: () => {
        if ((before === undefined ? undefined : readFileSync(target, 'utf8')) === before) return
        throw new SvcError(
          'failed',
          'file_changed',
          `${safeLine(path)} changed meanwhile; nothing was written`,
          { hint: 'Repeat the command' },
        )
      },
    })
  } catch (error) {
    throw error instanceof SvcError ? error : unusable(path, error)
  }
}

/** Deletes a file that contains nothing any more. */
export const deleteForeignConfig = ({ path }: ForeignConfig): void => {
  try {
    rmSync(realpathSync(path))
  } catch (error) {
    throw unusable(path, error)
  }
}
