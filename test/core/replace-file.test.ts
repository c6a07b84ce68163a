import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceFile } from '../../src/core/replace-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'a.json')
})
afterEach(() => folder.remove())

const changed = () => {
  throw new Error('changed meanwhile')
}

/** The file of a descriptor; '' if it was closed meanwhile. */
const openedBy = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

test('replaces a file as a whole, and keeps it private', () => {
  replaceFile(path, 'one')
  replaceFile(path, 'two')
  expect(readFileSync(path, 'utf8')).toBe('two')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder.path)).toEqual(['a.json'])
})

test('changes nothing and leaves nothing if the last check fails', () => {
  replaceFile(path, 'one')
  expect(() => replaceFile(path, 'two', { check: changed })).toThrow('changed meanwhile')
  expect(readFileSync(path, 'utf8')).toBe('one')
  expect(readdirSync(folder.path)).toEqual(['a.json'])
})

test.skipIf(process.platform !== 'linux')('leaves no file open if the last check fails', () => {
  expect(() => replaceFile(path, 'one', { check: changed })).toThrow('changed meanwhile')
  const open = readdirSync('/proc/self/fd').map(openedBy)
  expect(open.filter((file) => file.startsWith(folder.path))).toEqual([])
})

test('leaves nothing if the file cannot be put in place', () => {
  mkdirSync(path)
  expect(() => replaceFile(path, 'one')).toThrow('EISDIR')
  expect(readdirSync(folder.path)).toEqual(['a.json'])
})
