import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFakeHosted, type FakeHosted } from '../../fake-hosted.ts'
import { isWhole } from '../../whole.ts'
import { openWorkspace, type Workspace } from './workspace.ts'

// A service that must not receive any request: every problem is reported before the first one.
let service: FakeHosted
let workspace: Workspace
beforeAll(async () => {
  service = await startFakeHosted()
  workspace = openWorkspace(service.baseUrl)
})
afterAll(async () => {
  await service.close()
  workspace.close()
})

const imports = async (file: string, content: string | Buffer) => {
  workspace.put(file, content)
  return workspace.svc(['user', 'import', file, '--org', '1'])
}
const header = 'mobile,email,first_name,last_name\n'
const user = (mobile: string): string => `${mobile},a@b.cc,A,B\n`

describe('a file of users', () => {
  test.each<[what: string, content: string | Buffer, message: string]>([
    ['nothing', '', 'u.csv contains no users'],
    ['only a header', header, 'u.csv contains no users'],
    ['UTF-16', Buffer.from(`\uFEFF${header}`, 'utf16le'), 'u.csv is not text, but probably UTF-16'],
    [
      'Latin-1',
      Buffer.from(`${header}+12025550101,a@b.cc,Ren\u00e9,B`, 'latin1'),
      'u.csv is not UTF-8, but probably Latin-1',
    ],
    ['a column that is not known', `mobil,email,first_name,last_name\n`, 'mobil: is not a column'],
    [
      'a column that nothing is near to',
      `shoe_size,${header}`,
      'The first line names the columns: mobile,country_code,email',
    ],
    ['two columns for one field', `Mobile,${header}`, 'u.csv has two columns for mobile'],
    [
      'a column that is not there',
      'mobile,email\n+12025550101,a@b.cc\n',
      'u.csv has no column first_name, last_name',
    ],
    [
      'a quote that stays open',
      `${header}${user('+12025550101')}+12025550102,"a@b.cc,A,B\n${user('+1')}`,
      'u.csv, row 3: a quote is not closed',
    ],
    [
      'a quote in a cell',
      `${header}+12025550101,a@b.cc,A"x,B\n`,
      'u.csv, row 2: there is a quote inside a cell',
    ],
    ['too few cells', `${header}+12025550101,a@b.cc\n`, 'row 2, cells: has 2 cells but the first line has 4'],
    ['no plus', `${header}${user('2025550101')}`, 'row 2, mobile: must start with + and the dialing prefix'],
    ['no number', `${header}${user('+1')}`, 'row 2, mobile: is not a valid phone number'],
    ['a rounded number', `${header}${user('1.20256E+10')}`, 'row 2, mobile: was rounded by a spreadsheet'],
    [
      'two prefixes',
      `country_code,${header}+49,${user('+12025550101')}`,
      'row 2, mobile: starts with +1, but country_code is +49',
    ],
    ['no address', `${header}+12025550101,nope,A,B\n`, 'row 2, email: must be an e-mail address'],
    [
      'no role',
      `role,${header}boss,${user('+12025550101')}`,
      'row 2, role: must be operator, admin or member',
    ],
    [
      'the same number in another spelling',
      `${header}${user('+12025550101')}${user('+1 (202) 555-0101')}`,
      'row 3, mobile: is the same as in row 2',
    ],
    [
      'a control character',
      `${header}+12025550101,a@b.cc,"A\u0007",B\n`,
      'row 2, first_name: must not contain control characters',
    ],
  ])('with %s is rejected with row and column', async (_, content, message) => {
    const { exit, err } = await imports('u.csv', content)
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
  })

  test('counts rows as a spreadsheet does, with line breaks in cells and empty lines', async () => {
    const { err } = await imports('u.csv', `${header}\n+12025550101,a@b.cc,"A\nA",B\n${user('x')}`)
    expect(err).toContain('row 3, first_name')
    expect(err).toContain('row 5, mobile')
  })

  test('lists up to 20 errors, and counts the others', async () => {
    const few = await imports('u.csv', header + user('x').repeat(20))
    expect(few.err.match(/row \d+, mobile/g)).toHaveLength(20)
    expect(few.err).not.toContain('more')
    const { err } = await imports('u.csv', header + user('x').repeat(5000))
    expect(err).toContain('5,000 errors; nothing was sent')
    expect(err.match(/row \d+, mobile/g)).toHaveLength(20)
    expect(err).toContain('and 4,980 more')
  })

  // Enough rows for several pieces of the file.
  const count = isWhole ? 200_000 : 10_000
  test(`of ${count} rows is checked completely, including the last one`, async () => {
    // Numbers of Denmark: to find the country of one with +1 takes as long as the rest.
    const all = Array.from({ length: count }, (_, i) => user(`+45${20_000_000 + i}`))
    all.push(user('+45 20 00 00 00'))
    const { exit, err } = await imports('u.csv', header + all.join(''))
    const same = `row ${count + 2}, mobile: is the same as in row 2`
    expect([exit, err]).toEqual([2, expect.stringContaining(same)])
  })
})

test.each([
  [['user', 'import'], 'Missing <file>'],
  [['user', 'import', 'none.csv', '--org', '1'], 'Cannot read the file none.csv: it does not exist'],
  [['user', 'import', '.', '--org', '1'], 'Cannot read the file .: it is a folder'],
  [['user', 'import', 'x.csv'], 'Missing --org'],
  [['user', 'import', '-', '--org', '1', '--key-file', '-'], 'cannot both be standard input'],
  [['user', 'import', 'x.csv', '--on-conflict', 'maybe'], '--on-conflict must be fail or skip, not "maybe"'],
  [['user', 'export', '--org', '1', '-o', 'yaml'], 'svc user export writes only CSV'],
])('svc %j is a usage error: %s', async (args, message) => {
  const { exit, err } = await workspace.svc(args)
  expect([exit, err]).toEqual([2, expect.stringContaining(message)])
})

test('none of these files reaches the service', () => {
  expect(service.seen).toEqual([])
})
