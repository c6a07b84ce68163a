import { describe, expect, test } from 'vitest'
import { installFiles, ours, verify } from './receipt-files.ts'

installFiles()

test('svc approve verify names --jwks if the service does not answer', async () => {
  const { err } = await verify([...ours, 'receipt.json', '--base-url', 'http://127.0.0.1:9'])
  expect(err).toContain('Nothing answers at 127.0.0.1:9')
  expect(err).toMatch(/hint: .*; offline: --jwks FILE$/m)
})

describe('what is typed for svc approve verify', () => {
  test('requires the organization, and the issuer unless the key file contains it', async () => {
    const keys = ['--jwks', 'keys.json']
    const noOrg = await verify(['receipt.json', ...keys])
    expect(noOrg).toMatchObject({ exit: 2, err: expect.stringContaining('--org is required') })
    const noIssuer = await verify(['receipt.json', '--org', 'acme', ...keys])
    expect(noIssuer).toMatchObject({ exit: 2, err: expect.stringContaining('--issuer is required') })
    const named = await verify(['receipt.json', '--org', 'acme', '--jwks', 'named-keys.json'])
    expect(named.exit).toBe(0)
    expect((await verify(['dev.json', '--allow-dev', ...keys])).exit).toBe(0)
    expect((await verify(['receipt.json', '--allow-dev', '--org', 'globex', ...keys])).exit).toBe(1)
  })
  test('repeats what was typed in the hint for a missing flag, with the organization of the receipt', async () => {
    const typed = ['globex.jws', '--jwks', 'keys.json', '--action', 'Deploy 4.2']
    const line = 'svc approve verify globex.jws --jwks keys.json'
    const action = "--action 'Deploy 4.2'"
    expect((await verify(typed)).hint).toBe(`${line} ${action} --org globex`)
    expect((await verify(['globex.jws', '--jwks', 'other-keys.json'])).hint).toMatch(/ --org acme$/)
    const noIssuer = await verify([...typed, '--org', 'globex'])
    expect(noIssuer.hint).toBe(`${line} --org globex ${action} --issuer https://svc.example.com`)
  })
  test.each([
    [[], /Missing <receipt>/],
    [['nothing.json'], /Cannot read the file nothing\.json: it does not exist/],
    [['receipt.json', '--status', 'maybe'], /--status must be approved or denied/],
    [['receipt.json', '--max-age', '15 minutes'], /--max-age/],
    [['receipt.json', '--separation', 'loose'], /--separation must be standard or strict/],
    [['receipt.json', '--digest', 'xyz'], /--digest must be a SHA-256/],
    [['receipt.json', '--digest', 'a'.repeat(64), '--subject', 'subject.json'], /Use only one of/],
    [['receipt.json', '--subject', 'nothing.json'], /cannot read the file nothing\.json/],
    [['receipt.json', '--subject', 'bare.jws'], /bare\.jws is not valid JSON/],
    [['receipt.json', '--subject', 'bad-subject.json'], /digest does not match data/],
    [['receipt.json', '--subject', 'receipt.json'], /type must be one of/],
    [['-', '--subject', '-'], /Only one of/],
    [['receipt.json', '--factors', 'face'], /--factors/],
    [['receipt.json', '--jwks', 'bare.jws'], /bare\.jws is not valid JSON/],
    [['receipt.json', '--jwks-url', 'http://host.example/jwks.json'], /must use https/],
    [['receipt.json', '--jwks-url', 'file:///etc/passwd'], /not a valid URL/],
  ])('reports what is wrong with %j', async (args, message) => {
    const withKeys = args.includes('--jwks') || args.includes('--jwks-url') ? [] : ['--jwks', 'keys.json']
    const { exit, err } = await verify([...ours, ...withKeys, ...args])
    expect(err).toMatch(message)
    expect(exit).toBe(2)
  })
  test('reads standard input', async () => {
    expect((await verify(['-', ...ours, '--jwks', 'keys.json'], 'nothing that is a receipt')).exit).toBe(1)
  })
})
