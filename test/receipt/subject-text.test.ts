import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { labelKey } from '../../src/page/language/message.ts'
import { english } from '../page/english.ts'
import { fieldsOf, summaryOf } from '../../src/receipt/subject-text.ts'
import { keyedDigest, readSubject, type Subject } from '../../src/receipt/subject.ts'
import { hash, command, update, bulk, file, tool, changedTool, text } from './subject-samples.ts'

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
    [file, 'File release.tgz, 1,234 bytes'],
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
