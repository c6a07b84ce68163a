import { expect, test } from 'vitest'
import { svc } from '../svc.ts'

// The end of the help of a command: a note, the examples, and the scope.

test('help ends with the scope of the key, after a note and one example', async () => {
  const { out } = await svc('approve request --help')
  expect(out.split('\n\n').slice(-3)).toEqual([
    'In a hook of an agent, end it with "|| exit 2": most hooks block on exit 2 only.',
    'Example:\n  svc approve request "Deploy 4.2 to production" --to +12025550101',
    'Scope of the key: ask\n',
  ])
})

test('the flags and examples of a command that extends the table come after those of the table', async () => {
  const { out } = await svc('user enroll --help')
  expect(out.indexOf('--software ')).toBeGreaterThan(out.indexOf('--dry-run '))
  expect(out.split('\n\n').slice(-2)).toEqual([
    'Examples:\n  svc user enroll 7 --org acme\n  svc user enroll 7 --org acme --software',
    'Scope of the key: devices\n',
  ])
})
