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
  const { results: _, ...counts } = JSON.parse(out) as Record<string, unknown>
  return counts
}
const names = async (): Promise<unknown[]> =>
  (await stage.list('users')).map(({ mobile_e164, first_name }) => `${mobile_e164} ${first_name}`).toSorted()

describe('svc user import', () => {
  test('creates a user for each row, with the two parts of a number that the specification shows', async () => {
    rows(ada, '"+49 (151) 12345678",eva@acme.example,"Eva ""E""",=Sum')
    const { exit, out } = await imports()
    expect([exit, summary(out)]).toEqual([0, { created: 2, updated: 0, skipped: 0, failed: 0 }])
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

  test('saves the result of each row in a private file', async () => {
    rows(ada, bob)
    await imports()
    expect(stage.mode('users.csv.results.ndjson')).toBe('600')
    const [start, ...ends] = stage.lines('users.csv.results.ndjson')
    expect(start).toMatchObject({ event: 'start', import: 'users', org_id: 1 })
    expect(ends.at(-1)).toEqual({ event: 'end', created: 2, updated: 0, skipped: 0, failed: 0 })
    expect(ends.slice(0, -1).toSorted((a, b) => a.row! - b.row!)).toEqual([
      { row: 2, mobile: '+12025550101', status: 'created', id: expect.stringMatching(/^\d+$/) },
      { row: 3, mobile: '+12025550102', status: 'created', id: expect.stringMatching(/^\d+$/) },
    ])
  })

  test.each([
    [
      'a byte order mark, CRLF, semicolons, other words',
      'u.csv',
      `\uFEFFPhone;E-Mail;First Name;Surname\r\n+12025550101;a@b.cc;Ada;L\r\n\r\n`,
    ],
    [
      'a plus and zeros that a spreadsheet took',
      'u.csv',
      'country,tel,mail,firstname,lastname\n1,2025550101,a@b.cc,Ada,L\n',
    ],
    [
      'a dialing prefix with zeros',
      'u.csv',
      'country_code,mobile,email,first_name,last_name\n001,(202) 555-0101,a@b.cc,Ada,L\n,,,,\n',
    ],
    ['tabs', 'u.tsv', 'mobile\temail\tfirst_name\tlast_name\n+12025550101\ta@b.cc\tAda\tL'],
    [
      'NDJSON',
      'u.ndjson',
      '{"mobile":"+12025550101","email":"a@b.cc","firstName":"Ada","last_name":"L"}\r\n\r\n',
    ],
    [
      'NDJSON with a number',
      'u.jsonl',
      '{"mobile":2025550101,"country_code":1,"email":"a@b.cc","first_name":"Ada","last_name":"L","role":null}',
    ],
    ['JSON', 'u.json', '[{"mobile":"+12025550101","email":"a@b.cc","first_name":"Ada","last_name":"L"}]'],
    [
      'JSON under another name',
      'u.txt',
      ' [{"mobile":"+12025550101","email":"a@b.cc","first_name":"Ada","last_name":"L"}]',
    ],
  ])('reads %s', async (_, file, text) => {
    stage.put(file, text)
    const { exit, err } = await stage.svc(['user', 'import', file, '--org', '1'])
    expect([exit, err, await names()]).toEqual([0, '', ['+12025550101 Ada']])
  })

  test.each([
    `${header}${ada}\n`,
    `[${JSON.stringify({ mobile: '+12025550101', email: 'a@b.cc', first_name: 'Ada', last_name: 'L' })}]`,
  ])('detects the format of standard input: %j', async (stdin) => {
    const { exit } = await stage.svc(['user', 'import', '-', '--org', 'acme', '--results', 'r.ndjson'], {
      stdin,
    })
    expect([exit, await names()]).toEqual([0, ['+12025550101 Ada']])
    expect(stage.lines('r.ndjson')).toHaveLength(3)
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
    expect([exit, summary(out)]).toEqual([10, { created: 1, updated: 0, skipped: 0, failed: 1 }])
    expect(err).toContain('row 2: This user is already in the organization\nhint: --on-conflict skip')
    expect(stage.lines('users.csv.results.ndjson')).toContainEqual({
      row: 2,
      mobile: '+12025550101',
      status: 'failed',
      error: expect.objectContaining({ code: 'user_exists' }),
    })
  })

  test('is skipped with --on-conflict skip', async () => {
    const { exit, out } = await imports('--on-conflict', 'skip')
    expect([exit, summary(out)]).toEqual([0, { created: 1, updated: 0, skipped: 1, failed: 0 }])
    expect(await names()).toEqual(['+12025550101 Ada', '+12025550102 Bob'])
  })

  test('is updated with --on-conflict update, only if something differs', async () => {
    expect(summary((await imports('--on-conflict', 'update')).out)).toEqual({
      created: 1,
      updated: 1,
      skipped: 0,
      failed: 0,
    })
    expect(await names()).toEqual(['+12025550101 Adah', '+12025550102 Bob'])
    expect(summary((await imports('--on-conflict', 'update')).out)).toEqual({
      created: 0,
      updated: 0,
      skipped: 2,
      failed: 0,
    })
  })

  test('makes svc exit 1 if every row failed', async () => {
    rows(ada)
    expect((await imports()).exit).toBe(1)
  })
})

describe('svc user import --skip-invalid', () => {
  const eve = '+12025550103,eve,Eve,E'

  test('sends the valid rows, reports the others everywhere, and exits with 10', async () => {
    rows(ada, eve, bob, ada)
    const { exit, out, err } = await imports('--skip-invalid')
    expect([exit, summary(out)]).toEqual([10, { created: 2, updated: 0, skipped: 0, failed: 0, invalid: 2 }])
    expect(await names()).toEqual(['+12025550101 Ada', '+12025550102 Bob'])
    expect(err).toMatch(
      /^row 3, email: must be .*\nrow 5, mobile: is the same as in row 2\n2 invalid rows were skipped\.$/m,
    )
    const lines = stage.lines('users.csv.results.ndjson')
    expect(lines.filter(({ status }) => status === 'invalid')).toMatchObject([
      { row: 3, error: { code: 'invalid_row', issues: [{ field: 'email' }] } },
      { row: 5, error: { code: 'invalid_row', issues: [{ field: 'mobile' }] } },
    ])
    expect(lines.at(-1)).toMatchObject({ event: 'end', created: 2, invalid: 2 })
  })

  test('continues with the corrected rows', async () => {
    rows(ada, eve)
    await imports('--skip-invalid')
    rows(ada, '+12025550103,eve@acme.example,Eve,E')
    const { exit, out } = await imports('--resume')
    expect([exit, summary(out)]).toEqual([0, { created: 2, updated: 0, skipped: 0, failed: 0 }])
    expect(await names()).toEqual(['+12025550101 Ada', '+12025550103 Eve'])
  })

  test('sends nothing if no row is valid, and without the flag says how to send the valid rows', async () => {
    rows(eve)
    const none = await imports('--skip-invalid')
    expect([none.exit, JSON.parse(none.err).message]).toEqual([2, 'users.csv: 1 error; nothing was sent'])
    rows(ada, eve, bob)
    const { exit, err } = await imports()
    expect([exit, JSON.parse(err).hint]).toEqual([
      2,
      'svc user import users.csv --org acme -o json --skip-invalid sends the other 2',
    ])
    const dry = await imports('--skip-invalid', '--dry-run')
    expect([dry.exit, dry.err]).toEqual([
      10,
      expect.stringContaining('This is the first of 2 rows; 1 invalid row was skipped.'),
    ])
    expect(await names()).toEqual([])
  })
})

test('equal errors of the service are counted, not repeated', async () => {
  const many = Array.from(
    { length: 60 },
    (_, i) => `+120255501${String(i).padStart(2, '0')},u${i}@b.cc,U,${i}`,
  )
  rows(...many)
  await imports()
  const { exit, err } = await imports('--concurrency', '1')
  expect(exit).toBe(1)
  expect(err.match(/^row \d+: /gm)).toHaveLength(3)
  expect(err).toMatch(/^row 4: This user is .* \(and 57 more like this\)$/m)
  expect(err).toContain('users.csv.results.ndjson contains all of them')
})
