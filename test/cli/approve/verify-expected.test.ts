import canonicalize from 'canonicalize'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../src/core/ids.ts'
import { installFiles, offline, rule } from './receipt-files.ts'

installFiles()

describe('svc approve verify --rule', () => {
  const digest = sha256(canonicalize(rule)!)

  test.each(['rule.json', 'rule.yaml', 'destroy', digest])(
    'accepts what was given under %s',
    async (named) => {
      expect((await offline('ruled.json', '--rule', named)).exit).toBe(0)
    },
  )
  test.each(['other-rule.yaml', 'people', 'e'.repeat(64)])(
    'does not accept another rule: %s',
    async (named) => {
      const { exit, err } = await offline('ruled.json', '--rule', named)
      expect(err).toContain(`Not valid: expected rule (given under destroy (SHA-256 ${digest}), expected `)
      expect(exit).toBe(1)
    },
  )
  test('does not accept a receipt that no rule asked for', async () => {
    const { exit, err } = await offline('receipt.json', '--rule', 'destroy')
    expect(err).toContain('given under no rule, expected destroy')
    expect(exit).toBe(1)
  })
  test.each([
    ['bad-rule.yaml', /bad-rule\.yaml:3:1 whom/],
    ['bad-rule.yaml', /hint: svc rule get NAME -o yaml prints the format of the file/],
    ['org.yaml', /org\.yaml must contain one rule\nhint: svc rule get NAME -o yaml/],
    ['Not a rule', /--rule: there is no file "Not a rule"[^]*hint: svc rule get NAME -o yaml > rule\.yaml/],
  ])('says what is wrong with %s', async (named, message) => {
    const { exit, err } = await offline('ruled.json', '--rule', named)
    expect(err).toMatch(message)
    expect(exit).toBe(2)
  })
})

describe('svc approve verify --rows', () => {
  test('accepts the changes of which people signed the list, and no others', async () => {
    expect((await offline('list.json', '--rows', 'rows.json')).exit).toBe(0)
    const { exit, err } = await offline('list.json', '--rows', 'changed-rows.json')
    expect([exit, err]).toEqual([
      1,
      expect.stringMatching(/^Not valid: expected rows \(SHA-256 [0-9a-f]{64}, exp/),
    ])
    expect((await offline('receipt.json', '--rows', 'rows.json')).err).toContain(
      'expected rows (no list, exp',
    )
  })
  test.each(['some-rows.json', 'subject.json'])(
    'refuses a file that is not the whole list: %s',
    async (rows) => {
      expect(await offline('list.json', '--rows', rows)).toMatchObject({
        exit: 2,
        message: '--rows must contain every row of one approval, in their order',
        hint: 'svc approve rows apr_3mYk8wQZ -o json > rows.json',
      })
    },
  )
})
