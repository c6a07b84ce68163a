import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createStore } from '../../../src/cli/context/profile-store.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { isWhole } from '../../whole.ts'

let root: string
let remove: () => void
let dir: string
let path: string
const open = () => createStore({ env: { SVC_CONFIG_DIR: dir }, cwd: root })
const mode = (of: string): number => lstatSync(of).mode & 0o777

beforeEach(() => {
  ;({ path: root, remove } = temporaryFolder())
  dir = join(root, 'config')
  path = join(dir, 'profiles.json')
})
afterEach(() => remove())

const save = (name = 'prod') =>
  open().update((file) => {
    file.profiles[name] = { org: 'acme' }
  })
const put = (text: string): void => {
  mkdirSync(dir, { mode: 0o700 })
  writeFileSync(path, text, { mode: 0o600 })
}

describe('the path of the file', () => {
  const cases: [Record<string, string>, string][] = [
    [{ SVC_CONFIG_DIR: '/a', XDG_CONFIG_HOME: '/b', HOME: '/c' }, '/a/profiles.json'],
    [{ SVC_CONFIG_DIR: 'a', HOME: '/c' }, '/cwd/a/profiles.json'],
    [{ XDG_CONFIG_HOME: '/b', HOME: '/c' }, '/b/svc/profiles.json'],
    [{ XDG_CONFIG_HOME: 'b', HOME: '/c' }, '/c/.config/svc/profiles.json'],
    [{ HOME: '/c' }, '/c/.config/svc/profiles.json'],
  ]
  for (const [env, expected] of cases)
    test(`${JSON.stringify(env)} is ${expected}`, () =>
      expect(createStore({ env, cwd: '/cwd' }).path).toBe(expected))
})

describe('writing', () => {
  for (const umask of [0o000, 0o077])
    test(`leaves 0600 in 0700 under umask ${umask.toString(8)}, twice`, async () => {
      const before = process.umask(umask)
      try {
        await save('a')
        expect([mode(dir), mode(path)]).toEqual([0o700, 0o600])
        chmodSync(dir, 0o755)
        await save('b')
        expect([mode(dir), mode(path)]).toEqual([0o700, 0o600])
      } finally {
        process.umask(before)
      }
      expect(Object.keys(open().read().profiles)).toEqual(['a', 'b'])
    })
  test('leaves only the file, and removes what a killed write left', async () => {
    put('{"version":1,"profiles":{}}')
    writeFileSync(join(dir, 'profiles.json.tmp-1700000000abcdef'), '{', { mode: 0o600 })
    writeFileSync(join(dir, 'profiles.json.mine'), 'kept')
    await save()
    expect(readdirSync(dir).sort()).toEqual(['profiles.json', 'profiles.json.mine'])
  })
  test('keeps unknown fields', async () => {
    put('{"version":1,"later":1,"profiles":{"x":{"later":2}}}')
    await save()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ later: 1, profiles: { x: { later: 2 } } })
  })
  test('changes nothing when the change fails', async () => {
    await save()
    const before = readFileSync(path, 'utf8')
    await expect(
      open().update((file) => {
        file.profiles = {}
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(dir)).toEqual(['profiles.json'])
  })
  test('takes over the lock of a dead process', async () => {
    put('{"version":1,"profiles":{}}')
    const holder = join(`${path}.lock`, 'elsewhere.1.x')
    mkdirSync(`${path}.lock`)
    writeFileSync(holder, '')
    const longAgo = Date.now() / 1000 - 60
    utimesSync(holder, longAgo, longAgo)
    await save()
    expect(readdirSync(dir)).toEqual(['profiles.json'])
  })
  test('starts over when its lock was taken, so that no other write is lost', async () => {
    let runs = 0
    await open().update((file) => {
      if (runs++ === 0) {
        rmSync(`${path}.lock`, { recursive: true })
        writeFileSync(path, '{"version":1,"profiles":{"other":{}}}', { mode: 0o600 })
      }
      file.profiles['mine'] = {}
    })
    expect(Object.keys(open().read().profiles)).toEqual(['other', 'mine'])
  })
})

describe('reading', () => {
  test('returns no profiles if there is no file', () => {
    expect(open().read()).toEqual({ version: 1, profiles: {} })
    expect(existsSync(dir)).toBe(false)
  })
  const refusals: [string, () => void, RegExp][] = [
    ['a file that others can read', () => chmodSync(path, 0o644), /^chmod 600 '.*profiles\.json'$/],
    ['a file that the group can write', () => chmodSync(path, 0o620), /^chmod 600/],
    ['a folder that others can write to', () => chmodSync(dir, 0o777), /^chmod 700 '.*config'$/],
    [
      'a symbolic link',
      () => {
        renameSync(path, join(root, 'elsewhere'))
        symlinkSync(join(root, 'elsewhere'), path)
      },
      /^cp --remove-destination .* && chmod 600/,
    ],
    [
      'a symbolic link to the folder',
      () => {
        renameSync(dir, join(root, 'elsewhere'))
        symlinkSync(join(root, 'elsewhere'), dir)
      },
      /^export SVC_CONFIG_DIR=/,
    ],
    [
      'a folder in place of the file',
      () => {
        rmSync(path)
        mkdirSync(path)
      },
      /^mv /,
    ],
    ['a truncated file', () => writeFileSync(path, '{"version":1,"pro'), /^Repair it/],
    ['an empty file', () => writeFileSync(path, ''), /^Repair it/],
  ]
  for (const [what, spoil, hint] of refusals)
    test(`rejects ${what}, for reading and writing, and says how to correct it`, async () => {
      put('{"version":1,"profiles":{}}')
      spoil()
      const refused = { code: 'profile_file', exit: 'failed', hint: expect.stringMatching(hint) }
      expect(() => open().read()).toThrow(expect.objectContaining(refused))
      await expect(save()).rejects.toMatchObject(refused)
    })
  const shapes: [string, string][] = [
    ['[]', 'must contain an object'],
    ['{"version":2,"profiles":{}}', '"version" must be 1'],
    ['{"version":1}', '"profiles" must be an object'],
    ['{"version":1,"current":1,"profiles":{}}', '"current" must be text'],
    ['{"version":1,"profiles":{"a":1}}', 'profile "a" must be an object'],
    ['{"version":1,"profiles":{"__proto__":{}}}', '"__proto__" is not a valid profile name'],
    ['{"version":1,"profiles":{"a":{"api_key":7}}}', '"api_key" of profile "a" must be text'],
    ['{"version":1,"profiles":{"a":{"credential_command":"x"}}}', 'must be a list of text'],
    ['{"version":1,"profiles":{"a":{"protected":"yes"}}}', 'must be true or false'],
  ]
  for (const [text, wrong] of shapes)
    test(`rejects ${text}`, () => {
      put(text)
      expect(() => open().read()).toThrow(wrong)
    })
})

describe('many processes', () => {
  let bundled: string
  let removeBundled: () => void
  beforeAll(async () => {
    ;({ path: bundled, remove: removeBundled } = temporaryFolder())
    const input = fileURLToPath(new URL('writer.ts', import.meta.url))
    const bundle = await rolldown({ input, platform: 'node', external: [/^node:/], logLevel: 'silent' })
    await bundle.write({ dir: bundled, format: 'cjs', entryFileNames: 'writer.cjs' })
    await bundle.close()
  })
  afterAll(() => removeBundled())

  const run = (...args: string[]): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(bundled, 'writer.cjs'), ...args], {
        env: { ...process.env, SVC_CONFIG_DIR: dir },
        stdio: 'ignore',
      })
      child.on('close', (code, signal) => resolve(signal ?? String(code)))
    })

  test('write at the same time without losing anything, even if one is killed while it holds the lock', async () => {
    const names = Array.from({ length: isWhole ? 20 : 8 }, (_, i) => `p${i}`)
    const ends = await Promise.all([run('dead', 'die'), ...names.map((name) => run(name))])
    expect(ends).toEqual(['SIGKILL', ...names.map(() => '0')])
    expect(Object.keys(open().read().profiles).sort()).toEqual([...names].sort())
    expect(readdirSync(dir)).toEqual(['profiles.json'])
  })
})

test('names the folder of the profiles if it cannot be written', async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  const dir = join(file, 'svc')
  const store = createStore({ env: { SVC_CONFIG_DIR: dir }, cwd: folder.path })
  await expect(store.update(() => {})).rejects.toMatchObject({
    code: 'file',
    message: `Cannot write the profiles in ${dir} (ENOTDIR)`,
    hint: 'Make the folder writable, or set SVC_CONFIG_DIR to another folder',
  })
})
