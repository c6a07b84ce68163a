import { mkdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  parseTree,
  printParseErrorCode,
  type JSONPath,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import { failure, SvcError } from '../../core/errors.ts'
import { replaceFile } from '../../core/replace-file.ts'
import { safeLine } from '../../core/safe-text.ts'

// The configuration file of another program: only what svc owns in it changes. Comments and order stay, and the layout of
// what is not beside it.

export const damaged = (path: string, where: string, problem: string): SvcError =>
  failure(
    'damaged_file',
    `${safeLine(path)}${where} ${problem}; nothing was written`,
    'Correct the file, then repeat the command',
  )

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
export const readForeignConfig = (path: string) => {
  const text = readForeignText(path)
  const content = text === undefined || text.trim() === '' ? '{}' : text
  const root = parse(path, content)
  const nodeAt = (at: JSONPath): Node => findNodeAtLocation(root, at) ?? nodeAt(at.slice(0, -1))
  /** An error that names the line and column of a path, or of the closest parent. */
  const wrong = (at: JSONPath, problem: string): SvcError =>
    damaged(path, position(content, nodeAt(at).offset), problem)
  return {
    path,
    /** What the file contains; undefined if it does not exist. */
    text,
    /** The value at a path; undefined if it is absent. */
    at: (at: JSONPath): unknown => {
      const node = findNodeAtLocation(root, at)
      // Its objects have no prototype.
      return node && JSON.parse(JSON.stringify(getNodeValue(node)))
    },
    /** Throws if the value at a path is there and is not an object. */
    requireObject: (at: JSONPath): void => {
      const node = findNodeAtLocation(root, at)
      if (node && node.type !== 'object') throw wrong(at, 'must be an object')
    },
    /** What the file contains, or `fresh` as JSON if that is nothing. */
    textOr: (fresh: object): string => (text?.trim() ? text : `${JSON.stringify(fresh, null, 2)}\n`),
    wrong,
  }
}

export type ForeignConfig = ReturnType<typeof readForeignConfig>

/** The text with a value at a path, and with the parents of it that are missing. The element -1 of a list is a new one at its end. */
export const withValue = (text: string, at: JSONPath, value: unknown): string => {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  return applyEdits(text, modify(text, at, value, { formattingOptions }))
}

/** The text without the member or element at a path. */
export const without = (text: string, at: JSONPath): string => withValue(text, at, undefined)

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
        const what = `${safeLine(path)} changed meanwhile; nothing was written`
        throw failure('file_changed', what, 'Repeat the command')
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
