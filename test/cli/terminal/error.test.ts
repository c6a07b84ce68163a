import { describe, expect, test } from 'vitest'
import { SvcError } from '../../../src/core/errors.ts'
import type { Globals } from '../../../src/cli/terminal/io.ts'
import { showError } from '../../../src/cli/terminal/error.ts'
import { memoryIo } from '../memory-io.ts'

const showing = (error: unknown, globals: Globals = {}): { exit: number; err: string; out: string } => {
  const io = memoryIo()
  return { exit: showError(error, { io, globals }), err: io.err(), out: io.out() }
}
const refused = new SvcError('refused', 'invalid', 'The service refused it', {
  detail: 'Two fields are wrong.',
  hint: 'svc org create --name "Acme"',
  issues: [
    { field: '--name', message: 'must not be empty' },
    { field: 'slug', message: 'is taken' },
  ],
  request_id: 'req_1',
})

const about = (message: string) =>
  showing(new SvcError('refused', 'invalid', message, { issues: [{ field: 'slug', message: 'is taken' }] }))
    .err

describe('an error', () => {
  test('is printed in words on standard error, one line each', () => {
    expect(showing(refused)).toEqual({
      exit: 3,
      out: '',
      err:
        'svc: The service refused it\n  --name: must not be empty\n  slug: is taken\nTwo fields are wrong.\n' +
        'hint: svc org create --name "Acme"\nrequest id: req_1\n',
    })
  })
  test('does not repeat its only issue, and prints one that the message does not contain', () => {
    expect(about('slug is taken')).toBe('svc: slug is taken\n')
    expect(about('Refused')).toBe('svc: Refused\n  slug: is taken\n')
  })
  test('prints the problem of each field, even if several are equal', () => {
    const issues = ['--a', '--b'].map((field) => ({ field, message: 'must be a price' }))
    const { err } = showing(new SvcError('usage', 'invalid_field', '--a must be a price', { issues }))
    expect(err).toBe('svc: --a must be a price\n  --b: must be a price\n')
  })
  test('has one separator after a position in a file', () => {
    const issues = [
      { field: 'org.yaml:2:1', message: 'is not valid YAML' },
      { field: 'org.yaml:3:1 name', message: 'is missing' },
    ]
    const { err } = showing(new SvcError('usage', 'invalid_file', 'org.yaml: 2 errors', { issues }))
    expect(err).toBe(
      'svc: org.yaml: 2 errors\n  org.yaml:2:1 is not valid YAML\n  org.yaml:3:1 name: is missing\n',
    )
  })
  for (const globals of [{ output: 'json' }, { output: 'ndjson' }, { output: 'yaml' }, { jq: '.' }])
    test(`is one line of JSON with ${JSON.stringify(globals)}`, () => {
      const { err } = showing(refused, globals)
      expect(err.trimEnd()).not.toContain('\n')
      expect(JSON.parse(err)).toEqual({
        code: 'invalid',
        message: 'The service refused it',
        detail: 'Two fields are wrong.',
        hint: 'svc org create --name "Acme"',
        issues: refused.issues,
        request_id: 'req_1',
      })
    })
  for (const output of ['table', 'csv', 'tsv', 'id', 'nonsense'])
    test(`is in words with -o ${output}`, () => expect(showing(refused, { output }).err).toMatch(/^svc: /))
  test('includes a stack only with --debug', () => {
    const bug = new TypeError('x is not a function')
    expect(showing(bug).err).toBe(
      'svc: Something went wrong inside svc: x is not a function\nhint: Run it again with --debug and report the output\n',
    )
    expect(showing(bug, { debug: true }).err).toMatch(/\n {4}at .*error\.test\.ts/)
    expect(showing(refused).err).not.toContain(' at ')
  })
  test('says how to install what npm left out', () => {
    const text = "Cannot find module '@libsql/linux-x64-gnu'\nRequire stack:\n- /usr/lib/a.js"
    const missing = Object.assign(new Error(text), { code: 'MODULE_NOT_FOUND' })
    expect(showing(missing).err).toBe(
      "svc: A part of svc is not installed: Cannot find module '@libsql/linux-x64-gnu'\n" +
        'hint: Install svc again, without --omit=optional\n',
    )
  })
  test('of an unknown kind is internal and exits 1', () => {
    for (const thrown of [new Error('x'), 'x', undefined, { a: 1 }]) {
      const { exit, err } = showing(thrown, { output: 'json' })
      expect(exit).toBe(1)
      expect(JSON.parse(err)).toMatchObject({ code: 'internal' })
    }
  })
  test('of the operating system is explained', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
    expect(showing(full)).toMatchObject({ exit: 1, err: 'svc: ENOSPC: no space left on device, write\n' })
  })
  test('from an abort is an interruption', () => {
    const io = memoryIo({ signal: AbortSignal.abort() })
    expect(showError(new Error('whatever'), { io, globals: {} })).toBe(130)
  })
})
