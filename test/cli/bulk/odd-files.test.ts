import { readlinkSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  stage.put('u.csv', 'mobile,email,first_name,last_name\n+12025550101,a@b.cc,A,B\n')
  symlinkSync('/dev/null', stage.path('null'))
})
afterAll(() => stage.close())

describe('a device or a link where svc would write', () => {
  test.each([
    ['results of an import', ['user', 'import', 'u.csv', '--org', '1', '--results', 'null']],
    ['rows of an export', ['user', 'export', 'null', '--org', '1']],
  ])('stays what it is, and takes no %s', async (_, words) => {
    const { exit, err } = await stage.svc(words)
    expect(err).toContain('null is no regular file, and stays as it is')
    expect(exit).toBe(2)
    expect(readlinkSync(stage.path('null'))).toBe('/dev/null')
    expect(await stage.list('users')).toEqual([])
  })
})
