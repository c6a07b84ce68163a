import { describe, expect, test } from 'vitest'
import { shown } from './show.ts'

const masked = new Set(['mobile', 'email', 'key', 'code'])
const person = {
  mobile: '+12025550101',
  email: 'ada@acme.example',
  key: `svc_org_1a2b3c4d_${'s'.repeat(43)}`,
  code: '123456',
  name: 'Ada',
}

describe('in a table on a terminal', () => {
  test('phones, e-mail addresses and secrets are masked', async () => {
    const { tty } = await shown(person, {}, { shape: { masked } })
    expect(tty).toBe(
      [
        'mobile  +1••••••0101',
        'email   a•••@acme.example',
        'key     svc_org_1a2b3c4d_••••',
        'code    ••••',
        'name    Ada\n',
      ].join('\n'),
    )
  })
  test('they are masked at any depth, and in lists', async () => {
    const deep = { admin: { mobile: '+491701234567' }, keys: [{ key: 'plain' }], email: ['a@b.example'] }
    const { tty } = await shown(deep, {}, { shape: { masked } })
    expect(tty).toBe('admin.mobile  +49••••••4567\nkeys[0].key   ••••\nemail         a•••@b.example\n')
  })
  const phones: [unknown, string][] = [
    ['+358401234567', '+358•••••4567'],
    ['2025550101', '••••••0101'],
    [2025550101, '••••••0101'],
    ['1234', '••••'],
    ['••••••••0101', '••••••••0101'],
    ['•1234567', '••••'],
    ['', '-'],
    [null, '-'],
  ]
  for (const [mobile, expected] of phones)
    test(`the phone ${JSON.stringify(mobile)} is ${expected}`, async () => {
      const { tty } = await shown([{ mobile }], {}, { shape: { masked } })
      expect(tty.split('\n')[1]).toBe(expected)
    })
  test('--reveal shows them', async () => {
    const { tty } = await shown(person, { reveal: true }, { shape: { masked } })
    expect(tty).toContain('+12025550101')
    expect(tty).toContain(person.key)
  })
})

for (const output of [undefined, 'table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'])
  test(`piped output is complete with -o ${output}`, async () => {
    const { piped } = await shown([person], { output }, { shape: { masked } })
    for (const value of Object.values(person)) expect(piped).toContain(value)
  })
for (const output of ['json', 'ndjson', 'yaml', 'csv', 'tsv'])
  test(`${output} is complete on a terminal too`, async () => {
    const { tty } = await shown([person], { output }, { shape: { masked } })
    expect(tty).toContain(person.key)
  })
