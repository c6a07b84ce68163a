import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditOf } from '../../service/fixtures.ts'
import { openRuleStage, type RuleStage } from './rule-stage.ts'

// An import into an organization with a rule that holds each row.

let stage: RuleStage
beforeEach(async () => {
  stage = await openRuleStage(['user create'])
})
afterEach(() => stage.close())

const header = 'mobile,email,first_name,last_name\n'
const rowsOf = (count: number): string =>
  Array.from({ length: count }, (_, i) => `+1202555${1300 + i},u${i}@b.cc,U,${i}\n`).join('')
const imports = (flags: string[] = [], signal?: AbortSignal) =>
  stage.svc(
    ['user', 'import', 'users.csv', '--org', '1', '-o', 'json', ...flags],
    signal === undefined ? {} : { signal },
  )

const created = async (): Promise<number> =>
  (await stage.list('users')).filter(({ first_name }) => first_name === 'U').length

describe('an import under a rule', () => {
  test('asks once for all rows, each of which its audit names', async () => {
    stage.put('users.csv', header + rowsOf(40))
    const running = imports()
    const id = await stage.answer()
    const { exit, out } = await running
    expect([exit, JSON.parse(out)]).toMatchObject([0, { created: 40, skipped: 0, failed: 0 }])
    expect(stage.requests()).toEqual([id])
    const named = (await auditOf(stage.service, 1)).flatMap(([, subject, changes]) =>
      subject.startsWith('user:') ? changes.filter((one) => one.startsWith('approval:')) : [],
    )
    expect(named.toSorted()).toEqual(Array.from({ length: 40 }, (_, i) => `approval:${id}:${i}`).toSorted())
  })

  test('creates nobody after a denial', async () => {
    stage.put('users.csv', header + rowsOf(3))
    const running = imports()
    await stage.answer('deny')
    expect((await running).exit).toBe(6)
    expect(await created()).toBe(0)
  })

  test('asks nobody while users of the file exist, and names their rows', async () => {
    stage.put('users.csv', `${header}${rowsOf(2)}+12025550101,ada@b.cc,Ada,L\n`)
    const { exit, err } = await imports()
    expect(exit).not.toBe(0)
    expect(JSON.parse(err)).toMatchObject({
      hint: 'Leave them out: --on-conflict skip',
      issues: [{ field: 'row 4', message: 'already exists' }],
    })
    expect(stage.requests()).toEqual([])
    const running = imports(['--on-conflict', 'skip'])
    await stage.answer()
    expect(JSON.parse((await running).out)).toMatchObject({ created: 2, skipped: 1, failed: 0 })
  })

  test('says why it asks again', async () => {
    stage.put('users.csv', header + rowsOf(2))
    const { service } = stage
    await service.call('POST', '/svc/v1/organizations/1/limits', { body: { users: 1 } })
    const running = imports()
    const id = await stage.answer()
    expect((await running).exit).not.toBe(0)
    stage.put('users.csv', header + rowsOf(3))
    const again = imports(['--on-conflict', 'skip'])
    await stage.answer('deny')
    expect((await again).err).toContain(`Asking again: the list is not the one of ${id}`)
  })

  test('goes on under the same approval after an interruption', async () => {
    stage.put('users.csv', header + rowsOf(60))
    const abort = new AbortController()
    const running = imports([], abort.signal)
    const id = await stage.answer()
    await expect.poll(created).toBeGreaterThan(0)
    abort.abort()
    expect((await running).exit).toBe(130)
    const before = await created()
    expect(before).toBeLessThan(60)
    const { exit, out } = await imports(['--on-conflict', 'skip'])
    expect([exit, JSON.parse(out)]).toMatchObject([0, { created: 60 - before, skipped: before }])
    expect(stage.requests()).toEqual([id])
  })
})
