import { PassThrough } from 'node:stream'
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
