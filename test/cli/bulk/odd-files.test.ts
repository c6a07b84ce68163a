import { mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  stage.put('u.csv', 'mobile,email,first_name,last_name\n+12025550101,a@b.cc,A,B\n')
  symlinkSync('/dev/null', stage.path('null'))
})
afterAll(() => stage.close())

describe('a device or a link as the output file', () => {
  test.each([
    ['results of an import', ['user', 'import', 'u.csv', '--org', '1', '--results', 'null']],
    ['rows of an export', ['user', 'export', 'null', '--org', '1']],
  ])('is not replaced by the %s', async (_, words) => {
    const { exit, err } = await stage.svc(words)
    expect(err).toContain('null is not a regular file and is not overwritten')
    expect(exit).toBe(2)
    expect(readlinkSync(stage.path('null'))).toBe('/dev/null')
    expect(await stage.list('users')).toEqual([])
  })
})

test('no approval is requested for an import whose results cannot be written', async () => {
  mkdirSync(stage.path('config'), { mode: 0o700 })
  const profiles = { p: { require_approval: ['user import'], default_mobile: '+12025550109' } }
  const file = JSON.stringify({ version: 1, current: 'p', profiles })
  writeFileSync(stage.path('config/profiles.json'), file, { mode: 0o600 })
  const words = ['user', 'import', 'u.csv', '--org', '1', '--results']
  for (const [results, message] of [
    ['nowhere/x', 'cannot be written: ENOENT'],
    ['u.csv', 'is not a result file of an import'],
  ] as const) {
    const { exit, err } = await stage.svc([...words, results])
    expect(err).toContain(message)
    expect(exit).toBe(2)
  }
})
