import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findCommand } from '../../../src/cli/approve/child.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const file = (name: string, mode: number): string => {
  const path = join(folder.path, name)
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}
for (const dir of ['first', 'second']) mkdirSync(join(folder.path, dir))
mkdirSync(join(folder.path, 'first', 'both'))
const second = file('second/both', 0o755)
const local = file('deploy.sh', 0o755)
file('notes.txt', 0o644)
const io = {
  cwd: folder.path,
  env: { PATH: [join(folder.path, 'first'), join(folder.path, 'second')].join(':') },
}

test('a name is looked up in PATH, and folders are skipped', () => {
  expect(findCommand('both', io)).toBe(second)
})
test('a path is relative to the current folder', () => {
  expect(findCommand('./deploy.sh', io)).toBe(local)
})
test.each([
  ['deploy.sh', 'noCommand'],
  ['./nothing', 'noCommand'],
  ['./first', 'noCommand'],
  ['', 'noCommand'],
  ['./notes.txt', 'notExecutable'],
])('%j is rejected as %s', (name, exit) => {
  expect(() => findCommand(name, io)).toThrow(expect.objectContaining({ exit }))
})

test.each([
  ['rollback.sh', 'No request was sent. For a file in this folder: ./name'],
  ['./rollback.sh', 'No request was sent.'],
])('the hint for %j is: %s', (name, hint) => {
  expect(() => findCommand(name, io)).toThrow(expect.objectContaining({ hint }))
})
