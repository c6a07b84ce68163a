import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bindCommand, removeBound } from '../../../src/cli/approve/bound-command.ts'
import { childEnvironment } from '../../../src/cli/approve/child.ts'
import { factsOf } from '../../../src/rules/facts.ts'
import { matcherOf } from '../../../src/rules/match.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

let folder: ReturnType<typeof temporaryFolder>
let count = 0
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => {
  removeBound(join(folder.path, `own-${count}`))
  folder.remove()
})

const write = (name: string, text: string, mode = 0o755): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const bind = (argv: string[], names: string[] = [], file = join(folder.path, argv[0]!)) => {
  const own = join(folder.path, `own-${++count}`)
  mkdirSync(own)
  const environment = childEnvironment({ PATH: '/bin', SVC_API_KEY: 'secret' })
  return bindCommand(
    { argv, file, bind: names, environment, folder: own },
    { cwd: folder.path, here: folder.path },
  )
}
const dataOf = ({ subject }: ReturnType<typeof bind>) => subject.data as unknown as Record<string, unknown>

describe('the command that an approval covers', () => {
  test('has one hash for the program and one for each file in the arguments', () => {
    write('run.sh', 'one')
    const plan = write('plan.json', '{}')
    const bound = bind(['run.sh', 'plan.json', './plan.json', 'no-file', '-x', '', 'y'.repeat(5_000)])
    expect(dataOf(bound)).toMatchObject({
      executable: { path: join(folder.path, 'run.sh'), sha256: hash('one') },
      files: [{ path: plan, sha256: hash('{}') }],
      environment: { passed: ['PATH'], set: {} },
    })
    expect(bound.file).toBe(join(folder.path, 'run.sh'))
    expect(bound.args).toEqual(['plan.json', './plan.json', 'no-file', '-x', '', 'y'.repeat(5_000)])
  })

  test('resolves links to the program that runs', () => {
    write('real.sh', 'real')
    symlinkSync('real.sh', join(folder.path, 'link.sh'))
    const bound = bind(['link.sh'])
    expect(dataOf(bound)).toMatchObject({
      argv: ['link.sh'],
      executable: { path: realpathSync(join(folder.path, 'real.sh')), sha256: hash('real') },
    })
    expect(bound.file).toBe(join(folder.path, 'link.sh'))
    expect(() => bound.recheck()).not.toThrow()
    writeFileSync(join(folder.path, 'real.sh'), 'other')
    expect(() => bound.recheck()).toThrow(/link\.sh is not what was approved/)
  })

  test('takes nothing from a pipe in the place of a file', () => {
    write('run.sh', 'one')
    const bound = bind(['run.sh'])
    rmSync(join(folder.path, 'run.sh'))
    execFileSync('/usr/bin/mkfifo', [join(folder.path, 'run.sh')])
    expect(() => bound.recheck()).toThrow(/run\.sh is not what was approved/)
  })

  test('binds what svc itself has written into a new file', () => {
    write('run.sh', 'one')
    const own = join(folder.path, 'receipt.json')
    const bound = bind(['run.sh', 'receipt.json'])
    write('receipt.json', 'a receipt')
    expect(() => bound.recheck()).toThrow(/receipt\.json is not what was approved/)
    bound.bindOwn(own, 'a receipt')
    expect(() => bound.recheck()).not.toThrow()
    write('other.json', 'a receipt', 0o600)
    renameSync(join(folder.path, 'other.json'), own)
    expect(() => bound.recheck()).not.toThrow()
    write('receipt.json', 'another')
    expect(() => bound.recheck()).toThrow(/receipt\.json is not what was approved/)
  })

  test('notices a link that leads to the same content under another name', () => {
    write('real.sh', 'real')
    write('other.sh', 'real')
    const link = join(folder.path, 'link.sh')
    symlinkSync('real.sh', link)
    const bound = bind(['link.sh'])
    rmSync(link)
    symlinkSync('other.sh', link)
    expect(() => bound.recheck()).toThrow(/link\.sh is not what was approved/)
  })

  test.each([
    ['./d', 'deploy.sh'],
    ['./b', 'bash'],
  ])('is held by a rule under the name that a link hides: %s -> %s', (name, target) => {
    write(target, '#!/bin/sh')
    symlinkSync(target, join(folder.path, name))
    const { subject } = bind([name, 'prod'])
    expect(matcherOf(factsOf(subject))({ match: { type: 'command', argv: ['deploy.sh', 'prod'] } }, [])).toBe(
      true,
    )
  })

  test('runs copies of the files of --bind, which only their owner can read', () => {
    const script = write('run.sh', 'good')
    write('data', 'good', 0o644)
    const bound = bind(['run.sh', 'data', 'x'], ['run.sh', 'data'])
    writeFileSync(script, 'evil')
    writeFileSync(join(folder.path, 'data'), 'evil')
    expect(() => bound.recheck()).not.toThrow()
    expect([readFileSync(bound.file, 'utf8'), readFileSync(bound.args[0]!, 'utf8')]).toEqual(['good', 'good'])
    expect(statSync(bound.file).mode & 0o777).toBe(0o500)
    expect(statSync(bound.args[0]!).mode & 0o777).toBe(0o400)
    expect(bound.args[1]).toBe('x')
    expect(dataOf(bound)).toMatchObject({ executable: { path: script, sha256: hash('good') } })
    expect(dataOf(bound)['files']).toHaveLength(1)
  })

  test('covers a file of --bind that is not an argument, and detects a change of it', () => {
    write('run.sh', 'x')
    write('config', 'a')
    const bound = bind(['run.sh'], ['config'])
    expect(dataOf(bound)['files']).toHaveLength(1)
    expect(() => bound.recheck()).not.toThrow()
    write('config', 'b')
    expect(() => bound.recheck()).toThrow(/config is not what was approved/)
  })

  test('covers the files that a program opens through a linked folder', () => {
    write('run.sh', 'x')
    write('plan', 'shown')
    mkdirSync(join(folder.path, 'elsewhere', 'inner'), { recursive: true })
    write('elsewhere/plan', 'opened')
    symlinkSync('elsewhere/inner', join(folder.path, 'link'))
    expect(dataOf(bind(['run.sh', 'link/../plan']))['files']).toEqual([
      { path: `${folder.path}/link/../plan`, sha256: hash('opened') },
    ])
  })

  test('lists each argument whose content is not covered once', () => {
    write('run.sh', 'x')
    const place = join(folder.path, 'place')
    mkdirSync(place)
    expect(bind(['run.sh', 'place', './place', '', '-x', '/dev/null', '/dev/zero', 'none']).warnings).toEqual(
      [
        `The content of ${place} is not bound: it is a folder. To bind a file in it: --bind FILE`,
        'The content of /dev/zero is not bound: it is not a regular file',
      ],
    )
  })

  test.each([
    ['appears', 'none', (path: string) => writeFileSync(path, '')],
    ['is behind a link that had no target', 'dangling', () => write('target', '')],
    ['replaces a directory', 'place', (path: string) => (rmdirSync(path), writeFileSync(path, ''))],
    [
      'replaces a directory with another',
      'place',
      (path: string) => renameSync(join(folder.path, 'other'), path),
    ],
  ])('detects after the approval what %s', (_, name, change) => {
    write('run.sh', 'x')
    for (const one of ['place', 'other']) mkdirSync(join(folder.path, one))
    symlinkSync('target', join(folder.path, 'dangling'))
    const bound = bind(['run.sh', 'none', 'place', 'dangling'])
    expect(() => bound.recheck()).not.toThrow()
    change(join(folder.path, name))
    expect(() => bound.recheck()).toThrow(`${join(folder.path, name)} is not what was approved`)
  })

  test('is rejected when a file of --bind does not exist, and when it is too large to approve', () => {
    write('run.sh', 'x')
    expect(() => bind(['run.sh'], ['nothing'])).toThrow('--bind: nothing is not a file')
    expect(() => bind(['run.sh'], ['.'])).toThrow('--bind: . is not a file')
    expect(() => bind(['run.sh', 'y'.repeat(40_000)])).toThrow(
      /cannot be approved as it is: data must have at most 32768 bytes/,
    )
  })
})

describe('the environment of a command', () => {
  const env = {
    PATH: '/bin',
    LC_ALL: 'C',
    LD_PRELOAD: 'x',
    NODE_OPTIONS: 'y',
    SVC_ORG: 'acme',
    MCP_AUTH_TOKEN: 'z',
    STAGE: 'a',
  }

  test('consists of an allowlist and what was added by name or value', () => {
    expect(childEnvironment(env)).toEqual({
      env: { PATH: '/bin', LC_ALL: 'C' },
      passed: ['LC_ALL', 'PATH'],
      set: {},
    })
    expect(childEnvironment(env, ['STAGE', 'PATH=/usr/bin', 'EMPTY=', 'A=b=c'])).toEqual({
      env: { LC_ALL: 'C', STAGE: 'a', PATH: '/usr/bin', EMPTY: '', A: 'b=c' },
      passed: ['LC_ALL', 'STAGE'],
      set: { PATH: '/usr/bin', EMPTY: '', A: 'b=c' },
    })
  })

  test.each([
    ['SVC_API_KEY', /SVC_API_KEY is a credential/],
    ['svc_master_key=x', /svc_master_key is a credential/],
    ['MCP_AUTH_TOKEN', /MCP_AUTH_TOKEN is a credential/],
    ['NOT_SET', /NOT_SET is not set/],
    ['=x', /must be NAME or NAME=VALUE/],
    ['', /must be NAME or NAME=VALUE/],
  ])('rejects --env %s', (added, message) => {
    expect(() => childEnvironment(env, [added])).toThrow(message)
  })
})
