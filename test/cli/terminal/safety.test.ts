import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { SvcError } from '../../../src/core/errors.ts'
import { showError } from '../../../src/cli/terminal/error.ts'
import { formats } from '../../../src/cli/terminal/output.ts'
import { memoryIo } from '../memory-io.ts'
import { shown } from './show.ts'

// Characters that move the cursor, change the direction of text, hide it or break a line, each inside a word.
const hostile = [
  ...'\u0000\u0007\b\r\u001b\u007f\u0085\u009b\u200b\u200d\u200e\u2028\u2029\u202e\u2066\ufeff\ufff9',
  '\u{e0041}',
  '\u001b[2J',
  '\u001b]0;owned\u0007',
  '\ud800',
]
const unsafe = /[^\P{Cc}\n\t]|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u
const data = hostile.map((char, i) => ({
  id: `${i}a${char}b`,
  [`f${char}g`]: 'x',
  name: `a${char}b`,
  deep: { [char]: [char] },
  tags: [char],
}))

describe('a terminal receives no unsafe character', () => {
  for (const output of formats)
    test(`in ${output}`, async () => {
      const whole = await shown(data, { output })
      expect(whole.tty).not.toMatch(unsafe)
      expect(whole.tty).toContain('0a')
      expect((await shown(data[4], { output })).tty).not.toMatch(unsafe)
    })
  test('in the result of --jq', async () => {
    expect((await shown(data, { jq: '.[].name, .[]' })).tty).not.toMatch(unsafe)
  })
  test('in a message, a note or a warning', async () => {
    const { tty } = await shown(undefined, {}, { extra: { message: 'a\u001b[2Jb\u202e' } })
    expect(tty).toBe('a\\u{001b}[2Jb\\u{202e}\n')
  })
  test('in an error, for people and for machines', () => {
    for (const output of [undefined, 'json', 'yaml']) {
      const io = memoryIo({ tty: true })
      const evil = `a${hostile.join('')}b`
      showError(
        new SvcError('refused', 'x', evil, {
          detail: evil,
          hint: evil,
          request_id: evil,
          issues: [{ field: evil, message: evil }],
        }),
        { io, globals: { output, debug: true, color: false } },
      )
      expect(io.err()).not.toMatch(unsafe)
    }
  })
})

// Newline, tab and joiners of letters and emoji are allowed in a pipe.
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe('a pipe receives no character that moves the cursor or changes the direction of text', () => {
  test.each(formats)('in %s', async (output) => {
    expect((await shown(data, { output })).piped).not.toMatch(unseen)
    expect((await shown(data[4], { output })).piped).not.toMatch(unseen)
  })

  test('in the result of --jq', async () => {
    expect((await shown(data, { jq: '.[].name, .[]' })).piped).not.toMatch(unseen)
  })

  test('but joined emoji and letters stay', async () => {
    const name = '👩‍👩‍👧 ❤️ نمی‌خواهم'
    for (const globals of [{ output: 'tsv' }, { output: 'csv' }, { output: 'yaml' }, { jq: '.name' }])
      expect((await shown({ name }, globals)).piped).toContain(name)
  })

  test('and YAML loses nothing', async () => {
    expect(parse((await shown(data, { output: 'yaml' })).piped)).toEqual(data)
  })
})

test('and CSV contains no formula, not even in its header', async () => {
  const { piped } = await shown([{ id: 1, name: '=cmd()', '@x': '+1+1', mobile: '+12025550101' }], {
    output: 'csv',
  })
  expect(piped).toBe("id,name,'@x,mobile\n1,'=cmd(),'+1+1,+12025550101\n")
})

test('and a cell cannot start a line or a cell in a table or TSV', async () => {
  const rows = [{ id: 1, name: 'a\n2\tforged\r3' }]
  const { tty, piped } = await shown(rows)
  expect(tty.split('\n')).toHaveLength(3)
  expect(piped).toBe('1\ta\\n2\\tforged\\r3\n')
})

test('and JSON loses nothing', async () => {
  expect(JSON.parse((await shown(data, { output: 'json' })).tty)).toEqual(data)
})
