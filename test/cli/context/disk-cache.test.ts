import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDiskCache } from '../../../src/cli/context/disk-cache.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'

let folder: ReturnType<typeof temporaryFolder>
let now: number
beforeEach(() => {
  folder = temporaryFolder()
  now = Date.now()
})
afterEach(() => folder.remove())

const open = (...question: string[]) =>
  openDiskCache<string>(
    memoryIo({ env: { SVC_CONFIG_DIR: join(folder.path, 'config') }, now: () => new Date(now) }),
    question,
  )
const cache = (): string => join(folder.path, 'config', 'cache')

describe('the disk cache', () => {
  test('returns an entry with its age, for the same question only', () => {
    open('org', 'acme').keep('one')
    now += 5_000
    expect(open('org', 'acme').read()).toEqual({ value: 'one', age: 5_000 })
    expect(open('org', 'globex').read()).toBeUndefined()
  })

  test('ignores an entry from the future', () => {
    open('a').keep('one')
    now -= 1
    expect(open('a').read()).toBeUndefined()
  })

  test('is private, and its file names reveal no question', () => {
    open('+12025550101').keep('one')
    const [name] = readdirSync(cache())
    expect(statSync(join(cache(), name!)).mode & 0o777).toBe(0o600)
    expect(statSync(cache()).mode & 0o777).toBe(0o700)
    expect(name! + readFileSync(join(cache(), name!), 'utf8')).not.toContain('2025550101')
  })

  test('deletes an entry after a day, with the next write', () => {
    open('old').keep('one')
    open('young').keep('two')
    const before = readdirSync(cache()).find((name) =>
      readFileSync(join(cache(), name), 'utf8').includes('one'),
    )
    const dayAgo = now / 1000 - 24 * 60 * 60 - 1
    utimesSync(join(cache(), before!), dayAgo, dayAgo)
    open('new').keep('three')
    expect(readdirSync(cache())).toHaveLength(2)
    expect(open('old').read()).toBeUndefined()
    expect(open('young').read()?.value).toBe('two')
  })
})
