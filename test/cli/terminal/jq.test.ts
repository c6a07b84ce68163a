import { describe, expect, test } from 'vitest'
import { checkFilter, prepareFilter, runJq } from '../../../src/cli/terminal/jq.ts'

const filtered = async (value: unknown, filter: string): Promise<string> =>
  (await runJq(value, filter, { onTerminal: false })).text

describe('jq', () => {
  test.each([
    [
      '.[] | select(.age > 30) | .name',
      [
        { name: 'Ada', age: 36 },
        { name: 'Al', age: 7 },
      ],
      'Ada\n',
    ],
    ['group_by(.r) | map({(.[0].r): length}) | add', [{ r: 'a' }, { r: 'b' }, { r: 'a' }], '{"a":2,"b":1}\n'],
    ['[.[] | capture("(?<n>\\\\d+)").n | tonumber] | add', ['a1', 'b22'], '23\n'],
    [
      'reduce .[] as [$k, $v] ({}; .[$k] += $v)',
      [
        ['x', 1],
        ['x', 2],
      ],
      '{"x":3}\n',
    ],
    ['def twice: . * 2; map(twice)', [1, 2], '[2,4]\n'],
    ['.[0] | fromdate | todate', ['2026-01-01T00:00:00Z'], '2026-01-01T00:00:00Z\n'],
    ['@csv', ['a"b', 1], '"a""b",1\n'],
    ['.. | numbers', { a: [1, { b: 2 }] }, '1\n2\n'],
    ['limit(2; repeat(.))', 1, '1\n1\n'],
    ['try error("x") catch .', null, 'x\n'],
    ['-.a', { a: 1 }, '-1\n'],
    ['.a # and a comment', { a: 1 }, '1\n'],
    ['empty', 1, ''],
  ])('runs %s', async (filter, value, expected) => {
    expect(await filtered(value, filter)).toBe(expected)
  })

  test('keeps text outside the basic plane, as a value and as a key', async () => {
    expect(await filtered({ '🦆': ['𝒳', '日本'] }, '."🦆"[]')).toBe('𝒳\n日本\n')
    expect(await filtered('𝒳y', 'explode | length')).toBe('2\n')
    expect(await filtered(['🦆'.repeat(50_000)], '.[0] | length')).toBe('50000\n')
  })

  test('replaces unpaired surrogates, which jq cannot read', async () => {
    expect(await filtered(['\ud800x', '\\ud800'], '.[]')).toBe('\ufffdx\n\\ud800\n')
  })

  test('reads and writes text that is longer than a block', async () => {
    const long = Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: `Ünï ${i}` }))
    expect(JSON.parse(await filtered(long, '.'))).toEqual(long)
    const one = 'x'.repeat(3_000_000)
    expect(await filtered(one, '.')).toBe(`${one}\n`)
  })

  test('passes on messages of the filter', async () => {
    expect(await runJq([1], '.[0] | debug', { onTerminal: false })).toEqual({
      text: '1\n',
      diagnostics: '["DEBUG:",1]',
    })
  })

  test('fails clearly when jq runs out of memory, and can be used again', async () => {
    await expect(filtered('x', '. * 300000000 | length')).rejects.toMatchObject({
      exit: 'failed',
      message: expect.stringMatching(/^--jq ran out of memory on \d+ MiB of JSON$/),
    })
    expect(await filtered([1], 'length')).toBe('1\n')
  })

  test('explains that there is one input when a filter reads another', async () => {
    await expect(filtered('x', 'input')).rejects.toMatchObject({
      message: '--jq "input" failed: there is no more input; the answer is the only one',
    })
  })

  test.each([
    'halt_error',
    'error',
    '.key | tonumber',
    '.key | debug',
    '.key | stderr',
    '.key | input_line_number.x',
  ])('does not repeat a secret that %s writes to standard error', async (filter) => {
    const key = `svc_org_1a2b3c4d_${'k'.repeat(32)}`
    const run = { onTerminal: false, changed: true, secret: true }
    const diagnostics = await runJq({ key }, filter, run).then(
      ({ diagnostics }) => diagnostics,
      (error: Error) => `${error.message} ${JSON.stringify(error)}`,
    )
    expect(diagnostics).toMatch(/not shown.* it may contain a secret/)
    expect(diagnostics).not.toContain('svc_org')
  })

  test('stops an endless filter after a change, and can be used again', async () => {
    await expect(runJq({}, 'def f: f; f', { onTerminal: false, changed: true })).rejects.toMatchObject({
      message: '--jq "def f: f; f" did not finish within 5 s',
    })
    expect(await filtered([1], 'length')).toBe('1\n')
  })

  test('reports the error of a filter', async () => {
    await expect(filtered('x', '.a.b')).rejects.toMatchObject({
      exit: 'failed',
      message: expect.stringMatching(/^--jq "\.a\.b" failed: Cannot index string with /),
    })
  })
})

describe('the check of a filter', () => {
  test.each(['.', '.a.b', 'error("x")', 'repeat(.)', '[range(1e12)]', 'input', 'halt_error'])(
    'accepts %s without running it',
    async (filter) => {
      await expect(checkFilter(filter)).resolves.toBeUndefined()
    },
  )

  // These pass the check without jq, which is loaded while the service answers.
  test.each(['.', 'keys', '.[]', '.[0].id', '.a.b[].c[12][]', '. | length', '.if.and.__loc__ | .[] | .not'])(
    'accepts the path %s, which jq can compile',
    async (filter) => {
      await expect(checkFilter(filter)).resolves.toBeUndefined()
      expect((await prepareFilter(filter)).exitCode).toBe(0)
    },
  )

  test.each([
    ['.[', /^--jq "\.\[" is not a valid filter: syntax error/],
    ['', /is not a valid filter: /],
    ['nosuch', /nosuch\/0 is not defined/],
    ['..a', /syntax error/],
    ['.[] | .a.', /syntax error/],
    ['.[] | keys.1a', /syntax error/],
    ['$x', /\$x is not defined/],
    ['include "m"; .', /module not found/],
    ['--version', /is not a valid filter/],
  ])('rejects %s', async (filter, message) => {
    await expect(checkFilter(filter)).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(message),
    })
  })
})
