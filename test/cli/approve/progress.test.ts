import { describe, expect, test } from 'vitest'
import { createProgress, timeLeft } from '../../../src/cli/approve/progress.ts'
import { SvcError } from '../../../src/core/errors.ts'
import { memoryIo } from '../memory-io.ts'
import { record } from './records.ts'

const clock = { now: () => Date.parse(record().expires_at) - 59_200 }
const lost = new SvcError('unreachable', 'connection_cut', 'The connection ended')

const progressOf = (options: { tty?: boolean; columns?: number; reveal?: boolean }, request = record()) => {
  const io = memoryIo(options)
  const progress = createProgress({ io, globals: options }, clock)
  progress.requested(request)
  progress.waiting(request)
  progress.lost(request, lost)
  progress.reconnected(request)
  progress.decided({ ...request, status: 'denied', detail: 'the approver did not expect this request' })
  progress.end()
  return io
}

/** A line of one person. */
const said = (name: string, answer: 'pending' | 'approved' | 'denied', n: number) => ({
  group: null,
  need: 1,
  rules: [],
  people: [{ user_id: String(n), name, mobile: '+1••••••0101', answer, answered_at: null }],
})
const ofTwo = (ada: 'pending' | 'approved', grace: 'pending' | 'denied') =>
  record({ lines: [said('Ada', ada, 1), said('Grace\u001b[2J', grace, 2)] })

describe('the progress of a wait', () => {
  test('is plain lines when standard error is not a terminal', () => {
    const io = progressOf({}, record({ number: '42' }))
    expect(io.out()).toBe('')
    expect(io.err()).toBe(
      [
        'Asked +1••••••0101 (apr_1): Deploy 4.2',
        'Number to type on the phone: 42',
        'Waiting, 1:00 left',
        'The connection ended; still waiting for +1••••••0101 (apr_1), 1:00 left',
        'Reconnected; +1••••••0101 (apr_1) is pending',
        'Denied by +1••••••0101 (apr_1): the approver did not expect this request',
        '',
      ].join('\n'),
    )
  })
  test('names who was not notified', () => {
    const line = said('Ada\u001b[2J', 'pending', 1)
    const quiet = { ...line, people: [{ ...line.people[0]!, quiet: true as const }] }
    expect(progressOf({}, record({ lines: [quiet, said('Grace', 'pending', 2)] })).err()).toContain(
      '\nNot notified (away, over a limit, or muted this requester): Ada\\u{001b}[2J\n',
    )
  })
  test('names the person, and says who withdrew the request', () => {
    const io = memoryIo({})
    const progress = createProgress({ io, globals: {} }, clock)
    const request = record({ lines: [said('Ada\u001b[2J', 'pending', 1)] })
    progress.requested(request)
    progress.decided({ ...request, status: 'expired', detail: 'withdrawn by the requester' })
    expect(io.err().split('\n')).toEqual([
      'Asked Ada\\u{001b}[2J (apr_1): Deploy 4.2',
      'Waiting, 1:00 left',
      'Withdrawn by the requester, asked Ada\\u{001b}[2J (apr_1)',
      '',
    ])
  })
  test('says which rules hold the request', () => {
    const io = memoryIo({})
    createProgress({ io, globals: {} }, clock).requested(record({ rules: ['destroy', 'people\u202e'] }))
    expect(io.err()).toContain(
      'Asked +1••••••0101 (apr_1) because of rules destroy, people\\u{202e}: Deploy 4.2\n',
    )
  })
  test('quotes the note of a denial as the words of the approver', () => {
    const io = memoryIo({})
    const progress = createProgress({ io, globals: {} }, clock)
    const note = 'No: "freeze" \u202e'
    progress.decided(record({ status: 'denied', note, detail: `Denied: ${JSON.stringify(note)}` }))
    expect(io.err()).toBe('Denied by +1••••••0101 (apr_1), who wrote: "No: \\"freeze\\" \\u{202e}"\n')
  })
  test('says so when the approver is not named', () => {
    expect(progressOf({}, record({ approver_mobile: '' })).err()).toContain(
      'Denied by an unnamed approver (apr_1)',
    )
  })
  test('is one line on a terminal, redrawn within its width and cleared at the end', () => {
    const err = progressOf({ tty: true, columns: 60 }, record({ number: '42' })).err()
    const redrawn = err.split('\r\u001b[K').filter((text) => text.startsWith('1:00 left'))
    expect(redrawn.length).toBeGreaterThan(0)
    for (const line of redrawn) expect(line.length).toBeLessThan(60)
    expect(err.trimEnd().split('\r\u001b[K').at(-1)).toContain('\u001b[31mDenied\u001b[39m by')
  })
  test('leaves out the ID, not the approver, on a narrow terminal', () => {
    const long = record({ request_id: 'apr_PrAq_kgZup5IgDgkjw_A9iRb' })
    const narrow = progressOf({ tty: true, columns: 50 }, long).err()
    expect(narrow).toContain('\r\u001b[K1:00 left; waiting for +1••••••0101\r')
    const wide = progressOf({ tty: true, columns: 100 }, long).err()
    expect(wide).toContain('1:00 left; waiting for +1••••••0101 (apr_PrAq_kgZup5IgDgkjw_A9iRb)')
  })
  test.each([
    ['of one person', record({ number: '42' })],
    ['of several people', record({ number: '42', lines: ofTwo('pending', 'pending').lines! })],
  ])('shows the number and the time of a held request %s at 40 columns', (_, held) => {
    const io = memoryIo({ tty: true, columns: 40 })
    const progress = createProgress({ io, globals: {} }, clock)
    progress.waiting(held)
    progress.waiting(held)
    progress.end()
    const [number, ...status] = io.err().split('\n')
    expect(number).toBe('Number to type on the phone: 42')
    expect(status).toHaveLength(1)
    const drawn = status[0]!.split('\r\u001b[K').filter((text) => text !== '')
    expect(drawn).toHaveLength(2)
    for (const line of drawn) {
      expect(line).toMatch(/^1:00 left; /)
      expect(line.length).toBeLessThan(40)
    }
  })
  test('cuts the names at the width of the terminal, in cells', () => {
    const io = memoryIo({ tty: true, columns: 50 })
    const progress = createProgress({ io, globals: {} }, clock)
    const wide = said('王'.repeat(30), 'pending', 1)
    progress.waiting(record({ lines: [wide, said('Ada', 'pending', 2)] }))
    progress.end()
    const drawn = io.err().split('\r\u001b[K')
    expect(drawn.find((line) => line.startsWith('1:00 left'))).toBe(
      `1:00 left; 0 of 2 approved; waiting for ${'王'.repeat(4)}…`,
    )
  })
  test('names who is waited for and who denied, of several people', () => {
    const io = memoryIo({})
    const progress = createProgress({ io, globals: {} }, clock)
    progress.requested(ofTwo('pending', 'pending'))
    progress.waiting(ofTwo('pending', 'pending'))
    progress.waiting(ofTwo('approved', 'pending'))
    progress.waiting(ofTwo('approved', 'pending'))
    progress.decided({ ...ofTwo('approved', 'denied'), status: 'denied' })
    expect(io.err().split('\n')).toEqual([
      'Asked Ada and Grace\\u{001b}[2J (apr_1): Deploy 4.2',
      'Waiting, 1:00 left',
      '1 of 2 approved; waiting for Grace\\u{001b}[2J',
      'Denied by Grace\\u{001b}[2J (apr_1)',
      '',
    ])
  })
  test('masks the phone number on a terminal unless --reveal is set', () => {
    expect(progressOf({ tty: true }).err()).toContain('+1••••••0101')
    expect(progressOf({ tty: true }).err()).not.toContain('+12025550101')
    expect(progressOf({ tty: true, reveal: true }).err()).toContain('+12025550101')
  })
  test('escapes unsafe characters', () => {
    const io = progressOf(
      { tty: true },
      record({ action: 'Deploy \u202e4.2\u001b[2J\n', request_id: 'apr_\u0007' }),
    )
    expect(io.err()).toContain('Deploy \\u{202e}4.2\\u{001b}[2J\\u{000a}')
    for (const raw of ['\u202e', '\u0007', '\u001b[2J']) expect(io.err()).not.toContain(raw)
  })
})

test('shows a deadline in hours, minutes and seconds, never below zero, or as not known', () => {
  expect([86_399, 3600, 61, 0.2, -5, Infinity].map(timeLeft)).toEqual([
    '23:59:59 left',
    '1:00:00 left',
    '1:01 left',
    '0:01 left',
    '0:00 left',
    'deadline unknown',
  ])
})
