import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { isHeld, shadows } from '../../../src/cli/guard/held-refs.ts'
import { createGit, describeUpdate, parseUpdates } from '../../../src/cli/guard/push.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

const [none, one, two] = ['0', '1', '2'].map((digit) => digit.repeat(40)) as [string, string, string]

describe('the input of a pre-receive hook', () => {
  test('is one update a line', () => {
    expect(parseUpdates(`${none} ${one} refs/heads/main\n${one} ${two} refs/tags/v1\n`)).toEqual([
      { before: none, after: one, ref: 'refs/heads/main' },
      { before: one, after: two, ref: 'refs/tags/v1' },
    ])
  })

  test.each([
    '',
    '\n',
    `${none} ${one} refs/heads/main`,
    `${none} ${one} main\n`,
    `${none}  ${one} refs/heads/main\n`,
    `${none} ${one}${one} refs/heads/main\n`,
    `${none} ${one.slice(1)} refs/heads/main\n`,
    `${none} ${'2'.repeat(64)} refs/heads/main\n`,
    `${none} ${one} refs/heads/main\n\n`,
    `${none} ${one} refs/heads/a b\n`,
    `${none} ${one} refs/tags/v\ufffd\n`,
    `${none.toUpperCase()} ${one.replace('1', 'G')} refs/heads/main\n`,
  ])('is refused in another form: %j', (text) => {
    expect(() => parseUpdates(text)).toThrow('the push is refused')
  })

  test('is refused if it changes a ref twice, because git carries out the first and people read the last', () => {
    expect(() => parseUpdates(`${none} ${one} refs/heads/main\n${none} ${two} refs/heads/main\n`)).toThrow(
      'The push changes refs/heads/main twice',
    )
  })
})

test.each([
  ['refs/heads/main', ['refs/heads/main'], true],
  ['refs/heads/main2', ['refs/heads/main'], false],
  ['refs/heads/MAIN', ['refs/heads/main'], false],
  ['refs/tags/v1', ['refs/heads/main', 'refs/tags/*'], true],
  ['refs/tags/a/b', ['refs/tags/*'], true],
  ['refs/tagsx/v1', ['refs/tags/*'], false],
  ['refs/heads/release/1', ['refs/heads/release/*'], true],
  ['refs/heads/release', ['refs/heads/release/*'], false],
  ['refs/notes/x', ['refs/*'], true],
  ['refs/replace/' + one, ['refs/heads/main'], true],
])('%s is held by %j: %s', (ref, patterns, held) => {
  expect(isHeld(ref, patterns)).toBe(held)
})

test.each([
  ['refs/heads/v1', ['refs/tags/*'], true],
  ['refs/heads/v2', ['refs/tags/*'], false],
  ['refs/tags/main', ['refs/heads/main'], true],
  ['refs/main', ['refs/heads/main'], true],
  ['refs/remotes/main/HEAD', ['refs/heads/main'], true],
  ['refs/heads/side', ['refs/heads/main'], false],
])('%s shadows what %j holds: %s', (ref, patterns, expected) => {
  expect(shadows(ref, patterns, (one) => one === 'refs/tags/v1')).toBe(expected)
})

describe('what an approver reads about a ref', () => {
  const { path, remove } = temporaryFolder()
  afterAll(remove)
  const repository = join(realpathSync(path), '.git')
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@acme.example', ...args], {
      cwd: path,
      encoding: 'utf8',
    }).trim()
  const commit = (message: string): string => {
    git('commit', '-q', '--allow-empty', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q', '-b', 'main')
  const first = commit('Start')
  const second = commit('More')
  git('checkout', '-q', '-b', 'side', first)
  const side = commit('Other')
  git('tag', '-a', '-m', 'Release', 'v1', second)
  const tag = git('rev-parse', 'v1')
  const tree = git('rev-parse', 'HEAD^{tree}')

  test.each([
    ['a new ref', none, second, `create ${second}, newest: More`],
    ['an update', first, second, `${first} to ${second}, 1 commit, newest: More`],
    ['an older commit', second, first, `FORCED ${second} to ${first}, drops 1 commit, newest: Start`],
    ['another branch', second, side, `FORCED ${second} to ${side}, drops 1 commit, newest: Other`],
    ['a deletion', second, none, `DELETE, was ${second}`],
    ['an annotated tag', none, tag, `create ${tag}, newest: More`],
    ['a tree', none, tree, `create ${tree}`],
    ['a tree in place of a commit', first, tree, `REPLACE ${first} by ${tree}`],
  ])('names %s', (_, before, after, words) => {
    expect(describeUpdate({ before, after, ref: 'refs/heads/main' }, createGit(repository, {}))).toBe(words)
  })

  test('is not written for objects that are missing', () => {
    const update = { before: first, after: two, ref: 'refs/heads/main' }
    expect(() => describeUpdate(update, createGit(repository, {}))).toThrow('the push is refused')
  })

  test('ignores replaced objects', () => {
    git('replace', side, second)
    try {
      const update = { before: none, after: side, ref: 'refs/heads/main' }
      expect(describeUpdate(update, createGit(repository, {}))).toBe(`create ${side}, newest: Other`)
    } finally {
      git('replace', '-d', side)
    }
  })

  test('is read from the quarantine of this repository alone', () => {
    const elsewhere = join(path, 'tmp_objdir-incoming-x')
    const inside = join(repository, 'objects', 'tmp_objdir-incoming-x')
    for (const folder of [elsewhere, inside]) mkdirSync(folder)
    expect(() => createGit(repository, { GIT_QUARANTINE_PATH: elsewhere })).toThrow('the push is refused')
    const update = { before: none, after: first, ref: 'refs/heads/main' }
    expect(describeUpdate(update, createGit(repository, { GIT_QUARANTINE_PATH: inside }))).toContain('Start')
  })
})
