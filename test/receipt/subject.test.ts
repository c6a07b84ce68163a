import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { labelKey } from '../../src/page/language/message.ts'
import { english } from '../page/english.ts'
import { fieldsOf, summaryOf } from '../../src/receipt/subject-text.ts'
import {
  digestOf,
  keyedDigest,
  readSubject,
  SubjectError,
  textSubject,
  type Subject,
} from '../../src/receipt/subject.ts'

const hash = 'a'.repeat(64)
const command = {
  type: 'command',
  data: {
    argv: ['./deploy.sh', '--to', 'two words'],
    cwd: '/srv/app',
    executable: { path: '/srv/app/deploy.sh', sha256: hash },
    files: [{ path: '/srv/app/plan.json', sha256: 'b'.repeat(64) }],
    environment: { passed: ['HOME', 'PATH'], set: { STAGE: 'prod' } },
  },
} satisfies Subject
const update = {
  type: 'request',
  data: {
    organization: { id: '7', slug: 'acme' },
    operation: 'updateGeofence',
    body: { name: 'Headquarters', radius: 300 },
    before: { radius: 150 },
  },
} satisfies Subject
const bulk = {
  type: 'request',
  data: {
    organization: { id: '7', slug: 'acme' },
    operation: 'import users',
    body: {},
    counts: { create: 5, delete: 2 },
    deletions: ['Ada Lovelace', 'Bob\u202e Stone'],
    file: { name: 'users.csv', sha256: hash },
  },
} satisfies Subject
const file = { type: 'file', data: { name: 'release.tgz', size: 1234, sha256: hash } } satisfies Subject
const tool = {
  type: 'tool_call',
  data: { server: 'github', tool: 'delete_repository', arguments: { owner: 'acme', force: true } },
} satisfies Subject
const changedTool = {
  type: 'tool_call',
  data: {
    ...tool.data,
    parameters: { task: { ttl: 60 } },
    definition: {
      sha256: hash,
      changed: {
        before: 'b'.repeat(64),
        description: { before: 'Deletes a branch', now: 'Deletes\u202e all' },
      },
    },
  },
} satisfies Subject
const text = textSubject('Deploy 4.2 to production')

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

describe('the text for the approver', () => {
  test('shows that the definition of a tool has changed, and its other parameters', () => {
    expect(summaryOf(changedTool)).toBe('Call delete_repository on github, whose definition has changed')
    expect(fieldsOf(changedTool)).toEqual([
      { label: 'Server', value: 'github' },
      { label: 'Tool', value: 'delete_repository' },
      { label: 'Tool definition', value: `SHA-256 ${hash}`, before: `SHA-256 ${'b'.repeat(64)}` },
      { label: "Server's description", value: 'Deletes\\u{202e} all', before: 'Deletes a branch' },
      { label: 'owner', value: 'acme' },
      { label: 'force', value: 'true' },
      { label: 'Other parameters', value: '{"task":{"ttl":60}}' },
    ])
    const { changed: _, ...unchanged } = changedTool.data.definition
    const again = readSubject({ type: 'tool_call', data: { ...tool.data, definition: unchanged } })
    expect(summaryOf(again)).toBe('Call delete_repository on github')
    expect(fieldsOf(again)[2]).toEqual({ label: 'Tool definition', value: `SHA-256 ${hash}` })
  })

  test.each<[Subject, string]>([
    [text, 'Deploy 4.2 to production'],
    [command, "Run ./deploy.sh --to 'two words'"],
    [update, 'Update geofence in acme: Headquarters'],
    [bulk, 'Import users in acme (create 5, delete 2)'],
    [file, 'File release.tgz, 1234 bytes'],
    [tool, 'Call delete_repository on github'],
  ])('has a headline from the data: %o', (subject, summary) => {
    expect(summaryOf(subject)).toBe(summary)
  })

  test('names the program, the folder, and every file whose content is covered', () => {
    expect(fieldsOf(command)).toEqual([
      { label: 'Command', value: "./deploy.sh --to 'two words'" },
      { label: 'Working directory', value: '/srv/app' },
      { label: 'Program', value: `/srv/app/deploy.sh, SHA-256 ${hash}` },
      { label: 'File', value: `/srv/app/plan.json, SHA-256 ${'b'.repeat(64)}` },
      { label: 'Environment', value: 'STAGE=prod' },
      { label: 'Environment passed on', value: 'HOME, PATH' },
    ])
  })

  test('shows old and new values', () => {
    expect(fieldsOf(update)).toContainEqual({ label: 'radius', value: '300', before: '150' })
    expect(fieldsOf(update)).toContainEqual({ label: 'name', value: 'Headquarters' })
  })

  test('lists every deletion, and the file', () => {
    expect(fieldsOf(bulk).filter(({ label }) => label === 'Deletes')).toEqual([
      { label: 'Deletes', value: 'Ada Lovelace' },
      { label: 'Deletes', value: 'Bob\\u{202e} Stone' },
    ])
    expect(fieldsOf(bulk)).toContainEqual({ label: 'File', value: `users.csv, SHA-256 ${hash}` })
  })

  test('has labels that the approver page translates, each of them', () => {
    const ours = [command, update, bulk, file, changedTool]
      .flatMap((subject) => fieldsOf(subject).map(({ label }) => label))
      .filter((label) => /^[A-Z]/.test(label) && label !== 'SHA-256')
    const texts = Object.entries(english['subject']!)
    const labelled = new Map(ours.map((label) => [labelKey(label), label.replace("'", '’')]))
    expect(labelled).toEqual(new Map(texts.map(([key, inEnglish]) => [`subject.${key}`, inEnglish])))
    expect(['radius', '"Command"', 'command'].map(labelKey)).toEqual([undefined, undefined, undefined])
  })

  test('is all of each value; a long headline says how much it leaves out', () => {
    const long = `begin ${'x'.repeat(30_000)} end`
    const calling = {
      ...tool,
      data: { ...tool.data, arguments: { query: long, [long.slice(0, 700)]: [long.slice(0, 900)] } },
    }
    const [label, value] = [long.slice(0, 700), JSON.stringify([long.slice(0, 900)])]
    expect(fieldsOf(calling).slice(-2)).toEqual(
      expect.arrayContaining([
        { label: 'query', value: long },
        { label: JSON.stringify(label), value },
      ]),
    )
    const argv = ['echo', long]
    const summary = summaryOf({ ...command, data: { ...command.data, argv } })
    expect(summary.length).toBeLessThanOrEqual(300)
    const [, head, left, digest] =
      /^(.*) … \((\d+) more characters; SHA-256 of the whole: ([0-9a-f]{64})\)$/.exec(summary)!
    const whole = `Run ${argv[0]} '${long}'`
    expect(head!.length + Number(left)).toBe(whole.length)
    expect(digest).toBe(createHash('sha256').update(whole).digest('hex'))
  })

  test('shows that text is empty', () => {
    const empty = { ...tool, data: { ...tool.data, arguments: { query: '' } } }
    expect(fieldsOf(empty).at(-1)).toEqual({ label: 'query', value: '""' })
  })

  test('escapes invisible characters', () => {
    const hidden = { ...tool, data: { ...tool.data, tool: 'a\u202eb', arguments: { 'x\u200b': 'l1\nl2' } } }
    expect(summaryOf(hidden)).toBe('Call a\\u{202e}b on github')
    expect(fieldsOf(hidden).at(-1)).toEqual({ label: '"x\\u{200b}"', value: 'l1\\u{000a}l2' })
  })

  test('does not confuse names in the data with its own labels', () => {
    const posing = { ...tool, data: { ...tool.data, arguments: { Server: 'safe', SHA: 1 } } }
    expect(fieldsOf(posing).map(({ label }) => label)).toEqual(['Server', 'Tool', '"Server"', '"SHA"'])
  })

  test('shows secrets as keyed digests, which differ by key', () => {
    const [one, other] = [new Uint8Array(32), new Uint8Array(32).fill(1)]
    expect(keyedDigest('hunter2', one)).toMatch(/^hmac-sha256:[0-9a-f]{64}$/)
    expect(keyedDigest('hunter2', one)).not.toBe(keyedDigest('hunter2', other))
  })
})
