import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
})
afterAll(() => stage.close())
beforeEach(async () => {
  await stage.service.storage.write(
    async (db) => {
      await db.deleteFrom('memberships').execute()
    },
    { org: 0 },
  )
})

const header = 'mobile,email,first_name,last_name\n'
const rows = (...lines: string[]): void => stage.put('users.csv', `${header}${lines.join('\n')}\n`)
const ada = '+12025550101,ada@acme.example,Ada,Lovelace'
const bob = '+12025550102,bob@acme.example,Bob,Stone'
const imports = (...flags: string[]) =>
  stage.svc(['user', 'import', 'users.csv', '--org', 'acme', '-o', 'json', ...flags])
const summary = (out: string) => {
  const { failures: _, ...counts } = JSON.parse(out) as Record<string, unknown>
  return counts
}
const names = async (): Promise<unknown[]> =>
  (await stage.list('users')).map(({ mobile_e164, first_name }) => `${mobile_e164} ${first_name}`).toSorted()

describe('svc user import', () => {
  test('creates a user for each row, with the two parts of a number that the specification shows', async () => {
    rows(ada, '"+49 (151) 12345678",eva@acme.example,"Eva ""E""",=Sum')
    const { exit, out } = await imports()
    expect([exit, summary(out)]).toEqual([0, { created: 2, skipped: 0, failed: 0 }])
    expect(await stage.list('users')).toMatchObject([
      { mobile: '2025550101', country_code: '+1', email: 'ada@acme.example', role: 'member' },
      { mobile: '15112345678', country_code: '+49', first_name: 'Eva "E"', last_name: '=Sum' },
    ])
  })

  test('sends the full number when its second part would be read as another number', async () => {
    rows('+494979529444,eva@acme.example,Eva,E')
    const { out } = await imports('--dry-run')
    expect(JSON.parse(out).body).toMatchObject({ country_code: '+49', mobile: '+494979529444' })
    await imports()
    expect(await stage.list('users')).toMatchObject([{ mobile: '+494979529444' }])
  })

  test.each([
    [
      'a byte order mark, CRLF, semicolons, capitals',
      'u.csv',
      `\uFEFFMobile;Email;First Name;Last-Name\r\n+12025550101;a@b.cc;Ada;L\r\n\r\n`,
    ],
    [
      'a plus and zeros that a spreadsheet took',
      'u.csv',
      'country_code,mobile,email,first_name,last_name\n1,2025550101,a@b.cc,Ada,L\n',
    ],
    [
      'a dialing prefix with zeros',
      'u.csv',
      'country_code,mobile,email,first_name,last_name\n001,(202) 555-0101,a@b.cc,Ada,L\n,,,,\n',
    ],
    ['tabs', 'u.tsv', 'mobile\temail\tfirst_name\tlast_name\n+12025550101\ta@b.cc\tAda\tL'],
  ])('reads %s', async (_, file, text) => {
    stage.put(file, text)
    const { exit, err } = await stage.svc(['user', 'import', file, '--org', '1'])
    expect([exit, err, await names()]).toEqual([0, '', ['+12025550101 Ada']])
  })

  test('reads standard input', async () => {
    const { exit } = await stage.svc(['user', 'import', '-', '--org', 'acme'], {
      stdin: `${header}${ada}\n`,
    })
    expect([exit, await names()]).toEqual([0, ['+12025550101 Ada']])
  })

  test('shows the first request with --dry-run and sends nothing', async () => {
    rows(ada, bob)
    const { exit, out, err } = await imports('--dry-run')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      rows: 2,
      method: 'POST',
      body: { country_code: '+1', mobile: '2025550101' },
    })
    expect(err).toContain('the first of 2 rows')
    expect(await names()).toEqual([])
  })
})

describe('a row whose user already exists', () => {
  beforeEach(async () => {
    rows(ada)
    await imports()
    rows(ada.replace('Ada', 'Adah'), bob)
  })

  test('fails by default, and the exit code is 10', async () => {
    const { exit, out, err } = await imports()
    expect([exit, summary(out)]).toEqual([10, { created: 1, skipped: 0, failed: 1 }])
    expect(err).toContain('row 2: This user is already in the organization\nhint: --on-conflict skip')
    expect(JSON.parse(out).failures).toEqual([
      { row: 2, mobile: '+12025550101', error: expect.objectContaining({ code: 'user_exists' }) },
    ])
  })

  test('is skipped with --on-conflict skip', async () => {
    const { exit, out } = await imports('--on-conflict', 'skip')
    expect([exit, summary(out)]).toEqual([0, { created: 1, skipped: 1, failed: 0 }])
    expect(await names()).toEqual(['+12025550101 Ada', '+12025550102 Bob'])
  })

  test('makes svc exit 1 if every row failed', async () => {
    rows(ada)
    expect((await imports()).exit).toBe(1)
  })
})

test('the first errors of the service are printed, and the others counted', async () => {
  const many = Array.from(
    { length: 60 },
    (_, i) => `+120255501${String(i).padStart(2, '0')},u${i}@b.cc,U,${i}`,
  )
  rows(...many)
  await imports()
  const { exit, err, out } = await imports()
  expect(exit).toBe(1)
  expect(err.match(/^row \d+: /gm)).toHaveLength(20)
  expect(err).toContain('and 40 more; -o json prints all of them')
  expect(JSON.parse(out).failures).toHaveLength(60)
})
