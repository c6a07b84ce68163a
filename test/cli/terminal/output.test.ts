import { expect, test } from 'vitest'
import type { Globals, Pager } from '../../../src/cli/terminal/io.ts'
import { createOutput } from '../../../src/cli/terminal/create-output.ts'
import { memoryIo } from '../memory-io.ts'

type Given = {
  rows?: number
  lines?: number
  tty?: boolean
  env?: Record<string, string>
  globals?: Globals
  paged?: boolean
  /** Whether this program exists. */
  found?: boolean
}

/** What was written to the terminal itself, and what was passed to which pager. */
const shown = async (given: Given) => {
  const { rows = 24, lines = 100, tty = true, env = {}, globals = {}, paged = true, found = true } = given
  const io = memoryIo({ tty, env: { NO_COLOR: '1', ...env } })
  const pages: { text: string; pager: Pager }[] = []
  const page = async (text: string, pager: Pager): Promise<boolean> => {
    pages.push({ text, pager })
    return found
  }
  const data = Array.from({ length: lines }, (_, i) => ({ id: i }))
  await createOutput({ io: { ...io, stdout: { ...io.stdout, rows }, page }, globals }).show(
    { status: 'success', message: 'OK', data },
    { paged },
  )
  return { out: io.out(), pages }
}

test('output longer than the terminal goes to the pager once, completely', async () => {
  const { out, pages } = await shown({})
  expect(out).toBe('')
  expect(pages).toHaveLength(1)
  expect(pages[0]!.text.split('\n')).toHaveLength(102)
  expect(pages[0]!.pager).toEqual({ command: undefined, env: { LESS: 'FRX', LESSHISTFILE: '-' } })
})

test('output of the full height is paged, because the shell prompt needs the last line', async () => {
  expect((await shown({ lines: 22 })).pages).toEqual([])
  expect((await shown({ lines: 23 })).pages).toHaveLength(1)
})

test.each([
  [{ PAGER: 'more' }, 'more'],
  [{ PAGER: 'more', SVC_PAGER: 'less -S' }, 'less -S'],
  [{ PAGER: 'cat', SVC_PAGER: 'less -S' }, 'less -S'],
])('%j is used', async (env, command) => {
  const { pages } = await shown({ env })
  expect(pages[0]!.pager.command).toBe(command)
})

test('an existing LESS variable is kept', async () => {
  expect((await shown({ env: { LESS: '-i' } })).pages[0]!.pager.env['LESS']).toBe('-i')
})

test.each<[string, Given]>([
  ['in a pipe', { tty: false }],
  ['with --no-input', { globals: { input: false } }],
  ['in CI', { env: { CI: 'true' } }],
  ['on a dumb terminal', { env: { TERM: 'dumb' } }],
  ['with PAGER=cat', { env: { PAGER: 'cat' } }],
  ['with an empty PAGER', { env: { PAGER: '' } }],
  ['with an empty SVC_PAGER before PAGER', { env: { SVC_PAGER: '', PAGER: 'more' } }],
  ['when the command disables paging', { paged: false }],
])('output is not paged %s', async (_, given) => {
  const { out, pages } = await shown(given)
  expect(pages).toEqual([])
  expect(out).toContain('99')
})

test('output is printed if the pager does not exist', async () => {
  const { out } = await shown({ found: false, env: { PAGER: 'nope' } })
  expect(out).toContain('99')
})
