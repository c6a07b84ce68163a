import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
  const person = (country_code: string, mobile: string, first_name: string, last_name: string) =>
    stage.service.call('POST', '/organization/1/create/user', {
      body: { country_code, mobile, first_name, last_name, email: 'a@b.cc' },
    })
  await person('+1', '2025550101', '=cmd()', `'+1`)
  await person('+49', '15112345678', '-', '@"quoted", ;')
  await person('+39', '0612345678', 'Zo\u00eb \u{1f600}', `O'Neil`)
})
afterAll(() => stage.close())

const exported = async (org: string): Promise<string> =>
  (await stage.svc(['user', 'export', '--org', org])).out
const sorted = (text: string): string[] => text.split('\n').toSorted()
const nothing = { created: 0, skipped: 0, failed: 0, failures: [] }

describe('svc user export', () => {
  test('writes what can be imported again without a change', async () => {
    const out = await exported('acme')
    const words = ['user', 'import', '-', '--org', 'acme', '--on-conflict', 'skip', '-o', 'json']
    const again = await stage.svc(words, { stdin: out })
    expect(JSON.parse(again.out)).toEqual({ ...nothing, skipped: 3 })
    expect(await exported('acme')).toBe(out)
  })

  test('writes what can be imported into another organization with the same content', async () => {
    stage.put('users.csv', await exported('acme'))
    expect((await stage.svc(['user', 'import', 'users.csv', '--org', 'beta'])).exit).toBe(0)
    expect(sorted(await exported('beta'))).toEqual(sorted(await exported('acme')))
  })

  test('prevents formulas in a spreadsheet, and keeps phone numbers', async () => {
    expect((await exported('acme')).split('\n').slice(0, 3)).toEqual([
      'mobile,country_code,email,first_name,last_name,role',
      `+12025550101,+1,a@b.cc,'=cmd(),''+1,member`,
      `+4915112345678,+49,a@b.cc,'-,"'@""quoted"", ;",member`,
    ])
  })

  test('leaves out pending and rejected users, because an import would activate them', async () => {
    const [first] = await stage.list('users')
    await stage.service.call('POST', `/organization/1/user/${String(first!['id'])}/pending`)
    const out = await exported('acme')
    expect(out.trimEnd().split('\n')).toHaveLength(3)
    expect(out).not.toContain('+12025550101')
  })
})
