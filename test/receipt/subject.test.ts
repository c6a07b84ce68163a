import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { digestOf, readSubject, SubjectError, type Subject } from '../../src/receipt/subject.ts'
import { hash, command, update, bulk, file, tool, changedTool, text } from './subject-samples.ts'

const problem = (subject: unknown): SubjectError => {
  try {
    readSubject(subject as Subject)
  } catch (error) {
    return error as SubjectError
  }
  throw new Error('it was accepted')
}

const call = (given: Record<string, unknown>) => ({
  type: 'tool_call',
  data: { server: 's', tool: 't', arguments: given },
})
const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

describe('a subject', () => {
  test.each<Subject>([text, command, update, bulk, file, tool, changedTool])(
    'is read as it was: $type',
    (subject) => {
      expect(readSubject({ ...subject, digest: digestOf(subject.data) })).toEqual(subject)
    },
  )

  test('has the SHA-256 of its canonical JSON as digest, whatever the order of its members', () => {
    const { type, data } = file
    const turned = Object.fromEntries(Object.entries(data).toReversed())
    const canonical = `{"name":"release.tgz","sha256":"${hash}","size":1234}`
    expect(digestOf(turned)).toBe(createHash('sha256').update(canonical).digest('hex'))
    expect(readSubject({ type, data: turned, digest: digestOf(data) })).toEqual(file)
  })

  test('is rejected when data and digest differ', () => {
    const { path, message } = problem({ ...file, digest: digestOf(tool.data) })
    expect(path).toBe('digest')
    expect(message).toContain(digestOf(file.data))
  })

  test.each<[string, string, unknown]>([
    ['an unknown type', 'type', { type: 'sql', data: {} }],
    ['no data', 'data', { type: 'text' }],
    ['a list', 'data', { type: 'text', data: [] }],
    ['an unknown member', 'data.note', { type: 'text', data: { text: 'x', note: 'y' } }],
    ['a missing member', 'data.tool', { type: 'tool_call', data: { server: 'x', arguments: {} } }],
    ['no argument', 'data.argv', { type: 'command', data: { ...command.data, argv: [] } }],
    ['an invalid digest', 'data.sha256', { type: 'file', data: { ...file.data, sha256: 'AB' } }],
    ['a negative size', 'data.size', { type: 'file', data: { ...file.data, size: -1 } }],
    ['blank text', 'data.text', { type: 'text', data: { text: ' ' } }],
    ['text with a bidirectional override', 'data.text', { type: 'text', data: { text: 'a\u202eb' } }],
    ['text of 501 characters', 'data.text', { type: 'text', data: { text: 'x'.repeat(501) } }],
    ['NUL', 'data', { type: 'file', data: { ...file.data, name: 'a\0b' } }],
    ['half a surrogate pair', 'data', { type: 'file', data: { ...file.data, name: '\ud83d' } }],
    [
      'an infinite number',
      'data',
      { type: 'tool_call', data: { ...tool.data, arguments: { a: Number.POSITIVE_INFINITY } } },
    ],
    [
      'an old value of an unchanged field',
      'data.before',
      { type: 'request', data: { ...update.data, before: { other: 1 } } },
    ],
    ['__proto__', 'data', JSON.parse('{"type":"text","data":{"text":"x","__proto__":{}}}')],
  ])('is rejected with %s', (_, path, subject) => {
    expect(problem(subject).path).toBe(path)
  })

  test('is rejected when it is too large, too deep or has too many values', () => {
    expect(problem(call({ a: 'x'.repeat(100_000) }))).toMatchObject({
      isTooLarge: true,
      message: expect.stringContaining('at most 32768 bytes'),
    })
    expect(problem(call({ a: 'é'.repeat(16_400) })).isTooLarge).toBe(true)
    expect(problem(call({ a: deep(15) })).message).toContain('16 levels')
    expect(problem(call({ a: deep(5_000) })).message).toContain('16 levels')
    expect(problem(call({ a: Array.from({ length: 2_000 }, () => 1) })).message).toContain('2000 values')
    expect(readSubject(call({ a: deep(14) }))).toMatchObject({ type: 'tool_call' })
    expect(readSubject(call({ a: Array.from({ length: 1_900 }, () => 1) }))).toMatchObject({
      type: 'tool_call',
    })
  })
})
