import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createPrompt, type Prompt } from '../../../src/cli/terminal/prompt.ts'
import { memoryIo } from '../memory-io.ts'

/** Prompts, and types once the prompt appears. With `typed` undefined, ends the input instead. */
const asking = async <T>(
  ask: (prompt: Prompt) => Promise<T>,
  typed: string | undefined,
  signal = new AbortController().signal,
): Promise<{ answer: T; shown: string }> => {
  const input = new PassThrough()
  const output = new PassThrough()
  let shown = ''
  output.on('data', (chunk: Buffer) => {
    if (shown === '') setImmediate(() => (typed === undefined ? input.end() : input.write(typed)))
    shown += chunk.toString()
  })
  const io = memoryIo({ tty: true, signal })
  const answer = await ask(createPrompt(io, { input, output }))
  return { answer, shown }
}

describe('a prompt', () => {
  test('accepts text', async () => {
    const { answer, shown } = await asking((prompt) => prompt.text('Name', { example: 'Acme' }), 'Umbrella\r')
    expect(answer).toBe('Umbrella')
    expect(shown).toContain('Name (such as Acme)')
  })
  test('breaks a long question and a long choice between words', async () => {
    const long =
      'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'
    const { shown } = await asking((prompt) => prompt.select(long, [`${long}, first`, 'second']), '\r')
    const lines = stripVTControlCharacters(shown).split('\n')
    expect(lines.slice(0, 4).map((line) => line.trim())).toEqual([
      '? one two three four five six seven eight nine ten eleven twelve thirteen',
      'fourteen fifteen sixteen',
      '❯ one two three four five six seven eight nine ten eleven twelve thirteen',
      'fourteen fifteen sixteen, first',
    ])
  })
  test('does not echo a secret', async () => {
    const { answer, shown } = await asking((prompt) => prompt.secret('API key'), 's3cret\r')
    expect(answer).toBe('s3cret')
    expect(shown).not.toContain('s3cret')
  })
  test('treats an empty confirmation as no', async () => {
    expect((await asking((prompt) => prompt.confirm('Delete?'), '\r')).answer).toBe(false)
    expect((await asking((prompt) => prompt.confirm('Delete?'), 'y\r')).answer).toBe(true)
  })
  test('offers a choice', async () => {
    expect((await asking((prompt) => prompt.select('Which', ['a', 'b']), '\r')).answer).toBe('a')
  })
  test('removes a stale choice, and the command continues', async () => {
    const stale = new AbortController()
    const choices = [{ value: 'a', name: 'A \u202e' }]
    const shown = await asking((prompt) => prompt.selectUntil('Which', choices, stale.signal), '\r')
    expect(shown).toMatchObject({ answer: 'a', shown: expect.stringContaining('A \\u{202e}') })
    setImmediate(() => stale.abort())
    expect(
      (await asking((prompt) => prompt.selectUntil('Which', choices, stale.signal), '')).answer,
    ).toBeUndefined()
  })
  for (const [kind, ask, pasted, typed, expected] of [
    ['text', (prompt: Prompt) => prompt.text('Action'), ['Deploy\rto production\r'], 'Deploy\r', 'Deploy'],
    ['text', (prompt: Prompt) => prompt.text('Action'), ['Deploy\r\nto production'], 'Deploy\r', 'Deploy'],
    [
      'text',
      (prompt: Prompt) => prompt.text('Action'),
      ['Deploy\r', 'to production\r'],
      'Deploy\r',
      'Deploy',
    ],
    [
      'text',
      (prompt: Prompt) => prompt.text('Action'),
      ['Dep', 'loy', '\r', 'to', ' production\r'],
      'x\r',
      'x',
    ],
    ['a secret', (prompt: Prompt) => prompt.secret('Key'), ['hush\rhush\r'], 'k\r', 'k'],
    ['a confirmation', (prompt: Prompt) => prompt.confirm('Delete?'), ['\ny\n'], '\r', false],
    ['a confirmation', (prompt: Prompt) => prompt.confirm('Delete?'), ['y\n\n'], '\r', false],
    ['a choice', (prompt: Prompt) => prompt.select('Which', ['a', 'b']), ['\u001b[B\r\r'], '\r', 'a'],
  ] as const)
    test(`takes no line of several that are pasted: ${kind}, ${JSON.stringify(pasted)}`, async () => {
      const input = new PassThrough()
      // A prompt does not close standard error.
      const output: PassThrough = Object.assign(new PassThrough(), { end: () => output })
      let shown = ''
      const said = new Promise<void>((resolve) =>
        output.on('data', (chunk: Buffer) => {
          if (shown === '') setImmediate(() => pasted.forEach((part) => input.write(part)))
          shown += chunk.toString()
          if (/more than one line[^]*Enter one line[^]*\?/.test(shown)) resolve()
        }),
      )
      const answer: Promise<unknown> = ask(createPrompt(memoryIo({ tty: true }), { input, output }))
      await said
      setImmediate(() => input.write(typed))
      expect(await answer).toBe(expected)
      expect(shown.includes('hush')).toBe(false)
    })
  test('escapes unsafe characters', async () => {
    const { shown } = await asking((prompt) => prompt.text('Delete \u202eacme\u0007?'), 'x\r')
    expect(shown).toContain('Delete \\u{202e}acme\\u{0007}?')
  })
  for (const [what, typed] of [
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
    ['Esc', '\u001b'],
    ['the end of the input', undefined],
  ] as const)
    test(`is interrupted by ${what}`, async () => {
      await expect(asking((prompt) => prompt.text('Name'), typed)).rejects.toMatchObject({
        exit: 'interrupted',
      })
    })
  test('is interrupted by a signal', async () => {
    const abort = new AbortController()
    setImmediate(() => abort.abort())
    await expect(asking((prompt) => prompt.text('Name'), '', abort.signal)).rejects.toMatchObject({
      exit: 'interrupted',
    })
  })
})
