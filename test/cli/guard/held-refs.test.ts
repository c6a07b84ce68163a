import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withTargets } from '../../../src/cli/guard/held-refs.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

// Which refs must be held because a held one leads to them, in a repository of git itself.

let repository: string
let remove: () => void
const git = (...args: string[]): string =>
  execFileSync('/usr/bin/git', ['-C', repository, ...args], { encoding: 'utf8' })

beforeEach(() => {
  const folder = temporaryFolder()
  remove = folder.remove
  repository = join(realpathSync(folder.path), 'app.git')
  execFileSync('/usr/bin/git', ['init', '-q', '--bare', '-b', 'trunk', repository])
})
afterEach(() => remove())

const at = (name: string): string => join(repository, 'refs', 'heads', name)
const held = (...refs: string[]): string[] =>
  withTargets(repository, refs, git('for-each-ref', '--format=%(refname) %(symref)').split('\n'))

test.each([
  ['a symbolic ref', () => git('symbolic-ref', 'refs/heads/main', 'refs/heads/next')],
  ['one without a space', () => writeFileSync(at('main'), 'ref:refs/heads/next\n')],
  ['one with another byte behind its name', () => writeFileSync(at('main'), 'ref: refs/heads/next\0junk')],
  ['a link with the name of a ref', () => symlinkSync('refs/heads/next', at('main'))],
  ['a link of files', () => symlinkSync('next', at('main'))],
  ['a link to a folder that is not there yet', () => symlinkSync('../heads/next', at('main'))],
  [
    'a link by another name of the repository',
    () => {
      symlinkSync(repository, `${repository}.other`)
      symlinkSync(`${repository}.other/refs/heads/next`, at('main'))
    },
  ],
])('holds what a held ref leads to by %s', (_, lead) => {
  lead()
  expect(held('refs/heads/main')).toEqual(['refs/heads/main', 'refs/heads/next'])
  expect(held('refs/heads/other')).toEqual(['refs/heads/other'])
})

test('holds a name outside of ASCII, and follows a link that is no name of a ref', () => {
  git('symbolic-ref', 'refs/heads/main', 'refs/heads/né')
  symlinkSync('refs//next', at('prod'))
  expect(held('refs/heads/main', 'refs/heads/prod').slice(2)).toEqual([
    'refs/heads/né',
    'refs/heads/refs/next',
  ])
})

test.each([
  ['by what is no name', () => writeFileSync(at('main'), 'ref: refs/heads/a b'), 'leads to refs/heads/a b'],
  ['by HEAD', () => git('symbolic-ref', 'refs/heads/main', 'HEAD'), 'leads to HEAD'],
  ['out of the repository', () => symlinkSync('/nowhere', at('main')), 'leads to ../'],
  ['by a linked folder', () => symlinkSync('tags', join(repository, 'refs', 'rel')), 'is a link to a folder'],
  [
    'by linked refs',
    () => {
      rmSync(join(repository, 'refs'), { recursive: true })
      mkdirSync(join(repository, 'elsewhere/heads'), { recursive: true })
      symlinkSync('elsewhere', join(repository, 'refs'))
    },
    'is a link to a folder',
  ],
  [
    'by a name that is not UTF-8',
    () => writeFileSync(Buffer.from(`${at('x')}\xe9`, 'latin1'), 'ref: refs/heads/next'),
    'is not UTF-8',
  ],
  ['by another format', () => mkdirSync(join(repository, 'reftable')), 'in another format'],
])('refuses a push where a ref may lead anywhere: %s', (_, lead, says) => {
  lead()
  expect(() => withTargets(repository, ['refs/heads/main'], [])).toThrow(says)
})
